import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { Consumer } from '../dispatch/queue.ts'
import { type MappingStatus, readStanding } from '../ledger/generation.ts'
import type { Log } from '../ops/log.ts'

type Options = {
  readonly pool: Pool
  readonly config: Config
  readonly log: Log
  /** Monotonic milliseconds. */
  readonly now: () => number
}

const APPLY_IT = 'to sync by this mapping, run `rollcall backfill --mapping`'

const TELL_AGAIN_MS = 60_000

/**
 * Where this worker stands: it syncs while its mapping is the one that syncs go by, and stands back otherwise, without
 * ending, since a mapping may be applied at any time.
 *
 * `turn` is told at each step of the dispatch; `isRefused` for a lease that was taken from the queue meanwhile; `remind` is a step of a
 * loop.
 */
export function makeStanding({ pool, config, log, now }: Options) {
  const { fingerprint } = config
  let consumer: Pick<Consumer, 'pause' | 'resume'> | null = null
  let current = true
  let tellAt = Number.POSITIVE_INFINITY

  /** As a worker starts: before this, jobs are given back where the mapping is not the present one. */
  async function start(
    consuming: Pick<Consumer, 'pause' | 'resume'>,
    standing: MappingStatus,
  ): Promise<void> {
    consumer = consuming
    await turn(standing.current)
  }

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

  /** Again and again, since what is owed waits for it. */
  function tell({ generation, appliedAt, earlier }: MappingStatus): void {
    tellAt = now() + TELL_AGAIN_MS
    const about = { generation, since: appliedAt }
    if (earlier) log.error(about, `a later mapping was applied: this worker syncs nothing; ${APPLY_IT}`)
    else log.error(about, `the mapping has changed: nothing is synced by it yet; ${APPLY_IT}`)
  }

  /** Asked, and not remembered. */
  async function isRefused(): Promise<boolean> {
    const standing = await readStanding(pool, fingerprint)
    return standing !== null && !standing.current
  }

  async function remind(): Promise<void> {
    const standing = await readStanding(pool, fingerprint)
    if (standing && !standing.current && now() >= tellAt) tell(standing)
  }

  return {
    start,
    turn,
    isRefused,
    remind,
    /** Whether jobs may be worked on, as far as is known without asking. */
    takesPart: () => current,
  }
}
