import { normalForm, sameField, seenForm } from '../model/normal.ts'
import { type DesiredUser, OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { conflictAfterLook, conflictOnceCreated } from './conflict.ts'
import { type CustomerDigests, DOUBTED, NO_VALUE } from './digest.ts'
import { isLearnt, returnedAs, unlearnt } from './learnt.ts'
import { agreed, type Memory } from './memory.ts'
import { fieldsOf, isStatusKept, type Plan, type WritePlan } from './plan.ts'
import { fieldsShown, PHONE } from './right.ts'

/**
 * A GET said that there is no such user, or an update was answered with "not there". The agreed status and the field
 * that no GET shows are kept: the user may be there all the same (an address that knew no user for a while). A trial
 * that had ended must not be granted again for it.
 */
export function rememberAbsent(memory: Memory): Memory {
  const hidden = memory.sent[UNVERIFIABLE_FIELD]
  const sent = hidden === undefined ? {} : { [UNVERIFIABLE_FIELD]: hidden }
  const conflict = memory.conflict && { ...memory.conflict, phase: 'creating' as const }
  // An erasure of unknown outcome is owed as a whole, if the user is there all the same.
  const erased = Object.values(memory.sent).includes(DOUBTED) ? null : lookedAt(memory)
  return { ...memory, remote: 'absent', seenStatus: null, sent, seen: {}, conflict, erased }
}

/** A look has shown what became of an erasure. */
function lookedAt({ erased }: Pick<Memory, 'erased'>): Memory['erased'] {
  return erased === null ? null : 'verified'
}

/** Nothing shows any more what the service holds in the field that no GET shows. */
export function doubtHidden(memory: Memory): Memory {
  return { ...memory, sent: { ...memory.sent, [UNVERIFIABLE_FIELD]: DOUBTED } }
}

/**
 * A GET's result replaces what is remembered. An acknowledged digest survives only where the GET agrees with it. So a
 * later change of spelling alone is still sent, and an edit at the service is seen.
 *
 * A GET that is not stored must not count as another return of a form: the lookup before the repair counts it.
 */
export function rememberSeen(
  memory: Memory,
  remote: RemoteUser,
  desired: DesiredUser | null,
  digests: CustomerDigests,
  { learns = true } = {},
): Memory {
  const fields = desired?.fields ?? {}
  const sides = { desired: fields, remote: remote.fields }
  let { learnt } = memory
  const seen: Partial<Record<OptionalField, string>> = {}
  const sent: Partial<Record<OptionalField, string>> = {}
  for (const field of OPTIONAL_FIELDS) {
    const wanted = fields[field]
    const acknowledged = memory.sent[field]
    if (field === UNVERIFIABLE_FIELD) {
      if (acknowledged !== undefined) sent[field] = acknowledged
      continue
    }
    const same = sameField(field, fields, remote.fields)
    const stands = wanted !== undefined && acknowledged === digests.exact(field, wanted)
    if (learns && stands && same) learnt = unlearnt(learnt, [field])
    else if (learns && stands && !isLearnt(field, sides, learnt, digests))
      learnt = returnedAs(field, remote.fields, { learnt, digests, exact: acknowledged })
    const own = isLearnt(field, sides, learnt, digests)
    const form = own ? normalForm(field, wanted) : seenForm(field, fields, remote.fields)
    seen[field] = digests.ofForm(field, form)
    if (stands && (own || same)) sent[field] = acknowledged
  }
  const seenStatus = storable(remote.status)
  const shown = { ...memory, remote: 'present' as const, seenStatus, seen, learnt, looked: true }
  if (memory.erased !== null) return afterErasure(memory, shown)
  const conflict = conflictAfterLook(memory.conflict, remote.fields, digests)
  // The create was refused because the user is there: that was about no value.
  const refused = memory.creating ? {} : memory.refused
  return agreed({ ...shown, sent, refused, conflict, creating: false }, desired)
}

/**
 * An erasure that was answered neither yes nor no was not carried out where what it cleared is still shown. A field that the
 * service refused to clear and does not show is empty.
 */
function afterErasure({ sent, erased, refused }: Memory, seen: Memory): Memory {
  const left = fieldsShown(seen)
  const stands = ([name]: [string, unknown]) =>
    name === UNVERIFIABLE_FIELD || left.some((field) => field === name)
  const shown = { ...seen, refused: Object.fromEntries(Object.entries(refused).filter(stands)) }
  if (left.some((field) => sent[field] === DOUBTED)) return { ...shown, erased: null, sent: {} }
  const known = Object.entries(sent).filter(
    ([field, mark]) => mark !== DOUBTED || field === UNVERIFIABLE_FIELD,
  )
  return { ...shown, erased: lookedAt({ erased }), sent: Object.fromEntries(known) }
}

/** In place of a status that the interface does not have, and the ledger's column cannot hold. */
const STRANGE_STATUS = -1

function storable(status: number): number {
  return Number.isInteger(status) && status >= 0 && status <= 32_767 ? status : STRANGE_STATUS
}

type Acknowledged = {
  readonly desired: DesiredUser | null
  readonly plan: WritePlan
  /** The answer said neither yes nor no. */
  readonly unclear?: boolean
}

/** The service acknowledged a write: what it carried is now what is known, in place of what was seen. */
export function rememberSent(memory: Memory, write: Acknowledged, digests: CustomerDigests): Memory {
  const { desired, plan, unclear } = write
  if (plan.kind === 'erase') return rememberErased(memory, plan, unclear)
  const whole = plan.kind === 'create' || plan.kind === 'replace'
  const sent: Partial<Record<OptionalField, string>> = whole ? {} : { ...memory.sent }
  const seen: Partial<Record<OptionalField, string>> = whole ? {} : { ...memory.seen }
  for (const field of fieldsOf(plan)) {
    const value = desired?.fields[field]
    if (value === undefined) continue
    sent[field] = digests.exact(field, value)
    // A GET may show a number joined with its prefix: what it showed of one half says nothing once the other
    // half is written.
    for (const half of PHONE.includes(field) ? PHONE : [field]) delete seen[half]
  }
  const status = isStatusKept(plan) ? {} : { sentStatus: plan.body.status, seenStatus: null }
  const conflict = plan.kind === 'create' ? conflictOnceCreated(memory.conflict) : memory.conflict
  const learnt = unclear ? unlearnt(memory.learnt, fieldsOf(plan)) : memory.learnt
  return { ...memory, ...status, remote: 'present', sent, seen, conflict, learnt, creating: false }
}

/** Nothing is left to compare with; what was cleared a second time, because a look had shown it, is marked. */
function rememberErased(
  memory: Memory,
  { fields, body: { status } }: Extract<Plan, { readonly kind: 'erase' }>,
  unclear = false,
): Memory {
  const { erased, refused } = memory
  const again = erased === null ? [] : fields.filter((field) => refused[field] === undefined)
  const inDoubt = unclear ? fields.filter((field) => field !== UNVERIFIABLE_FIELD) : []
  const marks = Object.fromEntries([
    ...again.map((field) => [field, NO_VALUE]),
    ...inDoubt.map((field) => [field, DOUBTED]),
  ])
  return {
    ...memory,
    ...{ remote: 'present', sentStatus: status, seenStatus: null, looked: false, erased: 'sent' },
    ...{ sent: erased === null ? marks : { ...memory.sent, ...marks }, seen: {}, refused: {} },
  }
}
