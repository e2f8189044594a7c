import type { Work } from '../ledger/sweep-work.ts'
import { type Mapped, userIdOf, validUntilOf } from '../model/mapped.ts'
import type { Plan } from '../sync/plan.ts'

/**
 * What a sweep finds of one customer. `same`: nothing is to be sent. `differs`: something is, or a customer who was
 * rejected or failed is another one now. `owed`: a claim comes anyway, which will find out. `another-time`: nothing
 * is to be sent now, but it has to be looked at again sooner than was noted. `never-asked`: no claim has ever ended
 * for it, and this sweep does not bring anybody in. `not-selected`: it differs, and the sweep is for others.
 * `unreadable`: Postgres refuses to read its row.
 */
export type SweepVerdict =
  | 'same'
  | 'differs'
  | 'owed'
  | 'another-time'
  | 'never-asked'
  | 'not-selected'
  | 'unreadable'

/** A kind of work that a sweep may be restricted to. */
export type Only = 'create' | 'update' | 'revoke'

/** Whom a sweep is for, besides the conditions on their rows. */
export type SweepSelection = {
  /** Customers of whom nothing is recorded are brought in; otherwise they are counted and left alone. */
  readonly bringIn: boolean
  /** Before a registration the service is asked whether it has the user. */
  readonly lookup: boolean
  readonly only: Only | null
}

export const EVERYBODY: SweepSelection = { bringIn: true, lookup: false, only: null }

export type SweepFacts = Pick<Work, 'known' | 'owed' | 'claimed' | 'replanAtMs'> & {
  readonly state: Work['record']['state']
  /** The mapping makes of it just what it made at its last ending. */
  readonly asItWas: boolean
  /** The mapping gives it another `user_id` than it was registered under. */
  readonly otherUser: boolean
  readonly plan: Plan
  /** Until when the mapping's answer holds, in milliseconds since 1970. */
  readonly validUntilMs: number | null
  /** What was made of it at its last ending can be compared: it was digested with the present key. */
  readonly comparable: boolean
  /** There is no row of it. */
  readonly gone: boolean
}

/**
 * An idle customer is judged by its plan: only that says what would be sent. One who was rejected has a plan that is
 * never "none", and one who fails is owed all the time: these are judged by whether the mapping makes anything else of
 * them, so that a sweep does not ask the service again what it has answered.
 */
export function verdictOn(found: SweepFacts, { bringIn, only }: SweepSelection): SweepVerdict {
  const { known, state, owed, claimed, asItWas, plan } = found
  const differs = only === null || isFor(only, found) ? 'differs' : 'not-selected'
  if (claimed) return 'owed'
  if (known && state !== 'idle' && !asItWas) return differs
  if (owed) return 'owed'
  if (!known && !bringIn) return 'never-asked'
  if (state === 'idle' && (plan.kind !== 'none' || isNewlyGone(found))) return differs
  return endsSooner(found) ? 'another-time' : 'same'
}

/** A look comes first for somebody whose state is not known; what it is for shows in whether anything was known. */
function isFor(only: Only, { plan, known }: SweepFacts): boolean {
  switch (plan.kind) {
    case 'create':
      return only === 'create'
    case 'patch':
    case 'replace':
      return only === 'update'
    case 'revoke':
    case 'erase':
      return only === 'revoke'
    case 'lookup':
      return only === (known ? 'update' : 'create')
    case 'reject':
    case 'none':
      return false
    default:
      return plan satisfies never
  }
}

/** Its row went, and no claim has looked since. Without access it needs no call, but has to be known as gone. */
function isNewlyGone({ known, gone, asItWas, comparable }: SweepFacts): boolean {
  return known && gone && !asItWas && comparable
}

/** Looked at too early, a customer is planned again and found right; too late, it would be wrong until then. */
function endsSooner({ validUntilMs, replanAtMs }: SweepFacts): boolean {
  return validUntilMs !== null && (replanAtMs === null || validUntilMs < replanAtMs)
}

/**
 * How a sweep sees to it that a claim comes: `now` also where a wait is under way, since what it waits for may be
 * mended; `gently` leaves waits alone. A claim that is under way may go by an earlier mapping: once noted, its ending
 * makes the customer due again.
 */
export function howToNote(verdict: SweepVerdict, { state, claimed }: SweepFacts): 'now' | 'gently' | null {
  switch (verdict) {
    case 'differs':
      return state === 'idle' ? 'gently' : 'now'
    case 'another-time':
    case 'unreadable':
      return 'gently'
    case 'owed':
      return claimed ? 'gently' : null
    case 'same':
    case 'never-asked':
    case 'not-selected':
      return null
    default:
      return verdict satisfies never
  }
}

/** What the verdict goes by, from what was read and what was made of it. */
export function foundOf(work: Work, made: Made): SweepFacts {
  const { known, owed, claimed, replanAtMs, record, desired } = work
  const comparable = record.digestKey === made.digestKey
  const asItWas = desired === made.digest
  const validUntilMs = validUntilOf(made.mapped)
  const userId = userIdOf(made.mapped)
  const registered = record.remote === 'present' && record.userId !== null
  const otherUser = registered && userId !== null && userId !== record.userId
  return {
    ...{ known, owed, claimed, replanAtMs, state: record.state },
    ...{
      asItWas,
      otherUser,
      plan: made.plan,
      validUntilMs,
      comparable,
      gone: made.mapped.kind === 'removed',
    },
  }
}

type Made = {
  readonly mapped: Mapped
  /** Of all that the mapping makes of the customer. */
  readonly digest: string
  readonly plan: Plan
  /** Names the key that `digest` was made with. */
  readonly digestKey: string
}
