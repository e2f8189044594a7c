import { LANE, type Lane } from '../model/customer.ts'

export type Demand = {
  /** Jobs that may be put on the queue now. */
  readonly room: number
  /** Losses of access that the cap lets through now. */
  readonly revocationsFree: number
}

/** Backfill always gets on, however much live traffic there is. */
const BACKFILL_SHARE = 0.1
/** Deletions beyond the cap would be turned away; this share still goes, for those that need no revocation. */
const CAPPED_DELETIONS_SHARE = 0.2

/**
 * About one second's worth of work at the present pace, less what is on the queue already; nothing while that
 * is hardly anything, because of one job nothing can be kept for backfill, which would then never get on.
 */
export function roomFor(pacePerSecond: number, queued: number): number {
  const capacity = pacePerSecond < 1 ? Math.ceil(pacePerSecond) : Math.max(2, Math.ceil(pacePerSecond))
  const room = Math.max(0, capacity - queued)
  const worthwhile = Math.min(capacity, Math.max(2, Math.ceil(capacity * BACKFILL_SHARE)))
  return room < worthwhile ? 0 : room
}

/**
 * How many rows of a lane may be leased, given what more urgent lanes have taken: urgent lanes first, a tenth
 * kept for backfill, and no crowding out by deletions that the revocation cap would turn away anyway.
 */
export function laneLimit(lane: Lane, taken: number, { room, revocationsFree }: Demand): number {
  const left = Math.max(0, room - taken)
  if (lane === LANE.backfill) return left
  const urgent = Math.max(0, Math.min(left, room - Math.ceil(room * BACKFILL_SHARE) - taken))
  // At a pace of less than a call a second there is room for one job only: live changes come first then.
  const share = room === 1 ? left : urgent
  if (lane !== LANE.deletion) return share
  return Math.min(share, Math.max(revocationsFree, Math.ceil(room * CAPPED_DELETIONS_SHARE)))
}
