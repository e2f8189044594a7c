// The consequences of an answer that refuses, or says neither yes nor no.
import type { Reason, ReasonCode } from '../ledger/reason.ts'
import { OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { Facts } from './call.ts'
import {
  conflictDigests,
  currentRefusals,
  isAbout,
  likelyFields,
  refusedDigest,
  withConflict,
} from './conflict.ts'
import { markHiddenUnknown } from './country.ts'
import type { Memory, SetAside } from './memory.ts'
import { type Absorbed, type ClaimEnd, resultOfCalls, retry } from './next-plan.ts'
import { fieldsOf, type Plan } from './plan.ts'
import { rememberUnknown } from './remember.ts'

/** Codes, statuses and names only: a reason is stored, logged and shown. */
export function reasonOf(code: ReasonCode, { plan, status, error, named }: Facts): Reason {
  // Not those without a value, which a create has not carried.
  const fields = fieldsOf(plan).filter((field) => plan.kind !== 'create' || plan.body[field] !== undefined)
  const known = named.filter((field) => fields.includes(field))
  return {
    code,
    ...(status === null ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(fields.length > 0 ? { fields } : {}),
    ...(known.length > 0 ? { named: known } : {}),
  }
}

/**
 * Create refused in any way: the user may exist, so a lookup comes first. Update refused: where the answer names some of the fields,
 * the others go without them, as often as it names some. Nothing named: access matters most, so the status goes
 * alone; refused alone as well, it is for a person. These are tried again instead: the end of access, which is never
 * given up; an erasure, as far as it was refused; a status that went alone because access came first; an answer to a
 * status alone that cannot be about it (too large, or a conflict, since no other user can have it).
 */
export function absorbRefusal(memory: Memory, facts: Facts): Absorbed {
  const { plan } = facts
  const status = facts.status ?? 0
  if (plan.kind === 'create') {
    const fields = OPTIONAL_FIELDS.filter((field) => plan.body[field] !== undefined)
    const some = blamed(facts.named, fields)
    const refusedCreate = { status, fields, named: some, conflict: facts.conflict }
    const after = { ...markHiddenUnknown(memory), remote: 'unknown' as const, refusedCreate }
    const { lookups } = resultOfCalls(memory)
    return lookups > 0 ? afterRefusedCreate(after, refusedCreate, facts) : { memory: after }
  }
  const fields = fieldsOf(plan)
  if (plan.kind === 'erase') return absorbRefusedErasure(memory, facts, fields)
  if (fields.length > 0) {
    const aside = setAside(memory, facts, fields)
    if (!aside.alone || !isRefusedAgain(memory, facts, aside))
      return { memory: { ...memory, setAside: aside } }
    return { memory: { ...rememberRefused(memory, aside, facts), setAside: null } }
  }
  const tried = memory.setAside ? { fields: memory.setAside.fields } : {}
  const reason = { ...reasonOf('refused', facts), ...tried }
  const endsAccess = plan.kind === 'revoke' || facts.desired?.status === 0
  const split = facts.accessFirst === true && !memory.setAside
  const again = endsAccess || split || NOT_ABOUT_STATUS.has(status)
  return { memory: { ...memory, setAside: null }, end: again ? retry(reason) : rejected(reason) }
}

const rejected = (reason: Reason): ClaimEnd => ({ kind: 'settle', state: 'rejected', reason })

/** The same values as the last time: that they are all there is against the user need not be found out once more. */
function isRefusedAgain({ conflict }: Memory, facts: Facts, { fields }: SetAside): boolean {
  return facts.conflict && conflict?.phase === 'due' && isAbout(conflict, fields)
}

function setAside(
  { setAside: before, conflict: known }: Memory,
  { named, conflict }: Facts,
  fields: readonly OptionalField[],
): SetAside {
  // Without the field that was named it is refused all the same: another one is to blame.
  const misled = conflict && before?.credible === true && !fields.some((field) => named.includes(field))
  const [tried, earlier] = misled ? [joined(fields, before.fields), null] : [fields, before]
  const notCredible = misled || before?.credible === false
  const blamedFields = conflict && notCredible ? [] : blamed(named, fields)
  const some = blamedFields.length === 0 && conflict ? likelyFields(tried, known) : blamedFields
  const aside = some.length > 0 ? some : tried
  return {
    fields: joined(aside, earlier?.fields),
    conflicting: joined(conflict ? aside : [], earlier?.conflicting),
    alone: some.length === 0,
    credible: notCredible ? false : conflict && blamedFields.length > 0 ? true : (before?.credible ?? null),
  }
}

function joined(fields: readonly OptionalField[], others: readonly OptionalField[] = []): OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => fields.includes(field) || others.includes(field))
}

/** Documented as nullable, the only one (section 2.6). */
const NULLABLE: OptionalField = 'description'

/**
 * The fields that the answer names are left out of the next try; without such names, or refused again, what may surely
 * be empty goes alone. Three calls at most; what could not be cleared is tried again later.
 */
function absorbRefusedErasure(memory: Memory, facts: Facts, fields: readonly OptionalField[]): Absorbed {
  const { setAside: before } = memory
  const some = before ? [] : blamed(facts.named, fields)
  const kept = fields.filter((field) => (some.length > 0 ? !some.includes(field) : field === NULLABLE))
  const tried = joined(fields, before?.fields)
  if (kept.length === 0 || kept.length === fields.length) {
    const reason = { ...reasonOf('erasure-refused', facts), fields: tried }
    return { memory: { ...memory, setAside: null }, end: retry(reason) }
  }
  const aside = tried.filter((field) => !kept.includes(field))
  return { memory: { ...memory, setAside: { fields: aside, conflicting: [], alone: false, credible: null } } }
}

