import { normalForm, sameField, seenForm } from '../model/normal.ts'
import { type DesiredUser, OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { conflictAfterLookup } from './conflict.ts'
import { type CustomerDigests, UNKNOWN_VALUE } from './digest.ts'
import { agreed, type Memory } from './memory.ts'
import { fieldsShown, isOwnForm, returnedAs, withoutForms } from './right.ts'

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
  const erased = Object.values(memory.sent).includes(UNKNOWN_VALUE) ? null : erasureAfterLookup(memory)
  return { ...memory, remote: 'absent', seenStatus: null, sent, seen: {}, conflict, erased }
}

/** A lookup has shown what became of an erasure. */
function erasureAfterLookup({ erased }: Pick<Memory, 'erased'>): Memory['erased'] {
  return erased === null ? null : 'verified'
}

/** Nothing shows any more what the service holds in the field that no GET shows. */
export function markHiddenUnknown(memory: Memory): Memory {
  return { ...memory, sent: { ...memory.sent, [UNVERIFIABLE_FIELD]: UNKNOWN_VALUE } }
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
  let { observedForms } = memory
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
    if (learns && stands && same) observedForms = withoutForms(observedForms, [field])
    else if (learns && stands && !isOwnForm(field, sides, observedForms, digests))
      observedForms = returnedAs(field, remote.fields, { observedForms, digests, exact: acknowledged })
    const own = isOwnForm(field, sides, observedForms, digests)
    const form = own ? normalForm(field, wanted) : seenForm(field, fields, remote.fields)
    seen[field] = digests.ofForm(field, form)
    if (stands && (own || same)) sent[field] = acknowledged
  }
  const seenStatus = storable(remote.status)
  const shown = { ...memory, remote: 'present' as const, seenStatus, seen, observedForms, lookedUp: true }
  if (memory.erased !== null) return afterErasure(memory, shown)
  const conflict = conflictAfterLookup(memory.conflict, remote.fields, digests)
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
  if (left.some((field) => sent[field] === UNKNOWN_VALUE)) return { ...shown, erased: null, sent: {} }
  const known = Object.entries(sent).filter(
    ([field, mark]) => mark !== UNKNOWN_VALUE || field === UNVERIFIABLE_FIELD,
  )
  return { ...shown, erased: erasureAfterLookup({ erased }), sent: Object.fromEntries(known) }
}

/** In place of a status that the interface does not have, and the ledger's column cannot hold. */
const STRANGE_STATUS = -1

function storable(status: number): number {
  return Number.isInteger(status) && status >= 0 && status <= 32_767 ? status : STRANGE_STATUS
}
