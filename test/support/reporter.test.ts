import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs')

/** Runs vitest on one file with our reporter, and resolves to the last line that it prints. */
async function lastLine(source: string, settings = ''): Promise<string | undefined> {
  const folder = await mkdtemp(join(ROOT, 'node_modules', '.reporter-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'a.test.ts'), `import { expect, test, describe } from 'vitest'\n${source}`)
  await writeFile(
    join(folder, 'vitest.config.ts'),
    `import { LastLine } from '${ROOT}/test/support/reporter.ts'
     export default { test: { reporters: ['default', new LastLine()], root: '${folder}', ${settings} } }`,
  )
  return new Promise((resolve) => {
    execFile(process.execPath, [VITEST, 'run', '--root', folder], { cwd: folder }, (_error, stdout) => {
      resolve(stdout.trimEnd().split('\n').at(-1))
    })
  })
}

const LATE = `test('a', () => { setTimeout(() => { throw new Error('late') }); return new Promise((r) => setTimeout(r, 50)) })`

test.each([
  [
    'counts passed, failed and skipped',
    '1 passed, 1 failed, 2 skipped',
    `test('a', () => {}); test('b', () => { expect(1).toBe(2) }); test.skip('c', () => {}); test.todo('d')`,
  ],
  [
    'counts a file that does not load as failed',
    '0 passed, 1 failed, 0 skipped',
    `throw new Error('broken')`,
  ],
  ['counts an error that belongs to no test as failed', '1 passed, 1 failed, 0 skipped', LATE],
  [
    'counts a run that does not come to its tests as failed',
    '0 passed, 1 failed, 0 skipped',
    `test('a', () => {})`,
    `globalSetup: ['./nowhere.ts']`,
  ],
])('the last line %s', async (_what, line, source, settings = '') => {
  expect(await lastLine(source, settings)).toBe(line)
})
