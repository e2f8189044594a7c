// Breaks the code on purpose, one small break at a time (list.ts), in a copy of the checkout. Runs the small run
// there, with --full also the other one. Prints which test has found each break, and exits with 3 where none has.
//
//   node test/mutants/main.ts [--full] [NAME …]
import { execFileSync, spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { MUTANTS, type Mutant } from './list.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const { values, positionals } = parseArgs({
  options: { full: { type: 'boolean', default: false } },
  allowPositionals: true,
})

type Run = { readonly size: 'small' | 'full'; readonly args: readonly string[] }

/** The cheapest first: the units that import the broken file, then the tests of its folder, then all. */
function runsFor(file: string): readonly Run[] {
  const small: readonly Run[] = [
    { size: 'small', args: ['related', '--run', file, '--project', 'unit'] },
    { size: 'small', args: ['run', `${dirname(file).replace(/^src/, 'test')}/`] },
    { size: 'small', args: ['run'] },
  ]
  return values.full ? [...small, { size: 'full', args: ['run'] }] : small
}

/** The first test that fails in a run; null where all pass. */
async function failing(folder: string, { size, args }: Run): Promise<string | null> {
  const output = await vitest(folder, ['--bail', '1', '--passWithNoTests', ...args], size)
  const found = /^ *(?:FAIL|×) .*$/m.exec(output)
  if (found) return found[0].trim()
  if (/^\d+ passed, 0 failed, \d+ skipped$/m.test(output)) return null
  return output.trimEnd().split('\n').slice(-3).join(' / ')
}

function vitest(folder: string, args: readonly string[], size: string): Promise<string> {
  const bin = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const env = { ...process.env, NO_COLOR: '1', TEST_SIZE: size }
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(text))
  })
}

/** A failure here says that the list no longer fits, not that a test found the break. */
const OURS = 'test/mutants/'

/** Everything else that git knows or would take up, what was built of it, and the packages. */
async function copyCheckout(folder: string): Promise<void> {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const files = listed.split('\0').filter((file) => file !== '' && !file.startsWith(OURS))
  for (const file of files) await cp(join(ROOT, file), join(folder, file))
  await cp(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

/** The text of the file with the break in it. */
async function broken({ name, file, find, replace }: Mutant): Promise<string> {
  const text = await readFile(join(ROOT, file), 'utf8')
  if (text.split(find).length !== 2) throw new Error(`${name}: not once in ${file}`)
  return text.replace(find, () => replace)
}

async function tryOut(folder: string, mutant: Mutant): Promise<string | null> {
  const file = join(folder, mutant.file)
  await writeFile(file, await broken(mutant))
  try {
    for (const run of runsFor(mutant.file)) {
      const found = await failing(folder, run)
      if (found !== null) return `${run.size}  ${found}`
    }
    return null
  } finally {
    await cp(join(ROOT, mutant.file), file)
  }
}

const chosen = MUTANTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
for (const mutant of chosen) await broken(mutant)
const folder = await mkdtemp(join(tmpdir(), 'rollcall-mutants-'))
try {
  await copyCheckout(folder)
  const before = positionals.length === 0 ? await failing(folder, { size: 'small', args: ['run'] }) : null
  if (before !== null) throw new Error(`fails without any break: ${before}`)
  let survivors = 0
  for (const mutant of chosen) {
    const found = await tryOut(folder, mutant)
    if (found === null) survivors += 1
    process.stdout.write(`${found === null ? 'SURVIVES' : 'found'}  ${mutant.name}  ${found ?? ''}\n`)
  }
  process.stdout.write(`${chosen.length - survivors} of ${chosen.length} found\n`)
  process.exitCode = survivors > 0 ? 3 : 0
} finally {
  await rm(folder, { recursive: true, force: true })
}
