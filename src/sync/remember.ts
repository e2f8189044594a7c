import { type ComparableField, normalForm, sameField, seenForm } from '../model/normal.ts'
import {
  type DesiredUser,
  type Fields,
  OPTIONAL_FIELDS,
  type OptionalField,
  UNVERIFIABLE_FIELD,
} from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { conflictAfterLookup } from './conflict.ts'
import { countryAfterLostCreate, markHiddenUnknown } from './country.ts'
import { type CustomerDigests, UNKNOWN_VALUE } from './digest.ts'
import { afterErasure } from './erasure.ts'
import { acknowledgeSeen, type Memory } from './memory.ts'
import { fieldsOf, isStatusKept, type Plan } from './plan.ts'

/**
 * A GET said that there is no such user, or an update was answered with "not there". The acknowledged status and the field
 * that no GET shows are kept: the user may be there all the same (an address that knew no user for a while). A trial
 * that had ended must not be granted again for it.
 */
export function rememberAbsent(memory: Memory): Memory {
  const hidden = memory.sent[UNVERIFIABLE_FIELD]
  const sent = hidden === undefined ? {} : { [UNVERIFIABLE_FIELD]: hidden }
  const conflict = memory.conflict && { ...memory.conflict, phase: 'creating' as const }
  // An erasure of unknown outcome is owed as a whole, if the user is there all the same.
  const erased = Object.values(memory.sent).includes(UNKNOWN_VALUE) ? null : memory.erased && 'verified'
  return { ...memory, remote: 'absent', seenStatus: null, sent, seen: {}, conflict, erased }
}

/**
 * A GET's result replaces what is remembered. An acknowledged digest survives only where the GET agrees with it. So a
 * later change of spelling alone is still sent, and an edit at the service is seen.
 *
 * A GET that is not stored must not count as another return of a form: the lookup before the repair counts it.
 */
export function rememberSeen(
  memory: Memory,
  observed: RemoteUser,
  desired: DesiredUser | null,
  digests: CustomerDigests,
  { learns = true } = {},
): Memory {
  const fields = desired?.fields ?? {}
  const sides = { desired: fields, observed: observed.fields }
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
    const same = sameField(field, fields, observed.fields)
    const stands = wanted !== undefined && acknowledged === digests.exact(field, wanted)
    if (learns && stands && same) observedForms = withoutForms(observedForms, [field])
    else if (learns && stands && !isOwnForm(field, sides, observedForms, digests))
      observedForms = returnedAs(field, observed.fields, { observedForms, digests, exact: acknowledged })
    const own = isOwnForm(field, sides, observedForms, digests)
    const form = own ? normalForm(field, wanted) : seenForm(field, fields, observed.fields)
    // An edited e-mail: `stands` is true, `same` and `own` are false. `seen` has the other digest, and `sent` loses its own.
    // A field that agrees keeps `sent`.
    seen[field] = digests.ofForm(field, form)
    if (stands && (own || same)) sent[field] = acknowledged
  }
  const seenStatus = storable(observed.status)
  const shown = { ...memory, remote: 'present' as const, seenStatus, seen, observedForms, lookedUp: true }
  if (memory.erased !== null) return afterErasure(memory, shown)
  const conflict = conflictAfterLookup(memory.conflict, observed.fields, digests)
  // The create was refused because the user is there: that was about no value.
  const refused = memory.creating ? {} : memory.refused
  return acknowledgeSeen({ ...shown, sent, refused, conflict, creating: false }, desired)
}

/** In place of a status that the interface does not have, and the ledger's column cannot hold. */
const STRANGE_STATUS = -1

function storable(status: number): number {
  return Number.isInteger(status) && status >= 0 && status <= 32_767 ? status : STRANGE_STATUS
}

/** So often must a form have come back again before it counts as the service's own. */
const ENOUGH_TIMES = 2

/** Both sides of a user: the desired fields, and those of a GET. */
type Sides = { readonly desired: Fields; readonly observed: RemoteUser['fields'] }

/**
 * Whether the service shows this value in the form that it has been seen to make of it: acknowledged twice more, it came back
 * in the same form twice more. Written again it would come back so again, so it counts as the same. Another value, or
 * another form, is none of it. The status has none: access is never a matter of form.
 */
export function isOwnForm(
  field: ComparableField,
  { desired, observed }: Sides,
  observedForms: Memory['observedForms'],
  digests: CustomerDigests,
): boolean {
  const known = observedForms[field]
  const wanted = desired[field]
  if (known === undefined || wanted === undefined) return false
  const [exact, form, times] = known
  return (
    times >= ENOUGH_TIMES &&
    exact === digests.exact(field, wanted) &&
    form === digests.ofForm(field, normalForm(field, observed[field]))
  )
}

/** The service has shown the value itself, or has not said that it took it: that is no form of its own. */
export function withoutForms(
  observedForms: Memory['observedForms'],
  fields: readonly OptionalField[],
): Memory['observedForms'] {
  return Object.fromEntries(
    Object.entries(observedForms).filter(([field]) => !fields.some((each) => each === field)),
  )
}

type Returning = {
  readonly observedForms: Memory['observedForms']
  readonly digests: CustomerDigests
  readonly exact: string
}

/** Once a value that was acknowledged, and is still desired, has come back in another form. */
function returnedAs(
  field: ComparableField,
  observed: RemoteUser['fields'],
  { observedForms, digests, exact }: Returning,
): Memory['observedForms'] {
  const form = digests.ofForm(field, normalForm(field, observed[field]))
  const [before, as, times] = observedForms[field] ?? [null, null, 0]
  return { ...observedForms, [field]: [exact, form, before === exact && as === form ? times + 1 : 0] }
}

/** After a write of unknown outcome. A field that no GET shows must be sent again if the call carried it. */
export function rememberUnknown(memory: Memory, plan: Plan): Memory {
  // A user who may be there by our call is no longer one that was never asked for.
  const remote = memory.remote === 'unasked' ? ('unknown' as const) : memory.remote
  const known = { ...statusAfterUnknown(memory, plan), remote }
  const carried = fieldsOf(plan).includes(UNVERIFIABLE_FIELD)
  if (plan.kind === 'create')
    return countryAfterLostCreate(known, plan.body[UNVERIFIABLE_FIELD] !== undefined)
  return carried ? markHiddenUnknown(known) : known
}

/** The earlier status counts no more: 0 shown where 4 was acknowledged would pass for a trial that ended. */
function statusAfterUnknown(memory: Memory, plan: Plan): Memory {
  const same = !('body' in plan) || plan.body.status === memory.sentStatus || isStatusKept(plan)
  return same ? memory : { ...memory, sentStatus: null, seenStatus: null }
}
