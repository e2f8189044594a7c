import type { Pool } from 'pg'
import { oneRow } from '../database/client.ts'
import { type Lease, leaseLane, readQueueState, unlease } from '../ledger/lease.ts'
import { UNDER_WAY } from '../ledger/note.ts'
import { noteReplans, noteVerifications } from '../ledger/note-unchanged.ts'
import { type BoundTo, isCurrent } from '../ledger/target.ts'
import { LANE, LANES, type Lane } from '../model/customer.ts'
import { type Depth, laneLimit, nextDepth, roomFor } from './depth.ts'
import type { JobQueue } from './queue.ts'

type DispatchOptions = BoundTo & {
  readonly pool: Pool
  /** Takes keys from the outbox, and notes their customers. Resolves to the number of rows. */
  readonly drain: () => Promise<number>
  readonly queue: Pick<JobQueue, 'add' | 'count'>
  readonly queueLeaseMs: number
  /** Calls per second that the queue should be kept filled for. */
  readonly pace: () => Promise<number>
  readonly concurrency: number
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  /** Called at each step: whether our mapping and our target are the active ones. */
  readonly onMapping: (current: boolean) => Promise<void>
}

/** For one statement, and for one call to the queue: neither takes long. */
const [NOTED_ROWS, ENQUEUED_JOBS] = [500, 500]
/** The largest job, as a share of the leases on the queue: every process gets some. */
const JOB_SHARE = 0.25

/** A row whose sync is leased or claimed is not planned again before its ending. */
const PEEK = `
SELECT EXISTS (SELECT FROM rollcall.outbox) AS captured,
  (SELECT min(replan_at) FROM rollcall.owed o WHERE NOT ${UNDER_WAY}) <= now() IS TRUE AS replan,
  (SELECT min(verify_at) FROM rollcall.owed o WHERE NOT ${UNDER_WAY}) <= now() IS TRUE AS verify,
  EXISTS (SELECT FROM rollcall.owed WHERE lane = ANY($1) AND due_at <= now()) AS due,
  EXISTS (SELECT FROM rollcall.brake WHERE tripped_at IS NOT NULL) AS tripped,
  EXISTS (SELECT FROM rollcall.brake WHERE kind = 'revocation' AND tripped_at IS NOT NULL)
    OR EXISTS (SELECT FROM rollcall.capture_mark WHERE kind = 'truncate' AND resolved_at IS NULL) AS "deletionsHeld",
  ${isCurrent({ binding: '$3', fingerprint: '$2' })} AS current`

type Peek = Readonly<
  Record<'captured' | 'replan' | 'verify' | 'due' | 'tripped' | 'deletionsHeld' | 'current', boolean>
>

/**
 * Moves what is owed forward by one step: captured changes into notes, then what is due onto the queue, but
 * never more than is soon carried out (depth.ts): the backlog stays in Postgres, where a live change overtakes it.
 * A process with another mapping than the active one notes customers, and leases nothing. Resolves to whether there
 * were changes or leases.
 */
export function makeDispatch(options: DispatchOptions) {
  const { pool, drain, queue, queueLeaseMs, fingerprint, binding, onMapping } = options
  let depth: Depth | null = null

  return async function dispatch(): Promise<boolean> {
    const seen = await oneRow<Peek>(pool, PEEK, [LANES, fingerprint, binding])
    await onMapping(seen.current)
    const drained = seen.captured ? await drain() : 0
    if (seen.replan) await noteReplans(pool, NOTED_ROWS)
    if (seen.verify) await noteVerifications(pool, NOTED_ROWS)
    // A change that was noted a moment ago is due now, so that it need not wait for the next poll.
    const any = seen.captured || seen.replan || seen.verify || seen.due
    const leases: Lease[] = []
    try {
      if (any && seen.current) await leaseDue(seen, leases)
    } finally {
      await enqueue(leases)
    }
    // Rows that another session has locked are waited for as if there were none.
    return drained > 0 || leases.length > 0
  }

  /**
   * Adds to `leases` lane by lane: what one statement has leased is put on the queue although a later one fails. Plain: `latest`
   * is 0, so one statement leases, for the lane of changes.
   */
  async function leaseDue({ tripped, deletionsHeld }: Peek, leases: Lease[]): Promise<void> {
    const { room, due } = await findRoom()
    for (const lane of LANES) await lease(lane, deletionsHeld)
    // For the room that no other lane took.
    if (deletionsHeld) await lease(LANE.deletion, false)

    async function lease(lane: Lane, isHeld: boolean): Promise<void> {
      if (!due.includes(lane)) return
      const limit = laneLimit(lane, leases.length, { room, deletionsHeld: isHeld })
      // While a mass is being held, half of the room is for the newest changes: behind the mass they would wait for all of it.
      const latest = tripped && lane === LANE.change ? Math.ceil(limit / 2) : 0
      const inLane = { lane, leaseMs: queueLeaseMs }
      leases.push(...(await leaseLane(pool, { ...inLane, limit: latest, newest: true })))
      leases.push(...(await leaseLane(pool, { ...inLane, limit: limit - latest })))
    }
  }

  /**
   * By our own tables. If these say that there is much on the queue, the queue itself is asked: a queue that lost its
   * jobs would look full until their leases have passed, and a live change would wait for that. Plain: there is room, and `due` has
   * the lane of changes.
   */
  async function findRoom(): Promise<{ readonly room: number; readonly due: readonly Lane[] }> {
    const pace = await options.pace()
    const { queued, issued, due } = await readQueueState(pool)
    depth = nextDepth(depth, { atMs: options.now(), issued, queued, pace, concurrency: options.concurrency })
    const much = depth.leases > 0 && queued > depth.leases / 2
    return { room: roomFor(depth.leases, much && (await queue.count()) === 0 ? 0 : queued), due }
  }

  /** Leases that the queue did not take are due again at once; one that arrived after all finds its token void. */
  async function enqueue(leases: readonly Lease[]): Promise<void> {
    const jobs = inJobs(leases, Math.min(options.concurrency / 2, (depth?.leases ?? 0) * JOB_SHARE))
    for (let from = 0; from < jobs.length; from += ENQUEUED_JOBS) {
      try {
        await queue.add(jobs.slice(from, from + ENQUEUED_JOBS))
      } catch (error) {
        await unlease(pool, jobs.slice(from).flat())
        throw error
      }
    }
  }
}

function inJobs(leases: readonly Lease[], most: number): Lease[][] {
  const size = Math.max(1, Math.ceil(most))
  return Array.from({ length: Math.ceil(leases.length / size) }, (_, i) =>
    leases.slice(i * size, (i + 1) * size),
  )
}
