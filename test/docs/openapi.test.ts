// docs/openapi.json is the document that src/sandbox/openapi.ts makes from the routes and their zod schemas. After a change there:
// npx vitest run test/docs --update
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { makeOpenApi } from '../../src/sandbox/openapi.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('the kept document is the one that the schemas make', async () => {
  await expect(await asKept(makeOpenApi())).toMatchFileSnapshot('../../docs/openapi.json')
})

test.each<[string, string | undefined]>([
  ['as kept', undefined],
  ['as the sandbox serves it', 'http://127.0.0.1:4010'],
])('an independent linter has nothing against it: %s', async (_name, serverUrl) => {
  expect(await problemsOf(makeOpenApi(serverUrl))).toEqual([])
})

// Else a linter that stopped reading its rules would go unnoticed.
test('the linter does find what is wrong', async () => {
  const document = makeOpenApi()
  const paths = { '/a': { get: { summary: 'A', security: [{ Nobody: [] }], responses: {} } } }
  expect(await problemsOf({ ...document, paths })).toEqual(
    expect.arrayContaining(['error security-defined', 'warn operation-operationId']),
  )
})

/** Errors and warnings by redocly's `recommended` rules, every one of them, without ignored places. */
async function problemsOf(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const source = JSON.stringify(document)
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(({ severity, ruleId }) => `${severity} ${ruleId}`)
}

/** Formatted as every JSON file here is. */
async function asKept(document: object): Promise<string> {
  const biome = spawn('node_modules/.bin/biome', ['format', '--stdin-file-path=docs/openapi.json'], {
    cwd: ROOT,
  })
  biome.stdin.end(JSON.stringify(document, null, 2))
  const [out, errors] = await Promise.all([text(biome.stdout), text(biome.stderr)])
  expect(errors).toBe('')
  return out
}
