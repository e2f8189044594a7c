import { LANE, type Lane } from '../model/customer.ts'

type Demand = {
  /** Jobs that may be put on the queue now. */
  readonly room: number
  /** The brake holds those who would lose access. */
  readonly deletionsHeld: boolean
}

/** Backfill always gets on, however much live traffic there is. */
const BACKFILL_SHARE = 0.1
/** The share of deletions while they are held for a person: no other change is to wait for a mass of them. */
const HELD_DELETIONS_SHARE = 0.2

/**
 * The room left on a queue of this depth; 0 while hardly anything is missing: out of room for a single job nothing
 * can be kept for backfill, which would then never get on.
 */
export function roomFor(depth: number, queued: number): number {
  const room = Math.max(0, depth - queued)
  const worthwhile = Math.min(depth, Math.max(2, Math.ceil(depth * BACKFILL_SHARE)))
  return room < worthwhile ? 0 : room
}

/**
 * How many rows of a lane may be leased, given what more urgent lanes have taken and the room that there was: urgent
 * lanes first, a tenth kept for backfill, and no crowding out by deletions while these are held.
 */
export function laneLimit(lane: Lane, taken: number, { room, deletionsHeld }: Demand): number {
  const left = Math.max(0, room - taken)
  if (lane === LANE.backfill) return left
  const urgent = Math.max(0, Math.min(left, room - Math.ceil(room * BACKFILL_SHARE) - taken))
  // At a pace of less than a call a second there is room for one job only: live changes come first then.
  const share = room === 1 ? left : urgent
  if (lane !== LANE.deletion || !deletionsHeld) return share
  return Math.min(share, Math.ceil(room * HELD_DELETIONS_SHARE))
}