/** An answer that names every field tells nothing: it may repeat the request. */
export function blamed(
  named: readonly OptionalField[],
  fields: readonly OptionalField[],
): readonly OptionalField[] {
  const some = fields.filter((field) => named.includes(field))
  return some.length < fields.length ? some : []
}

/** Nothing is smaller than a status alone, and no other user can have it. */
const NOT_ABOUT_STATUS = new Set([409, 413, 414, 431])

/** These say something about the address, and nothing about the values. */
const NOT_ABOUT_VALUES = new Set([404, 410])

/**
 * The create was refused although no user is there: the optional fields, or those that the answer names, are set aside
 * for the next create. 404 and 410 can only mean the address: try later.
 */
export function afterRefusedCreate(
  memory: Memory,
  refusal: NonNullable<Memory['refusedCreate']>,
  facts: Facts,
): Absorbed {
  const { status, fields, named, conflict } = refusal
  if (conflict) return afterConflict(memory, refusal, facts)
  const reason: Reason = { code: 'refused', status, fields, ...(named.length > 0 ? { named } : {}) }
  const split = facts.accessFirst === true && fields.length === 0
  if (NOT_ABOUT_VALUES.has(status) || split) return { memory, end: retry(reason) }
  // Refused without them as well: no field was to blame, or the service insists on one. The next create has all of them
  // again; a value that another user has may be free by then.
  if (fields.length === 0) {
    const end = memory.conflict ? retry(reason) : rejected(reason)
    return { memory: { ...memory, refused: {}, conflict: null }, end }
  }
  const aside = { fields: named.length > 0 ? named : fields, conflicting: [] }
  return { memory: rememberRefused(memory, aside, facts), end: retry(reason) }
}

/**
 * Another user has one of the values, or the service knows this user and does not show it yet. With nothing but the
 * `user_id` it can only be the latter: no value was to blame, and the next create has all of them again.
 */
function afterConflict(
  memory: Memory,
  { status, fields, named }: NonNullable<Memory['refusedCreate']>,
  facts: Facts,
): Absorbed {
  const reason: Reason = { code: 'conflict', status, ...(named.length > 0 ? { named } : {}) }
  const aside = named.length > 0 ? named : fields
  const known =
    fields.length === 0
      ? { ...memory, conflict: null }
      : rememberRefused(memory, { fields: aside, conflicting: aside }, facts)
  return { memory: known, end: retry(reason) }
}

/**
 * The values that were left out: those that another user has are sent again when their time has come, all others not until one
 * of them changes. No other user can have an empty value.
 */
export function rememberRefused(
  memory: Memory,
  { fields, conflicting }: Pick<SetAside, 'fields' | 'conflicting'>,
  { desired, digests }: Pick<Facts, 'desired' | 'digests'>,
): Memory {
  const marks = conflictDigests(conflicting, desired, digests)
  // Beside a value that another user has, that there is no value was not to blame.
  const innocent = (field: OptionalField) => conflicting.includes(field) && Object.keys(marks).length > 0
  const refused = fields
    .filter((field) => marks[field] === undefined && !innocent(field))
    .map((field) => [field, refusedDigest(field, desired?.fields ?? {}, digests)])
  // A mark that stands no longer would have this one count for nothing, and the claim send the same again.
  const stand = desired === null || currentRefusals(desired, memory, digests).size > 0
  return {
    ...memory,
    refused: { ...(stand ? memory.refused : {}), ...Object.fromEntries(refused) },
    conflict: withConflict(memory.conflict, {
      values: marks,
      phase: memory.remote === 'present' ? 'waiting' : 'creating',
    }),
  }
}

/**
 * An answer that says neither yes nor no. An update of a user that this claim has looked up counts as done. Otherwise
 * a service that always answers so would be sent it for ever; one more lookup follows. `country_code`, which that could
 * not correct, is sent once more at once. Effects that a GET can show stay unknown until one does: a create, another
 * status, and an erasure, which is sent again as a whole while a GET shows what it was to clear.
 */
export function absorbUnclear(
  before: Memory,
  { counted, afterUnknown }: Record<'counted' | 'afterUnknown', Memory>,
  facts: Facts,
): Absorbed {
  const { plan } = facts
  const again = resultOfCalls(before).takenForYes
  const end: ClaimEnd = { kind: 'unknown', reason: reasonOf('unclear', facts) }
  if (before.lookedUp && plan.kind === 'erase') return { memory: counted, end }
  if (!before.lookedUp || !isStatusShown(plan, before))
    return { memory: rememberUnknown(afterUnknown, plan), end }
  if (again || !fieldsOf(plan).includes(UNVERIFIABLE_FIELD)) return { memory: counted }
  return { memory: markHiddenUnknown(counted) }
}

/** A status has no form of the service's own: what a lookup has not shown is not there yet. */
function isStatusShown(plan: Plan, { seenStatus, sentStatus }: Memory): boolean {
  if (plan.kind !== 'patch' && plan.kind !== 'replace') return false
  return plan.keepsStatus || plan.body.status === (seenStatus ?? sentStatus)
}
