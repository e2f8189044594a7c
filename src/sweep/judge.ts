// Judges customers as a claim would begin with them: who differs, and how a claim for them is brought about.
import type { KnownRecord } from '../ledger/record.ts'
import type { Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Mapped, userIdOf, validUntilOf } from '../model/mapped.ts'
import type { Memory } from '../sync/memory.ts'
import type { Plan } from '../sync/plan.ts'
import { planNow, type Snapshot } from '../sync/snapshot.ts'

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
  readonly state: KnownRecord['state']
  /** The mapping makes of it just what it made at its last ending. */
  readonly asItWas: boolean
  /** The mapping gives it another `user_id` than it was registered under. */
  readonly otherUser: boolean
  readonly plan: Plan
  /** Until when the mapping's answer holds, in milliseconds since 1970. */
  readonly validUntilMs: number | null
  /** What was made of it at its last ending was digested with the present key. */
  readonly comparable: boolean
  readonly gone: boolean
}

export type Made = {
  readonly found: SweepFacts
  readonly memory: Memory
  readonly mapped: Mapped
  readonly record: KnownRecord
  readonly rivals: readonly CustomerKey[]
}

/** `made` is null where its row cannot be read. */
export type Judged = {
  readonly key: CustomerKey
  readonly verdict: SweepVerdict
  readonly owed: boolean
  readonly made: Made | null
}

/** Where a look is wanted first, a customer of whom nothing is known is unknown. */
export function judge(snapshot: Snapshot, select: SweepSelection): Judged {
  const { key, work, mapped, rivals, desired, digestKey } = snapshot
  const { known, owed, claimed, replanAtMs, record } = work
  if (snapshot.unreadable) return { key, owed, verdict: 'unreadable', made: null }
  const { plan, memory } = planNow(snapshot, { unknown: work.unknown || (select.lookup && !known) })
  const userId = userIdOf(mapped)
  const registered = record.remote === 'present' && record.userId !== null
  const found: SweepFacts = {
    ...{ known, owed, claimed, replanAtMs, plan, state: record.state },
    asItWas: work.desired === desired,
    otherUser: registered && userId !== null && userId !== record.userId,
    validUntilMs: validUntilOf(mapped),
    comparable: record.digestKey === digestKey,
    gone: mapped.kind === 'removed',
  }
  return { key, owed, verdict: verdictOn(found, select), made: { found, memory, mapped, record, rivals } }
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

const WORK: Readonly<Record<Exclude<Plan['kind'], 'lookup'>, Only | null>> = {
  create: 'create',
  patch: 'update',
  replace: 'update',
  revoke: 'revoke',
  erase: 'revoke',
  reject: null,
  none: null,
}

/** What a lookup is for shows in whether anything was known. */
function isFor(only: Only, { plan, known }: SweepFacts): boolean {
  const lookup = known ? 'update' : 'create'
  return only === (plan.kind === 'lookup' ? lookup : WORK[plan.kind])
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
