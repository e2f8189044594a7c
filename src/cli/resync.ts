import type { Pool } from 'pg'
import { closeMarks, dismissMarks, readGap } from '../capture/gap.ts'
import type { Config } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { alone } from '../ledger/alone.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { sleep } from '../ops/time.ts'
import { requireCapture, requireStanding, runSweep, type SweepEnd } from '../sweep/run.ts'
import { NOTHING_FOUND } from '../sweep/tally.ts'
import { makeDigester } from '../sync/digest.ts'
import { withPool } from './connect.ts'
import type { ExitCode, Io } from './io.ts'
import { asJson } from './render.ts'
import { allMissed, OTHERS_SWEEP, sayExamples, sayMissed } from './say-sweeps.ts'

export type Resync = { readonly config?: string; readonly json?: boolean; readonly dismiss?: boolean }

/** `rollcall capture resync`: after a TRUNCATE, a gap, or whatever else nothing has captured. */
export async function resync(io: Io, { config: file, json, dismiss }: Resync): Promise<ExitCode> {
  const config = await loadConfig(file, io.cwd)
  if (dismiss) return await dismissThem(io, json === true)
  const env = readEnv(io.env, { need: ['DATABASE_URL', 'ROLLCALL_DIGEST_KEY'] })
  // A stop ends it after a page, so that it can tell how far it has come.
  const ran = await withPool({ url: env.DATABASE_URL }, async (pool) => {
    await checkMigrated(pool)
    const digester = makeDigester(env.ROLLCALL_DIGEST_KEY)
    return await lookAtEverybody(io, { pool, config, digester, signal: io.stop })
  })
  const { ended, examples } = ran
  const { customers, verdicts, missed } = ran.tally
  if (json)
    io.out(
      asJson({
        ended,
        customers,
        noted: verdicts.differs,
        unreadable: verdicts.unreadable,
        missed,
        examples,
      }),
    )
  else for (const line of sayRan(ran)) io.out(line)
  return ended ? 0 : 1
}

function sayRan({ ended, superseded, tally, examples }: SweepEnd): readonly string[] {
  const { customers, verdicts, missed } = tally
  const unreadable = verdicts.unreadable > 0 ? `, ${verdicts.unreadable} cannot be read` : ''
  const stopped = superseded
    ? 'Not everybody was looked at: another mapping was applied, or another resync was begun meanwhile.'
    : 'Not everybody was looked at: run it again, which begins anew.'
  return [
    `${customers} customers were looked at: ${verdicts.differs} are owed a sync${unreadable}.`,
    ...(allMissed(missed) > 0
      ? [`Capture had missed ${sayMissed(missed)}${sayExamples(examples)}: see \`rollcall status\`.`]
      : []),
    ...(ended ? [] : [stopped]),
  ]
}

async function dismissThem(io: Io, json: boolean): Promise<ExitCode> {
  const { DATABASE_URL: url } = readEnv(io.env, { need: ['DATABASE_URL'] })
  await withPool({ url, stop: io.stop }, async (pool) => {
    await checkMigrated(pool)
    await dismissMarks(pool)
  })
  io.out(json ? asJson({ noted: 0 }) : 'The marks are closed.')
  return 0
}

const POLL_MS = 300
const TRANSACTIONS_OPEN = 'transactions are open that may belong to the gap: this waits until they have ended'

type Looking = {
  readonly pool: Pool
  readonly config: Config
  readonly digester: ReturnType<typeof makeDigester>
  readonly signal: AbortSignal
}

/** With marks it waits until their gap may be looked at; without any it looks at once. */
async function lookAtEverybody(io: Pick<Io, 'err'>, looking: Looking): Promise<SweepEnd> {
  const { pool, config, signal } = looking
  // Before the marks are closed: with them goes what holds those who are missing.
  await requireCapture(pool, config)
  await requireStanding(pool, config)
  await closeMarks(pool, ['truncate', 'overflow'])
  for (let told = false; !signal.aborted; told = true) {
    const gap = await readGap(pool)
    const kind = gap.ids.length > 0 ? 'gap' : 'resync'
    const ran =
      gap.ready && (await alone(pool, 'sweep', () => runSweep({ ...looking, kind, marks: gap.ids })))
    if (ran) return ran
    if (!told) io.err(gap.ready ? OTHERS_SWEEP : TRANSACTIONS_OPEN)
    await sleep(POLL_MS, signal)
  }
  return { tally: NOTHING_FOUND, ended: false, superseded: false, examples: [] }
}
