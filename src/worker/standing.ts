import type { Pool } from 'pg'
import { type MappingStatus, readStanding } from '../ledger/generation.ts'
import type { Log } from '../ops/log.ts'
import type { Pausable } from './pausing.ts'

type Options = {
  readonly pool: Pool
  /** Of the mapping. */
  readonly fingerprint: string
  readonly log: Log
  /** Monotonic milliseconds. */
  readonly now: () => number
}

const APPLY_IT = 'to sync by this mapping, run `rollcall backfill --mapping`'
const TELL_AGAIN_MS = 60_000

/**
 * A worker syncs while its mapping is the active one. Otherwise it is inactive, without ending, since a mapping may be
 * applied at any time.
 */
export function makeStanding({ pool, fingerprint, log, now }: Options) {
  let consumer: Pausable | null = null
  let current = true
  let tellAt = Number.POSITIVE_INFINITY

  /** Told at each step of the dispatch. */
  async function turn(nowCurrent: boolean): Promise<void> {
    if (nowCurrent === current || !consumer) return
    if (nowCurrent) {
      await consumer.resume()
      current = true
      log.info('syncs go by the mapping of this worker now: it takes part')
      return
    }
    await consumer.pause()
    current = false
    const standing = await readStanding(pool, fingerprint)
    if (standing && !standing.current) tell(standing)
  }

  function tell({ generation, appliedAt, earlier }: MappingStatus): void {
    tellAt = now() + TELL_AGAIN_MS
    const about = { generation, since: appliedAt }
    if (earlier) log.error(about, `a later mapping was applied: this worker syncs nothing; ${APPLY_IT}`)
    else log.error(about, `the mapping has changed: nothing is synced by it yet; ${APPLY_IT}`)
  }

  return {
    turn,
    /** Before this, jobs are given back where the mapping is not the active one. */
    async start(consuming: Pausable, standing: MappingStatus): Promise<void> {
      consumer = consuming
      await turn(standing.current)
    },
    /** For a lease that was taken from the queue meanwhile. */
    async isRefused(): Promise<boolean> {
      const standing = await readStanding(pool, fingerprint)
      return standing !== null && !standing.current
    },
    /** A step of a loop: tells it again and again, since what is owed waits for it. */
    async remind(): Promise<void> {
      const standing = await readStanding(pool, fingerprint)
      if (standing && !standing.current && now() >= tellAt) tell(standing)
    },
    /** Whether jobs may be worked on, as far as is known without asking. */
    takesPart: () => current,
  }
}
