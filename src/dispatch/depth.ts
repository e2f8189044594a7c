// How much is kept on the queue, and how lanes share it: what stands there already is in front of every live change.
import { LANE, type Lane } from '../model/customer.ts'

/** One reading at the tables, which are the same for all processes. */
export type DepthReading = {
  readonly atMs: number
  /** Tokens that were ever given out. */
  readonly issued: number
  /** The leases among them that are on the queue: not claimed yet. */
  readonly queued: number
  readonly pace: number
  readonly concurrency: number
}

/** The state that a process keeps between two readings. */
export type Depth = {
  readonly leases: number
  /** Readings of the last second, this one included. */
  readonly readings: readonly DepthReading[]
}

/** A live change waits for this much work, which bridges the time between two readings many times over. */
const AHEAD_S = 0.4
/** Work is carried out in bursts. */
const WINDOW_MS = 1000
/** A rate that was seen for less than this is taken for one that was seen for as long. */
const SHORTEST_MS = 250
const HALF_LIFE_MS = 500
/** With less than this share left, the queue might be empty before the next reading. */
const LOW = 0.5

/** A second's worth at this pace: more is never kept on the queue. Room for two, so that backfill gets its share. */
export function mostAt(pace: number): number {
  return pace < 1 ? Math.ceil(pace) : Math.max(2, Math.ceil(pace))
}

/**
 * The depth follows what was really carried out lately, by all processes: otherwise, at a pace of 2000 a second, a
 * service that does 200 would have ten seconds of work in front of a live change. Nothing tells how much could have
 * been done with more to do: it doubles for as long as the queue is found low although it had been filled. Then it
 * falls slowly, not by a single reading.
 */
export function nextDepth(before: Depth | null, reading: DepthReading): Depth {
  const most = mostAt(reading.pace)
  const ahead = Math.ceil(AHEAD_S * Math.min(reading.pace, carriedOut(before, reading)))
  const least = Math.max(2, Math.min(reading.concurrency, Math.ceil(AHEAD_S * reading.pace)))
  const leases = Math.min(most, Math.max(least, ahead, before ? followed(before, reading) : 0))
  const readings = [...(before?.readings ?? []), reading].filter(
    ({ atMs }) => reading.atMs - atMs <= WINDOW_MS,
  )
  return { leases, readings }
}

/** Leases per second that came to their claim. */
function carriedOut(before: Depth | null, reading: DepthReading): number {
  const since =
    before?.readings.find(({ atMs }) => reading.atMs - atMs <= WINDOW_MS) ?? before?.readings.at(-1)
  if (!since) return 0
  const done = reading.issued - since.issued - (reading.queued - since.queued)
  return Math.max(0, (done * 1000) / Math.max(SHORTEST_MS, reading.atMs - since.atMs))
}

function followed(before: Depth, reading: DepthReading): number {
  const last = before.readings.at(-1)
  if (!last) return 0
  // A tenth of the room may have been kept for customers that were not there.
  const filled = reading.issued - last.issued >= 0.9 * roomFor(before.leases, last.queued) - 1
  const low = reading.queued < before.leases * LOW
  if (filled && low) return before.leases * 2
  return Math.floor(before.leases * 2 ** ((last.atMs - reading.atMs) / HALF_LIFE_MS))
}

type Demand = {
  readonly room: number
  /** Deletions are held for a person: the brake has tripped, or the table was truncated. */
  readonly deletionsHeld: boolean
}

/** Backfill always gets on, however much live traffic there is. */
const BACKFILL_SHARE = 0.1
/** The share of deletions while they are held for a person: no other change is to wait for a mass of them. */
const HELD_DELETIONS_SHARE = 0.2

/**
 * The room left on a queue of this depth; 0 while hardly anything is missing: out of room for a single lease nothing
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
  // At a pace of less than a call a second there is room for one lease only: live changes come first then.
  const share = room === 1 ? left : urgent
  if (lane !== LANE.deletion || !deletionsHeld) return share
  return Math.min(share, Math.ceil(room * HELD_DELETIONS_SHARE))
}
