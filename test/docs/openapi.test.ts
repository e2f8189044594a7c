// docs/openapi.json is the document that src/sandbox/openapi.ts makes from the routes and their zod schemas. After a change there:
// npx vitest run test/docs --update
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { makeOpenApi } from '../../src/sandbox/openapi.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('the kept document is the one that the schemas make', async () => {
  await expect(await asKept(makeOpenApi())).toMatchFileSnapshot('../../docs/openapi.json')
})

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
