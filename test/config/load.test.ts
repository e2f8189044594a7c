import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// The configuration is loaded by Node itself, as a user's is: the test runner would bring its own loader.
const run = promisify(execFile)
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'rollcall-load-'))
afterAll(() => rmSync(folder, { recursive: true }))

const GOOD = `
import { defineConfig } from 'rollcall'
const email: string = 'correo'
export default defineConfig({
  customers: { table: 'clientes', key: 'id' },
  mapping: { user_id: 'id', status: 'estado', email },
})
`
const PLAIN = GOOD.replace(': string', '')

const files: Record<string, string> = {
  'found/package.json': '{ "type": "commonjs" }',
  'found/rollcall.config.ts': GOOD,
  'found/rollcall.config.js': 'throw new Error("the .ts file goes first")',
  'js/package.json': '{ "type": "commonjs" }',
  'js/rollcall.config.js': PLAIN,
  'mjs/rollcall.config.mjs': PLAIN,
  'none/other.ts': GOOD,
  'bad/syntax.ts': 'export default {\n  a: 1\n  b: 2\n}',
  'bad/syntax.js': 'export default {\n  a: 1\n  b: 2\n}',
  'bad/enum.ts': 'enum Plan { free }\nexport default {}',
  'bad/throws.ts': '\nthrow new Error("boom\\nsecond line")',
  'bad/throws-nothing.js': 'throw undefined',
  'bad/missing-package.ts': "import 'no-such-package'\nexport default {}",
  'bad/missing-name.ts': "import { nothing } from 'rollcall'\nexport default nothing",
  'bad/no-default.ts': 'export const config = {}',
  'bad/mistakes.ts': 'export default { customers: { table: "a.b.c", key: "id" }, mapping: {} }',
}

type Outcome = { file?: string; email?: unknown; code?: string; details?: string[] }
type Asked = { cwd: string; path?: string }

const asked: Asked[] = [
  { cwd: 'found' },
  { cwd: 'js' },
  { cwd: 'mjs' },
  { cwd: 'none', path: 'other.ts' },
  { cwd: 'none', path: join(folder, 'found/rollcall.config.ts') },
  { cwd: 'none' },
  { cwd: 'none', path: 'missing.ts' },
  { cwd: 'none', path: '.' },
  ...Object.keys(files)
    .filter((name) => name.startsWith('bad/'))
    .map((path) => ({ cwd: '.', path })),
  { cwd: here('../..'), path: 'examples/one-table.config.ts' },
  { cwd: here('../..'), path: 'examples/vista-clientes.config.ts' },
]
const outcomes = new Map<string, Outcome>()
let stderr = ''

beforeAll(async () => {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
  const said = await run(process.execPath, [here('./support/load-configs.ts'), folder, JSON.stringify(asked)])
  stderr = said.stderr
  const list = JSON.parse(said.stdout) as Outcome[]
  for (const [index, outcome] of list.entries()) outcomes.set(nameOf(asked[index]), outcome)
})

function nameOf(asking: Asked | undefined): string {
  return `${asking?.cwd} ${asking?.path ?? ''}`.trim()
}

function outcome(cwd: string, path?: string): Outcome | undefined {
  return outcomes.get(nameOf(path === undefined ? { cwd } : { cwd, path }))
}

describe('loadConfig', () => {
  it('prefers TypeScript, and takes it for a module whatever package.json says', () => {
    expect(outcome('found')).toEqual({ file: join(folder, 'found/rollcall.config.ts'), email: ['correo'] })
  })

  it.each([
    ['js', 'js/rollcall.config.js'],
    ['mjs', 'mjs/rollcall.config.mjs'],
  ])('finds rollcall.config.%s', (cwd, file) => {
    expect(outcome(cwd)).toEqual({ file: join(folder, file), email: ['correo'] })
  })

  it('takes the file that is named, from the working directory or anywhere', () => {
    expect(outcome('none', 'other.ts')?.file).toBe(join(folder, 'none/other.ts'))
    expect(outcome('none', join(folder, 'found/rollcall.config.ts'))?.email).toEqual(['correo'])
  })

  it('says where it looked', () => {
    const names = 'rollcall.config.ts, rollcall.config.js, rollcall.config.mjs'
    expect(outcome('none')).toEqual({
      code: 'CONFIG_NOT_FOUND',
      details: [`looked for ${names} in ${join(folder, 'none')}`],
    })
  })

  it.each([
    ['missing.ts', 'none/missing.ts'],
    ['.', 'none'],
  ])('says that there is no file: %s', (path, full) => {
    expect(outcome('none', path)).toEqual({
      code: 'CONFIG_NOT_FOUND',
      details: [`there is no file ${join(folder, full)}`],
    })
  })

  it.each([
    ['bad/syntax.ts', /^bad\/syntax\.ts:3: .+/],
    ['bad/syntax.js', /^bad\/syntax\.js: loading the file failed: Unexpected identifier 'b'$/],
    ['bad/enum.ts', /^bad\/enum\.ts:1: .*enum.*$/],
    ['bad/throws.ts', /^bad\/throws\.ts:2: loading the file failed: boom$/],
    ['bad/throws-nothing.js', /^bad\/throws-nothing\.js: loading the file failed: undefined$/],
    [
      'bad/missing-package.ts',
      /^bad\/missing-package\.ts: loading the file failed: Cannot find package 'no-such-package'/,
    ],
    ['bad/missing-name.ts', /^bad\/missing-name\.ts:1: .*'nothing'$/],
    ['bad/no-default.ts', /^bad\/no-default\.ts: .*`export default /],
  ])('tells what is wrong with %s in one line', (path, line) => {
    expect(outcome('.', path)).toEqual({ code: 'CONFIG_INVALID', details: [expect.stringMatching(line)] })
    expect(outcome('.', path)?.details?.[0]).not.toMatch(/\n|\s+at /)
  })

  it('tells every mistake with the name of the file', () => {
    expect(outcome('.', 'bad/mistakes.ts')?.details).toEqual([
      expect.stringContaining('bad/mistakes.ts: customers.table: '),
      expect.stringContaining('bad/mistakes.ts: mapping.user_id: '),
      expect.stringContaining('bad/mistakes.ts: mapping.status: '),
    ])
  })

  it.each(['one-table', 'vista-clientes'])('takes the example %s', (name) => {
    expect(outcome(here('../..'), `examples/${name}.config.ts`)?.code).toBeUndefined()
  })

  it('says nothing on its own', () => expect(stderr).toBe(''))
})
