import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { alone } from '../ledger/alone.ts'
import { applyGeneration, readStanding } from '../ledger/generation.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { everybodyIsIn } from '../ledger/sweeps.ts'
import { differencesFromBinding } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import { sleep } from '../ops/time.ts'
import { EVERYBODY } from '../sweep/differs.ts'
import { requireCapture } from '../sweep/ready.ts'
import { runSweep } from '../sweep/run.ts'
import { type SweepOptions, type Swept, sweep } from '../sweep/sweep.ts'
import { NOTHING_FOUND } from '../sweep/tally.ts'
import { makeDigester } from '../sync/digest.ts'
import { withPool } from './connect.ts'
import type { AddCommand, ExitCode, Io } from './io.ts'
import { asJson } from './json.ts'
import { type Backfilled, backfillJson, sayBackfill } from './say-backfill.ts'
import { keepHeapSmall } from './small-heap.ts'

type Options = {
  readonly config?: string
  readonly mapping: true
  readonly dryRun?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  rollcall backfill --mapping --dry-run   count whom the mapping of this
                                          configuration would change, and how
  rollcall backfill --mapping             apply it: from then on syncs go by it,
                                          and those who differ are synced`

/** Another sweep is waited for; it stops by itself when it goes by another mapping. */
const ALONE_POLL_MS = 200

/** `rollcall backfill --mapping`: applies a changed mapping to everybody. */
export const backfillCommand: AddCommand = (program, io, exit) => {
  program
    .command('backfill')
    .description('apply a changed mapping to every customer who differs by it')
    .requiredOption('--mapping', 'the mapping of this configuration becomes the one that syncs go by')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .option('--dry-run', 'make no call and write nothing: only count')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      keepHeapSmall()
      const config = await loadConfig(options.config, io.cwd)
      exit(await backfill(io, config, options))
    })
}

async function backfill(io: Io, config: Config, { dryRun, json }: Options): Promise<ExitCode> {
  const env = readEnv(io.env, {
    need: ['DATABASE_URL', 'SERVICE_URL', 'SERVICE_API_KEY', 'ROLLCALL_DIGEST_KEY'],
  })
  const done = await withPool({ url: env.DATABASE_URL }, async (pool) => {
    await checkMigrated(pool)
    const differences = await differencesFromBinding(pool, {
      origin: env.SERVICE_URL,
      apiKey: env.SERVICE_API_KEY,
      digestKey: env.ROLLCALL_DIGEST_KEY,
    })
    if (differences.length > 0) throw new RollcallError('TARGET_CHANGED', differences)
    const digester = makeDigester(env.ROLLCALL_DIGEST_KEY)
    const select = { ...EVERYBODY, bringIn: await everybodyIsIn(pool) }
    const sweeping = { pool, config, digester, select, signal: io.stop }
    return dryRun ? await count(sweeping) : await apply(sweeping)
  })
  if (json) io.out(asJson(backfillJson(done)))
  else for (const line of sayBackfill(done)) io.out(line)
  if (!done.ended) return 1
  return done.dryRun && done.tally.verdicts.differs > 0 ? 3 : 0
}

async function count(sweeping: SweepOptions): Promise<Backfilled> {
  const standing = await readStanding(sweeping.pool, sweeping.config.fingerprint)
  return { standing, applied: false, dryRun: true, ...(await sweep(sweeping)) }
}

/**
 * Applied first: from then on whoever is claimed is claimed by this mapping, so that nobody can be settled by another
 * one behind the sweep. A sweep that ends half way is taken up again by a worker, or by this command.
 */
async function apply(sweeping: SweepOptions): Promise<Backfilled> {
  const { pool, config } = sweeping
  await requireCapture(pool, config)
  const applied = await applyGeneration(pool, config.fingerprint)
  const standing = await readStanding(pool, config.fingerprint)
  if (!standing) throw new Error('a ledger has a generation once one was applied')
  const swept = await sweepWhenAlone(sweeping)
  const now = await readStanding(pool, config.fingerprint)
  return { standing: now ?? standing, applied, dryRun: false, ...swept }
}

async function sweepWhenAlone(sweeping: SweepOptions): Promise<Swept> {
  const { pool, signal } = sweeping
  let waited = false
  const once = async (): Promise<Swept> => {
    const standing = waited ? await readStanding(pool, sweeping.config.fingerprint) : null
    if (standing?.current && standing.swept) return { tally: NOTHING_FOUND, ended: true }
    const { config, digester } = sweeping
    return await runSweep({ pool, config, digester, signal, kind: 'mapping' })
  }
  while (!signal.aborted) {
    const swept = await alone(pool, 'sweep', once)
    if (swept) return swept
    waited = true
    await sleep(ALONE_POLL_MS, signal)
  }
  return { tally: NOTHING_FOUND, ended: false }
}
