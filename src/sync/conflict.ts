// Values that are left out of calls. A value that another user has may become free without a change of the row: the worker
// sends it again by itself. A value that the service refused (at the end of this file) waits for a change.
import type { Conflict, Digests, LedgerRecord } from '../ledger/record.ts'
import type { FieldIssue } from '../model/customer.ts'
import { type DesiredUser, type Fields, OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { type CustomerDigests, NO_VALUE } from './digest.ts'
import type { Mapped } from './map.ts'

/**
 * A conflict while a claim runs. `due`: its time has come, and the values are sent again. `creating`: the user is not
 * there yet; a create goes without the values, since access does not wait for them.
 */
export type Conflicting = Conflict & { readonly phase: 'due' | 'waiting' | 'creating' }

/** The conflict of a record at the start of a claim. `replanInMs`: in how long the values are sent again. */
export function startConflict(
  { conflict, remote }: LedgerRecord,
  replanInMs: number | null,
): Conflicting | null {
  const waits = replanInMs !== null && replanInMs > 0
  return conflict && { ...conflict, phase: remote !== 'present' ? 'creating' : waits ? 'waiting' : 'due' }
}

type Known = Pick<LedgerRecord, 'sent' | 'seen'> & { readonly conflict: Conflicting | null }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * How long the values wait after so many refusals. The first wait is short: one transaction often moves a value from one
 * customer to another, and the two calls overtake each other.
 */
const WAITS_MS = [MINUTE_MS, HOUR_MS, DAY_MS, 7 * DAY_MS]

type ReplanClock = { readonly nowMs: number; readonly replanInMs: number | null }

/** When these values are sent again, in milliseconds since 1970. Null: they do not wait. A wait that has begun goes on. */
export function conflictDueAt(
  conflict: Conflicting | null,
  { nowMs, replanInMs }: ReplanClock,
): number | null {
  if (conflict?.phase !== 'waiting') return null
  const waitMs = WAITS_MS[Math.min(conflict.tries, WAITS_MS.length) - 1] ?? MINUTE_MS
  return nowMs + (replanInMs !== null && replanInMs > 0 ? Math.min(replanInMs, waitMs) : waitMs)
}

/** From this refusal on the customer gives up its own earlier value: in a swap another customer waits for it. */
const YIELDS_AT = 2

/** Fields whose values services commonly take only once, the likeliest first. */
const UNIQUE: readonly (readonly OptionalField[])[] = [
  ['email'],
  ['nid_number'],
  ['mobile_phone', 'mobile_phone_prefix'],
  ['contract_number'],
]

function uniqueIn(fields: readonly OptionalField[]): readonly (readonly OptionalField[])[] {
  const groups = UNIQUE.map((group) => group.filter((field) => fields.includes(field)))
  return groups.filter((group) => group.length > 0)
}

/**
 * The fields that a conflict may be about: at first all that services commonly take once, and each time that these are
 * sent again another one of them. Empty where that would be every field.
 */
export function likelyFields(
  fields: readonly OptionalField[],
  conflict: Conflicting | null,
): readonly OptionalField[] {
  const due = conflict?.phase === 'due' ? conflict : null
  const unique = uniqueIn(due ? fields.filter((field) => due.values[field] !== undefined) : fields)
  const group = due ? unique[(due.tries - 1) % unique.length] : undefined
  const some = group ?? unique.flat()
  return some.length < fields.length ? some : []
}

type Taken = { readonly values: Digests; readonly phase: 'waiting' | 'creating' }

/** The same fields once more: one refusal more. Fewer are tried again soon, and so is what joins those that wait already. */
export function withConflict(before: Conflicting | null, { values, phase }: Taken): Conflicting | null {
  const fields = fieldsIn(values)
  if (fields.length === 0) return before
  const due = before?.phase === 'due'
  const fewer = before !== null && fields.length < fieldsIn(before.values).length
  if (due && isAbout(before, fields)) return { values, tries: fewer ? 1 : before.tries + 1, phase }
  return { values: { ...(due ? {} : before?.values), ...values }, tries: 1, phase }
}

/** Where no field was named the create went without any: the next update brings those that need not be unique. */
export function conflictOnceCreated(conflict: Conflicting | null): Conflicting | null {
  if (conflict === null) return null
  const some = uniqueIn(fieldsIn(conflict.values)).flat()
  const values = some.length === 0 ? conflict.values : only(some, conflict.values)
  return { ...conflict, values, phase: 'waiting' }
}

function only(fields: readonly OptionalField[], values: Digests): Digests {
  return Object.fromEntries(fields.map((field) => [field, values[field] ?? '']))
}

export function isAbout({ values }: Conflict, fields: readonly OptionalField[]): boolean {
  return fields.every((field) => values[field] !== undefined)
}

/** Whether it is about the customer as it stands now; of several values it is not known which one was refused. */
export function conflictStands(
  { fields }: Pick<DesiredUser, 'fields'>,
  { values }: Conflict,
  digests: CustomerDigests,
): boolean {
  return fieldsIn(values).every((field) => {
    const value = fields[field]
    return value !== undefined && value !== null && digests.normal(field, value) === values[field]
  })
}

/** The values that a conflict is about, each by a digest of its normal form: uniqueness seldom minds the spelling. */
export function conflictDigests(
  fields: readonly OptionalField[],
  desired: DesiredUser | null,
  digests: CustomerDigests,
): Digests {
  const wanted = (field: OptionalField) => desired?.fields[field] ?? null
  const given = fields.filter((field) => wanted(field) !== null)
  return Object.fromEntries(given.map((field) => [field, digests.normal(field, wanted(field))]))
}

/** A value that a GET shows is the customer's own by now. A user found before a create succeeded explains its refusal. */
export function conflictAfterLookup(
  conflict: Conflicting | null,
  observed: RemoteUser['fields'],
  digests: CustomerDigests,
): Conflicting | null {
  if (conflict === null || conflict.phase === 'creating') return null
  const left = fieldsIn(conflict.values).filter((field) => {
    const shown = observed[field]
    const value = typeof shown === 'string' || typeof shown === 'number' ? shown : null
    return digests.normal(field, value) !== conflict.values[field]
  })
  if (left.length === 0) return null
  return { ...conflict, values: only(left, conflict.values) }
}

/**
 * Without a conflict: as mapped. Else the part that may be sent, and values that another user has count as not valid. Refused
 * again, the customer's earlier value is cleared at the service. It is not the customer's any more, and may be the very
 * one that another customer waits for. Where it is not known which of several values it is, none is cleared.
 */
export function withoutConflict(mapped: Mapped, known: Known): Mapped {
  const { conflict } = known
  if (mapped.kind !== 'user' || conflict === null || conflict.phase === 'due') return mapped
  const taken = fieldsIn(conflict.values)
  const fields = { ...mapped.user.fields }
  const unique = uniqueIn(taken)
  const yields = conflict.tries >= YIELDS_AT && unique.length === 1 && unique.flat().length === taken.length
  for (const field of taken) {
    if (yields && holdsValue(field, known)) fields[field] = null
    else delete fields[field]
  }
  return { ...mapped, user: { ...mapped.user, fields }, issues: [...mapped.issues, ...takenIssues(taken)] }
}

/** The user of this part; null where the customer is to have none. */
export function userWithoutConflict(mapped: Mapped, known: Known): DesiredUser | null {
  const sendable = withoutConflict(mapped, known)
  return sendable.kind === 'user' ? sendable.user : null
}

export function takenIssues(fields: readonly OptionalField[]): FieldIssue[] {
  return fields.map((field) => ({ field, code: 'taken', expected: 'a value that no other user has' }))
}

export function fieldsIn(values: Digests): OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => values[field] !== undefined)
}

