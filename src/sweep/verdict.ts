// Plans customers as a claim would begin with them: who differs, how a claim for them is brought about, and the sum of it.
import type { CustomerState, KnownRecord } from '../ledger/record.ts'
import type { Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { UserField } from '../model/user.ts'
import type { Counts } from '../model/values.ts'
import { type Mapped, userIdOf, validUntilOf } from '../sync/map.ts'
import { type Memory, statusIsRight } from '../sync/memory.ts'
import { fieldsOf, isStatusKept, type Plan, takesAccess } from '../sync/plan.ts'
import { planNow, type Snapshot } from '../sync/snapshot.ts'

/**
 * The verdict of a sweep on one customer. `same`: nothing is to be sent. `differs`: something is, or a customer who
 * was rejected or failed is another one now. `owed`: a claim comes anyway, which will find out. `another-time`:
 * nothing is to be sent now, but it has to be planned again sooner than was noted. `never-asked`: no claim has ever
 * ended for it, and this sweep brings in no customer. `not-selected`: it differs, and the sweep is for others.
 * `unreadable`: Postgres refuses to read its row.
 */
export type SweepVerdict = keyof typeof NO_VERDICT

const NO_VERDICT = {
  ...{ same: 0, differs: 0, owed: 0, unreadable: 0 },
  ...{ 'another-time': 0, 'never-asked': 0, 'not-selected': 0 },
}

export type Only = 'create' | 'update' | 'revoke'

/** The customers that a sweep is for, besides the conditions on their rows. */
export type SweepSelection = {
  /** Customers about which nothing is recorded are brought in; otherwise they are counted and left alone. */
  readonly bringIn: boolean
  /** Before a registration the service is asked whether it has the user. */
  readonly lookup: boolean
  readonly only: Only | null
}

export const ALL_CUSTOMERS: SweepSelection = { bringIn: true, lookup: false, only: null }

export type SweepFacts = Pick<Work, 'known' | 'owed' | 'claimed' | 'replanAtMs'> & {
  readonly state: KnownRecord['state']
  /** The mapping makes of it just what it made at its last ending. */
  readonly asItWas: boolean
  /** The mapping gives it another `user_id` than it was registered under. */
  readonly otherUser: boolean
  readonly plan: Plan
  /** Until when the mapping's answer holds, in milliseconds since 1970. */
  readonly validUntilMs: number | null
  /** The mapped customer of its last ending was digested with the present key. */
  readonly comparable: boolean
  readonly gone: boolean
}

export type Made = {
  readonly found: SweepFacts
  readonly memory: Memory
  readonly mapped: Mapped
  readonly record: KnownRecord
  readonly claimants: readonly CustomerKey[]
}

/** `made` is null where its row cannot be read. */
export type PlannedCustomer = {
  readonly key: CustomerKey
  readonly verdict: SweepVerdict
  readonly owed: boolean
  readonly made: Made | null
}

/** Where a lookup is wanted first, a customer about which nothing is known is unknown. */
export function planCustomer(snapshot: Snapshot, select: SweepSelection): PlannedCustomer {
  const { key, work, mapped, claimants, desiredDigest, digests } = snapshot
  const { known, owed, claimed, replanAtMs, record } = work
  if (snapshot.unreadable) return { key, owed, verdict: 'unreadable', made: null }
  const { plan, memory } = planNow(snapshot, { unknown: work.unknown || (select.lookup && !known) })
  const userId = userIdOf(mapped)
  // Planned again: a person may have said by now that it was meant.
  const heldByTruncate = record.state === 'held' && record.reason?.kinds?.includes('truncated') === true
  const registered = record.remote === 'present' && record.userId !== null
  const found: SweepFacts = {
    ...{ known, owed, claimed, replanAtMs, plan, state: record.state },
    asItWas: record.desiredDigest === desiredDigest && !heldByTruncate,
    otherUser: registered && userId !== null && userId !== record.userId,
    validUntilMs: validUntilOf(mapped),
    comparable: record.digestKeyId === digests.keyId,
    gone: mapped.kind === 'removed',
  }
  return { key, owed, verdict: verdictOn(found, select), made: { found, memory, mapped, record, claimants } }
}

/**
 * An idle customer is decided by its plan: only that says what would be sent. One who was rejected has a plan that is
 * never "none", and one who fails is owed all the time: these are decided by whether the mapping makes anything else
 * of them. So a sweep does not ask the service again what it has answered.
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

const WORK: Readonly<Partial<Record<Plan['kind'], Only>>> = {
  create: 'create',
  patch: 'update',
  replace: 'update',
  revoke: 'revoke',
  erase: 'revoke',
}

/** Whether anything was known shows the purpose of a lookup. */
function isFor(only: Only, { plan, known }: SweepFacts): boolean {
  const lookup = known ? 'update' : 'create'
  return only === (plan.kind === 'lookup' ? lookup : WORK[plan.kind])
}

/** Its row went, and no claim has checked it since. Without access it needs no call, but has to be known as gone. */
function isNewlyGone({ known, gone, asItWas, comparable }: SweepFacts): boolean {
  return known && gone && !asItWas && comparable
}

/** Planned too early, a customer is planned again and found right; too late, it would be wrong until then. */
function endsSooner({ validUntilMs, replanAtMs }: SweepFacts): boolean {
  return validUntilMs !== null && (replanAtMs === null || validUntilMs < replanAtMs)
}

/**
 * How a sweep sees to it that a claim comes: `now` also where a wait is under way, since its cause may be
 * gone; `gently` leaves waits alone. A claim that is under way may go by an earlier mapping: once noted, its ending
 * makes the customer due again.
 */
export function howToNote(verdict: SweepVerdict, { state, claimed }: SweepFacts): 'now' | 'gently' | null {
  const how = {
    differs: state === 'idle' ? 'gently' : 'now',
    owed: claimed ? 'gently' : null,
    ...({ 'another-time': 'gently', unreadable: 'gently' } as const),
    ...{ same: null, 'never-asked': null, 'not-selected': null },
  } as const satisfies Record<SweepVerdict, unknown>
  return how[verdict]
}

/** The sum of what a sweep has found so far; its size does not depend on how many customers there are. */
export type SweepTally = Readonly<typeof NOTHING_FOUND>

export const NOTHING_FOUND = {
  customers: 0,
  verdicts: NO_VERDICT,
  /** Owed customers about which the mapping makes something else than it did; it or the row has changed. */
  owedAndChanged: 0,
  /** The next call of each customer who differs, and the fields that the updates among these write. */
  plans: {} as Counts<Plan['kind']>,
  fields: {} as Counts<UserField>,
  /** Customers who differ and may lose access by it. */
  loseAccess: 0,
  /** Customers that become another user; the former user keeps what it has. */
  otherUsers: 0,
  /** Customers who stay as they are and wait for a person, or for another row, by state. */
  waiting: { held: 0, discarded: 0, rejected: 0 },
  /** Customers who stay as they are: out of scope, and nothing was ever known of them. */
  neverInScope: 0,
  /** Customers that differ and that capture has missed; see `makeFindMissed`. */
  missed: { inserted: 0, changed: 0, deleted: 0 },
}

export function addTo(tally: SweepTally, { verdict, made }: PlannedCustomer): SweepTally {
  const verdicts = increased(tally.verdicts, verdict)
  const seen = { ...tally, customers: tally.customers + 1, verdicts }
  if (!made) return seen
  const { found, memory, mapped } = made
  const owedAndChanged = tally.owedAndChanged + (verdict === 'owed' && found.known && !found.asItWas ? 1 : 0)
  const otherUsers = tally.otherUsers + (found.otherUser ? 1 : 0)
  const stays = verdict === 'same'
  const waiting = stays && waits(found.state) ? increased(tally.waiting, found.state) : tally.waiting
  const outside = stays && !found.known && mapped.kind === 'out-of-scope'
  const neverInScope = tally.neverInScope + (outside ? 1 : 0)
  const counted = { ...seen, owedAndChanged, otherUsers, waiting, neverInScope }
  if (verdict !== 'differs') return counted
  const { plan } = found
  return {
    ...counted,
    plans: increased(tally.plans, plan.kind),
    fields: written(plan, memory).reduce(increased, tally.fields),
    loseAccess: tally.loseAccess + (takesAccess(plan, memory) ? 1 : 0),
  }
}

function waits(state: CustomerState): state is keyof SweepTally['waiting'] {
  return state in NOTHING_FOUND.waiting
}

export function increased<K extends string, R extends Counts<K>>(counts: R, name: K): R {
  return { ...counts, [name]: (counts[name] ?? 0) + 1 }
}

/** The fields that an update changes; a create writes every field, which tells nothing. */
function written(plan: Plan, memory: Memory): readonly UserField[] {
  if (!('body' in plan) || plan.kind === 'create') return []
  const status = isStatusKept(plan) || statusIsRight(plan.body.status, memory) ? [] : (['status'] as const)
  return [...status, ...fieldsOf(plan)]
}
