// The arrows between the folders of src (biome.layers.jsonc) hold nothing by themselves when the linter stops
// reading them, and nobody would notice; so here are files that break them, one after the other.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

type Case = readonly [file: string, source: string]

const REFUSED: readonly Case[] = [
  ['src/model/a.ts', `export { runClaim } from '../sync/run.ts'`],
  ['src/model/b.ts', `export { readFile } from 'node:fs'`],
  ['src/config/a.ts', `export type { Claim } from '../ledger/claim.ts'`],
  ['src/service/a.ts', `export { makePlan } from '../sync/plan.ts'`],
  ['src/sync/a.ts', `import type { JobQueue } from '../dispatch/queue.ts'\nexport type A = JobQueue`],
  ['src/sync/b.ts', `export const a = await import('../worker/worker.ts')`],
  ['src/sync/c.ts', `export { Queue } from 'bullmq'`],
  ['src/dispatch/loop.ts', `export { Redis } from 'ioredis'`],
  ['src/worker/a.ts', `export { main } from '../cli/main.ts'`],
  ['src/worker/b.ts', `export { startSandbox } from '../sandbox/server.ts'`],
  ['src/cli/status.ts', `export { startPostgres } from '../embedded/postgres.ts'`],
  ['src/index.ts', `export { runClaim } from './sync/run.ts'`],
  ['src/sandbox/chat/a.ts', `export { makePlan } from '../../sync/plan.ts'`],
  ['src/drawer/a.ts', `export { LANE } from '../model/customer.ts'`],
]

const TAKEN: readonly Case[] = [
  ['src/model/c.ts', `export { LANE } from './customer.ts'`],
  ['src/sync/d.ts', `export { makeClaim } from '../ledger/claim.ts'`],
  [
    'src/sandbox/chat/b.ts',
    `export { SPECIALITIES } from '../../service/chat.ts'\nexport { json } from '../answer.ts'`,
  ],
  ['src/dispatch/bullmq.ts', `export { Queue } from 'bullmq'`],
  ['src/ledger/migrate.ts', `export { runMigrations } from 'bullmq'`],
  ['src/cli/demo.ts', `export { startPostgres } from '../embedded/postgres.ts'`],
]

test('an import against the arrows is found by the linter, every other is let pass', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-layers-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of ['biome.json', 'biome.layers.jsonc'])
    await copyFile(join(ROOT, name), join(folder, name))
  for (const [file, source] of [...REFUSED, ...TAKEN]) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), `${source}\n`)
  }
  const found = new Set(await offenders(folder))
  expect([...found].sort()).toEqual(REFUSED.map(([file]) => file).sort())
})

/** The files in which the linter finds a restricted import. */
function offenders(folder: string): Promise<string[]> {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome')
  const args = ['lint', '--only=style/noRestrictedImports', '--reporter=json', '--max-diagnostics=none']
  return new Promise((resolve, reject) => {
    execFile(biome, args, { cwd: folder }, (error, stdout) => {
      if (!error) return reject(new Error('the linter found nothing'))
      const { diagnostics } = JSON.parse(stdout) as Report
      resolve(diagnostics.map(({ location }) => location.path))
    })
  })
}

type Report = { readonly diagnostics: readonly { readonly location: { readonly path: string } }[] }