function holdsValue(field: OptionalField, { sent, seen }: Known): boolean {
  return (seen[field] ?? sent[field] ?? NO_VALUE) !== NO_VALUE
}

type Refused = Pick<LedgerRecord, 'refused'>
type LeftOut = Refused & { readonly conflict: Conflicting | null }

/** Values that were left out, as far as no change has made that void. */
export function leftOutStill(
  memory: LeftOut & Pick<LedgerRecord, 'sent' | 'seen'>,
  mapped: Extract<Mapped, { kind: 'user' }>,
  digests: CustomerDigests,
): LeftOut {
  const conflict =
    memory.conflict && conflictStands(mapped.user, memory.conflict, digests) ? memory.conflict : null
  const user = userWithoutConflict(mapped, { ...memory, conflict })
  const stand = user !== null && currentRefusals(user, memory, digests).size > 0
  return { conflict, refused: stand ? memory.refused : {} }
}

/** Refused values are not sent again until one of them changes; then all are: which one was refused is not shown. */
export function currentRefusals(
  { fields: values }: DesiredUser,
  { refused }: Refused,
  digests: CustomerDigests,
): ReadonlySet<OptionalField> {
  const fields = OPTIONAL_FIELDS.filter((field) => refused[field] !== undefined)
  const stand = fields.every(
    (field) => values[field] !== undefined && refusedDigest(field, values, digests) === refused[field],
  )
  return new Set(stand ? fields : [])
}

/** Stands for a value that was refused. A number may have been refused for its prefix, so it goes with that. */
export function refusedDigest(field: OptionalField, fields: Fields, digests: CustomerDigests): string {
  const value = fields[field] ?? null
  const prefix = field === 'mobile_phone' ? fields.mobile_phone_prefix : null
  return digests.exact(field, value !== null && prefix ? `${prefix} ${value}` : value)
}

/** Field issues to record: what the mapping left out, and what the service refused. */
export function issuesOf(mapped: readonly FieldIssue[], memory: Refused): FieldIssue[] {
  const refused = OPTIONAL_FIELDS.filter((field) => memory.refused[field] !== undefined)
  const [code, expected] = ['refused', 'a value that the service takes'] as const
  return [...mapped, ...refused.map((field) => ({ field, code, expected }))]
}
