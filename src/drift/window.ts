// When whom the workers look at: one time around after the other, everybody within the period. Pure.
import type { CustomerKey } from '../model/customer.ts'

/**
 * One time around. First everybody in the order of the keys, then those twice who could not be verified when it was
 * their turn: something was owed to them, or the service did not answer.
 */
export type Round = {
  /** Milliseconds since 1970, by the clock of Postgres. */
  readonly startedAt: number
  readonly ended: boolean
  /** How many there are to look at. */
  readonly population: number
  readonly pass: number
  /** Of the first pass. */
  readonly taken: number
  /** Up to where it has come. */
  readonly after: CustomerKey | null
}

export type Turn =
  | { readonly kind: 'begin' }
  | { readonly kind: 'rest' }
  | { readonly kind: 'take'; readonly count: number }

type At = {
  readonly nowMs: number
  readonly periodMs: number
}

const PASSES = 3
/** A round is shorter than the period, so that nobody's next turn is later than that. */
const LENGTH = 0.9
/** Of a round: until then everybody is taken once. */
const SPREAD = 0.9
/** Everybody is counted anew after this part of the period, and at least so often. */
const COUNTED_FOR = 1 / 50
const COUNTED_FOR_MS = 600_000

/**
 * Whom to look at now: as many as ought to have been taken by this time and were not yet. What was missed while nobody
 * could be looked at is so caught up with, as fast as there is room. `room`: calls that may be made now.
 */
export function turnOf(round: Round | null, { nowMs, periodMs, room }: At & { readonly room: number }): Turn {
  const elapsed = round ? nowMs - round.startedAt : 0
  const length = periodMs * LENGTH
  // A round of the future is one before the clock was set back.
  if (!round || elapsed < 0 || (round.ended && elapsed >= length)) return { kind: 'begin' }
  if (round.ended) return { kind: 'rest' }
  const spread = length * SPREAD
  const due =
    round.pass === 1 ? dueBy(elapsed / spread, round) : elapsed >= opens(round.pass, length) ? room : 0
  const count = Math.floor(Math.min(room, due))
  return count > 0 ? { kind: 'take', count } : { kind: 'rest' }
}

/** Who joins while a round goes on is not in the count: at its end it takes whoever is left. */
function dueBy(share: number, { population, taken }: Round): number {
  return share >= 1 ? Number.POSITIVE_INFINITY : Math.floor(population * share) - taken
}

function opens(pass: number, length: number): number {
  const spread = length * SPREAD
  return spread + ((length - spread) * (pass - 2)) / (PASSES - 1)
}

/** Who was found when a number of customers was asked for, and up to where; null: nobody comes after these. */
export type Stretch = { readonly keys: readonly CustomerKey[]; readonly upTo: CustomerKey | null }

/** Where a round stands when these were taken. One that is late goes without its further passes. */
export function afterTaking(
  round: Round,
  { nowMs, periodMs, found }: At & { readonly found: Stretch },
): Round {
  const taken = round.pass === 1 ? round.taken + found.keys.length : round.taken
  if (found.upTo !== null) return { ...round, taken, after: found.upTo }
  const late = nowMs - round.startedAt >= periodMs * LENGTH
  if (round.pass >= PASSES || late) return { ...round, taken, ended: true, after: null }
  return { ...round, taken, pass: round.pass + 1, after: null }
}

/** How long a count of everybody is good for, in milliseconds. */
export function countedForMs(periodMs: number): number {
  return Math.min(COUNTED_FOR_MS, periodMs * COUNTED_FOR)
}

const LONGEST_TICK_MS = 5000
const SHORTEST_TICK_MS = 250

/** How often a tick comes: for a long period seldom enough that it costs nothing, for a short one often enough. */
export function tickMs(periodMs: number): number {
  return Math.round(Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, periodMs / 50)))
}
