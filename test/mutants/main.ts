// Whether the tests notice: breaks the code on purpose, one small break at a time (list.ts), in a copy of the checkout,
// and runs `npm test` there. Prints for each break the test that has found it; exits with 3 where none has.
//
//   node test/mutants/main.ts [--full] [NAME …]
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { MUTANTS, type Mutant } from './list.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = ['src', 'test', 'drizzle', 'docs', 'examples', 'scripts', 'bench', '.ci', 'dist'] as const
const FILES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'vitest.config.ts',
  'biome.json',
  'README.md',
  'CHANGELOG.md',
] as const

const { values, positionals } = parseArgs({
  options: { full: { type: 'boolean', default: false } },
  allowPositionals: true,
})

/** The first test that fails in one of these runs; null where all pass. */
async function failing(folder: string, runs: readonly (readonly string[])[]): Promise<string | null> {
  for (const args of runs) {
    const output = await vitest(folder, [...args, '--bail', '1'])
    const found = /^.*(?: FAIL |×).*$/m.exec(output)
    if (found) return found[0].trim()
    if (!/^\d+ passed, 0 failed, \d+ skipped$/m.test(output)) return output.trimEnd().split('\n').at(-1) ?? ''
  }
  return null
}

function vitest(folder: string, args: readonly string[]): Promise<string> {
  const bin = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const env = { ...process.env, NO_COLOR: '1', ...(values.full ? { TEST_SIZE: 'full' } : {}) }
  const child = spawn(process.execPath, [bin, ...args], { cwd: folder, env })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(text))
  })
}

async function tried(mutant: Mutant | null): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-mutant-'))
  try {
    for (const name of [...COPIED, ...FILES])
      await cp(join(ROOT, name), join(folder, name), { recursive: true })
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    if (!mutant) return await failing(folder, [['run']])
    const file = join(folder, mutant.file)
    const text = await readFile(file, 'utf8')
    if (text.split(mutant.find).length !== 2) throw new Error(`${mutant.name}: not once in ${mutant.file}`)
    await writeFile(
      file,
      text.replace(mutant.find, () => mutant.replace),
    )
    // First those that import the broken file, which is where most breaks are found; then all the others.
    return await failing(folder, [['related', '--run', mutant.file], ['run']])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const chosen = MUTANTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const before = positionals.length === 0 ? await tried(null) : null
if (before !== null) throw new Error(`fails without any break: ${before}`)
let survivors = 0
for (const mutant of chosen) {
  const found = await tried(mutant)
  if (found === null) survivors += 1
  process.stdout.write(`${found === null ? 'SURVIVES' : 'found'}  ${mutant.name}  ${found ?? ''}\n`)
}
process.stdout.write(`${chosen.length - survivors} of ${chosen.length} found\n`)
process.exitCode = survivors > 0 ? 3 : 0
