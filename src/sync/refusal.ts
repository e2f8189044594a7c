import type { Reason } from '../ledger/record.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import { type Facts, fieldsOf, reasonOf, type Step } from './answer.ts'
import { doubtHidden } from './remember.ts'
import type { SetAside, Turn } from './turn.ts'

/**
 * Create refused in any way: the user may exist, so look. Update refused: where the answer names some of the fields,
 * the others go without them. Refused again, or nothing named: access matters most, so the status goes alone; refused
 * alone as well, it is for a person. But a revocation is tried again: the row is gone, and nothing would change any
 * more. And so is an erasure, as far as it was refused, and a status alone that is too large for somebody: that can be
 * no judgement on it.
 */
export function absorbRefusal(turn: Turn, facts: Facts): Step {
  const { plan } = facts
  const status = facts.status ?? 0
  if (plan.kind === 'create') {
    const fields = OPTIONAL_FIELDS.filter((field) => plan.body[field] !== undefined)
    const some = blamed(facts.named, fields)
    const refusedCreate = { status, fields, named: some }
    const memory = { ...doubtHidden(turn.memory), remote: 'unknown' as const }
    const after = { ...turn, memory, refusedCreate }
    return turn.lookups > 0 ? afterRefusedCreate(after, refusedCreate, facts) : { turn: after }
  }
  const fields = fieldsOf(plan)
  if (plan.kind === 'erase') return absorbRefusedErasure(turn, facts, fields)
  if (fields.length > 0) return { turn: { ...turn, setAside: setAside(turn, facts, fields) } }
  const tried = turn.setAside ? { fields: turn.setAside.fields } : {}
  const reason = { ...reasonOf('refused', facts), ...tried }
  if (plan.kind === 'revoke' || TOO_LARGE.has(status))
    return { turn: { ...turn, setAside: null }, end: { kind: 'retry', reason, failed: true } }
  return { turn: { ...turn, setAside: null }, end: { kind: 'settle', state: 'rejected', reason } }
}

function setAside(
  { setAside: before }: Turn,
  { named, status }: Facts,
  fields: readonly OptionalField[],
): SetAside {
  const some = before ? [] : blamed(named, fields)
  const all = OPTIONAL_FIELDS.filter((field) => fields.includes(field) || before?.fields.includes(field))
  return { status: status ?? 0, fields: some.length > 0 ? some : all, alone: some.length === 0 }
}

/** Documented as nullable, the only one (section 2.6). */
const NULLABLE: OptionalField = 'description'

/**
 * The fields that the answer names are left out of the next try; without such names, or refused again, what may surely
 * be empty goes alone. Three calls at most; what could not be cleared is tried again later.
 */
function absorbRefusedErasure(turn: Turn, facts: Facts, fields: readonly OptionalField[]): Step {
  const { setAside: before } = turn
  const some = before ? [] : blamed(facts.named, fields)
  const kept = fields.filter((field) => (some.length > 0 ? !some.includes(field) : field === NULLABLE))
  const tried = OPTIONAL_FIELDS.filter((field) => fields.includes(field) || before?.fields.includes(field))
  if (kept.length === 0 || kept.length === fields.length) {
    const reason = { ...reasonOf('refused', facts), fields: tried }
    return { turn: { ...turn, setAside: null }, end: { kind: 'retry', reason, failed: true } }
  }
  const aside = tried.filter((field) => !kept.includes(field))
  return { turn: { ...turn, setAside: { status: facts.status ?? 0, fields: aside, alone: false } } }
}

/** An answer that names every field tells nothing: it may repeat the request. */
export function blamed(
  named: readonly OptionalField[],
  fields: readonly OptionalField[],
): readonly OptionalField[] {
  const some = fields.filter((field) => named.includes(field))
  return some.length < fields.length ? some : []
}

/** Nothing is smaller than a status alone. */
const TOO_LARGE = new Set([413, 414, 431])

/** These say something about the address or about somebody who is there, and nothing about the values. */
const NOT_ABOUT_VALUES = new Set([404, 409, 410])

/**
 * The create was refused although nobody is there. 409 claims that somebody is (the service may lag), 404 and
 * 410 can only mean the address: try later. Else the optional fields, or those that the answer names, are set aside
 * for the next create.
 */
export function afterRefusedCreate(
  turn: Turn,
  refusal: NonNullable<Turn['refusedCreate']>,
  facts: Facts,
): Step {
  const { status, fields, named } = refusal
  const reason: Reason = { code: 'refused', status, fields, ...(named.length > 0 ? { named } : {}) }
  if (NOT_ABOUT_VALUES.has(refusal.status)) return { turn, end: { kind: 'retry', reason, failed: true } }
  if (refusal.fields.length === 0) return { turn, end: { kind: 'settle', state: 'rejected', reason } }
  const aside = refusal.named.length > 0 ? refusal.named : refusal.fields
  const refused = { ...turn.memory.refused, ...refusalMarks(aside, facts) }
  return {
    turn: { ...turn, memory: { ...turn.memory, refused } },
    end: { kind: 'retry', reason, failed: true },
  }
}

/** The refused values, so that they are not sent again until one of them changes. */
export function refusalMarks(
  fields: readonly OptionalField[],
  { desired, digests }: Pick<Facts, 'desired' | 'digests'>,
): Readonly<Partial<Record<OptionalField, string>>> {
  return Object.fromEntries(
    fields.map((field) => [field, digests.exact(field, desired?.fields[field] ?? null)]),
  )
}
