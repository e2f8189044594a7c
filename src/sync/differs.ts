import type { Work } from '../ledger/sweep.ts'
import { type Mapped, userIdOf, validUntilOf } from '../model/mapped.ts'
import type { UserField } from '../model/user.ts'
import { fieldsOf } from './answer.ts'
import type { Memory } from './memory.ts'
import { type Plan, takesAccess } from './plan.ts'
import { statusIsRight } from './right.ts'

/**
 * What a sweep finds of one customer. `same`: nothing is to be sent. `differs`: something is, or a customer who was
 * rejected or failed is another one now. `owed`: a claim comes anyway, which will find out. `another-time`: nothing
 * is to be sent now, but it has to be looked at again sooner than was noted. `never-asked`: no claim has ever ended
 * for it, so nothing that was sent could differ. `unreadable`: Postgres refuses to read its row.
 */
export type Verdict = 'same' | 'differs' | 'owed' | 'another-time' | 'never-asked' | 'unreadable'

export type Found = Pick<Work, 'known' | 'owed' | 'claimed' | 'replanAtMs'> & {
  readonly state: Work['record']['state']
  /** The mapping makes of it just what it made at its last ending. */
  readonly asItWas: boolean
  /** The mapping gives it another `user_id` than it was registered under. */
  readonly otherUser: boolean
  readonly plan: Plan
  /** Until when the mapping's answer holds, in milliseconds since 1970. */
  readonly validUntilMs: number | null
}

/**
 * An idle customer is judged by its plan: only that says what would be sent. One who was rejected has a plan that is
 * never "none", and one who fails is owed all the time: these are judged by whether the mapping makes anything else of
 * them, so that a sweep does not ask the service again what it has answered.
 */
export function verdictOn(found: Found): Verdict {
  const { known, state, owed, claimed, asItWas, plan } = found
  if (claimed) return 'owed'
  if (known && state !== 'idle' && !asItWas) return 'differs'
  if (owed) return 'owed'
  if (!known) return 'never-asked'
  if (state === 'idle' && plan.kind !== 'none') return 'differs'
  return endsSooner(found) ? 'another-time' : 'same'
}

/** Looked at too early, a customer is planned again and found right; too late, it would be wrong until then. */
function endsSooner({ validUntilMs, replanAtMs }: Found): boolean {
  return validUntilMs !== null && (replanAtMs === null || validUntilMs < replanAtMs)
}

/**
 * How a sweep sees to it that a claim comes: `now` also where a wait is under way, since what it waits for may be
 * mended; `gently` leaves waits alone. A claim that is under way may go by an earlier mapping: once noted, its ending
 * makes the customer due again.
 */
export function howToNote(verdict: Verdict, { state, claimed }: Found): 'now' | 'gently' | null {
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
      return null
    default:
      return verdict satisfies never
  }
}

/** The sum of what a sweep has found so far; its size does not depend on how many customers there are. */
export type Tally = {
  readonly customers: number
  readonly verdicts: Readonly<Record<Verdict, number>>
  /** Of those who are owed: the mapping makes something else of them than it did; whether it or the row has changed
   * cannot be told. */
  readonly unsure: number
  /** Of those who differ: which call comes next, and which fields the updates among these write. */
  readonly plans: Readonly<Partial<Record<Plan['kind'], number>>>
  readonly fields: Readonly<Partial<Record<UserField, number>>>
  /** Of those who differ: who may lose access by it. */
  readonly loseAccess: number
  /** Of everybody: who becomes another user; the one that they were keeps what it has. */
  readonly otherUsers: number
}

export const NOTHING_FOUND: Tally = {
  customers: 0,
  verdicts: { same: 0, differs: 0, owed: 0, 'another-time': 0, 'never-asked': 0, unreadable: 0 },
  unsure: 0,
  plans: {},
  fields: {},
  loseAccess: 0,
  otherUsers: 0,
}

export function addTo(tally: Tally, verdict: Verdict, found: Found, memory: Memory): Tally {
  const verdicts = increased(tally.verdicts, verdict)
  const unsure = tally.unsure + (verdict === 'owed' && found.known && !found.asItWas ? 1 : 0)
  const otherUsers = tally.otherUsers + (found.otherUser ? 1 : 0)
  const counted = { ...tally, customers: tally.customers + 1, verdicts, unsure, otherUsers }
  if (verdict !== 'differs') return counted
  const { plan } = found
  return {
    ...counted,
    plans: increased(tally.plans, plan.kind),
    fields: written(plan, memory).reduce(increased, tally.fields),
    loseAccess: tally.loseAccess + (takesAccess(plan, memory) ? 1 : 0),
  }
}

/** One whose row cannot be read has no plan. */
export function addUnreadable(tally: Tally): Tally {
  return {
    ...tally,
    customers: tally.customers + 1,
    verdicts: increased(tally.verdicts, 'unreadable'),
  }
}

function increased<K extends string, R extends Readonly<Partial<Record<K, number>>>>(counts: R, name: K): R {
  return { ...counts, [name]: (counts[name] ?? 0) + 1 }
}

/** What an update changes at somebody who is there; a create writes everything, which tells nothing. */
function written(plan: Plan, memory: Memory): readonly UserField[] {
  if (!('body' in plan) || plan.kind === 'create') return []
  const carried = 'carried' in plan && plan.carried
  const status = carried || statusIsRight(plan.body.status, memory) ? [] : (['status'] as const)
  return [...status, ...fieldsOf(plan)]
}

/** What the verdict goes by, from what was read and what was made of it. */
export function foundOf(work: Work, made: Made): Found {
  const { known, owed, claimed, replanAtMs, record, desired } = work
  const asItWas = desired === made.digest
  const validUntilMs = validUntilOf(made.mapped)
  const userId = userIdOf(made.mapped)
  const registered = record.remote === 'present' && record.userId !== null
  const otherUser = registered && userId !== null && userId !== record.userId
  return {
    ...{ known, owed, claimed, replanAtMs, state: record.state },
    ...{ asItWas, otherUser, plan: made.plan, validUntilMs },
  }
}

type Made = {
  readonly mapped: Mapped
  /** Of all that the mapping makes of the customer. */
  readonly digest: string
  readonly plan: Plan
}
