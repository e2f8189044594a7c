import type { Pool } from 'pg'
import { readOpen } from '../ledger/lane-open.ts'
import { type Overview, readOverview } from '../ledger/overview.ts'
import { LANE } from '../model/customer.ts'
import { sleep } from '../ops/time.ts'
import type { Io } from './io.ts'
import type { Progress } from './progress.ts'

export type Waited = {
  /** False: the command was stopped before. */
  readonly ended: boolean
  /** Owed still, by what was to be brought in. */
  readonly open: number
  /** Of everybody: how many are in which state, and why those are not settled who are not. */
  readonly states: Overview['states']
  readonly reasons: Overview['reasons']
}

type Waiting = { readonly io: Pick<Io, 'stop'>; readonly pool: Pool; readonly progress: Progress }

const POLL_MS = 500
/** Nobody was settled for so long: whoever waits is told what it may be. */
const QUIET_MS = 60_000

/**
 * Until nobody is owed a sync in the lane of a backfill, but for those who fail again and again. Who was rejected or is
 * held is owed none: they are told of at the end, since waiting changes nothing for them.
 */
export async function awaitSettled({ io, pool, progress }: Waiting): Promise<Waited> {
  let first: number | null = null
  let last = { open: -1, at: performance.now() }
  let told = false
  for (;;) {
    const { open, failAgain } = await readOpen(pool, LANE.backfill)
    first ??= open
    if (open === 0 || io.stop.aborted) {
      const { states, reasons } = await readOverview(pool)
      return { ended: open === 0, open: open + failAgain, states, reasons }
    }
    if (open !== last.open) last = { open, at: performance.now() }
    else if (!told && performance.now() - last.at > QUIET_MS) {
      told = true
      progress.say(
        'nobody was settled for a minute: does a worker run? `rollcall status` and `rollcall pace` tell',
      )
    }
    const total = Math.max(first, open)
    const note = failAgain > 0 ? `${failAgain} fail again and again` : ''
    progress.show({ verb: 'settled', done: total - open, total, from: 0, note })
    await sleep(POLL_MS, io.stop)
  }
}
