// The configuration is the only code of the working directory that is loaded, and its environment is not read from there.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { words } from '../../src/model/values.ts'

const BIN = fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'rollcall-only-code-'))
const traces = join(folder, 'traces')
afterAll(() => rmSync(folder, { recursive: true }))

const trace = (name: string) =>
  `import('node:fs').then((fs) => fs.writeFileSync(${JSON.stringify(join(traces, name))}, ''))`
const CONFIG = `
import { writeFileSync } from 'node:fs'
import { defineConfig } from 'rollcall'
writeFileSync(${JSON.stringify(join(traces, 'configuration'))}, '')
export default defineConfig({ customers: { table: 'clientes', key: 'id' }, mapping: { user_id: 'id', status: 'estado' } })
`

/** Files from which other tools load code, and packages named like our own. */
const CODE = [
  ...words(`rollcall.js rollcall.plugin.js rollcall.config.local.js rollcall.config.mjs index.js instrumentation.js
    drizzle.config.ts vitest.config.ts .rollcallrc.js .pinorc.js plugins/index.js`),
  ...words('rollcall pino pg commander zod dotenv bullmq ioredis pg-native rollcall-plugin').map(
    (name) => `node_modules/${name}/index.js`,
  ),
]

beforeAll(() => {
  mkdirSync(traces)
  const files: Record<string, string> = {
    'rollcall.config.js': CONFIG,
    'package.json': `{ "type": "commonjs", "imports": { "#*": "./index.js" }, "rollcall": { "plugins": ["./rollcall.plugin.js"] } }`,
    '.env': 'DATABASE_URL=postgres://from-the-file@127.0.0.1:1/db\nNODE_OPTIONS=--import ./index.js\n',
    '.npmrc': 'node-options=--import ./index.js\n',
    ...Object.fromEntries(CODE.map((name) => [name, trace(name.replaceAll('/', '_'))])),
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
})

function rollcall(args: readonly string[], more = {}): Promise<string> {
  const { PATH = '' } = process.env
  const env = { PATH, ...more }
  return new Promise((resolve) => {
    execFile(process.execPath, [BIN, ...args], { cwd: folder, env }, (_error, out, err) => resolve(out + err))
  })
}

test('nothing of the working directory is loaded but the configuration, and no .env is read', async () => {
  expect(await rollcall(['--help'])).toContain('worker')
  expect(readdirSync(traces)).toEqual([])
  for (const args of [
    ['status'],
    ['worker'],
    ['sync', '1', '--dry-run'],
    ['capture', 'install', '--print'],
  ]) {
    const said = await rollcall(args)
    expect(said, args.join(' ')).toContain('DATABASE_URL: missing')
  }
  await rollcall(['status'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/db' })
  expect(existsSync(join(traces, 'configuration'))).toBe(true)
  expect(readdirSync(traces)).toEqual(['configuration'])
})
