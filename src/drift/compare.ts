// Judges what a GET shows of a customer to which nothing is owed. It differs if the plan would write something that a GET
// shows, or if a trial has ended. Pure.
import type { ComparableField } from '../model/normal.ts'
import { entitled, OPTIONAL_FIELDS, type Status, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { NO_VALUE } from '../sync/digest.ts'
import { wrongFields } from '../sync/plan.ts'
import { isOwnForm } from '../sync/remember.ts'
import { planAfter, recordOfUser, type Snapshot } from '../sync/snapshot.ts'
import { type CauseInputs, causesOf } from './causes.ts'
import type { CheckVerdict, DriftField, DriftKind, DriftVerdict, Shown } from './words.ts'

/** The user that a GET showed; `unreadable`: a 2xx that is no user, or another one. */
export type Observed = RemoteUser | 'absent' | 'unreadable'

type Compared = Exclude<CheckVerdict, { why: unknown }>

export function compare(snapshot: Snapshot, observed: Observed, known: CauseInputs): Compared {
  const { mapped, work } = snapshot
  if (observed === 'unreadable') return drift('unreadable', {})
  // in the example: a patch, since the e-mail is wrong; the status is right, but every update carries it
  const { plan, memory } = planAfter(snapshot, observed)
  const causes = causesOf(snapshot, known)
  switch (plan.kind) {
    case 'none': {
      if (observed === 'absent') return { kind: 'agrees', absent: existed(snapshot) ? 'gone' : 'known' }
      const ended = mapped.kind === 'user' && mapped.user.status !== observed.status
      return ended ? drift('trial-ended', { fields: ['status'] }) : { kind: 'agrees' }
    }
    case 'create':
      return drift('missing', { cause: causes.ofAbsence(), access: accessDifference(plan.body.status, 0) })
    case 'revoke':
      return drift('unexpected-access', { cause: causes.ofFields(['status']), access: 'undue' })
    case 'erase': {
      const cause = work.record.erased === null ? 'never-delivered' : 'edited-at-service'
      const fields = plan.fields.filter((field) => (memory.seen[field] ?? NO_VALUE) !== NO_VALUE)
      const shown = fields.filter(isVisible).filter((field) => work.record.refused[field] === undefined)
      return shown.length > 0 ? drift('differs', { fields: shown, cause }) : { kind: 'agrees' }
    }
    case 'patch':
    case 'replace': {
      const fields = wrongFields({ ...snapshot, memory }).filter(isVisible) // in the example: email
      if (fields.length === 0 || mapped.kind !== 'user' || observed === 'absent')
        return { kind: 'agrees', unverifiable: true }
      const access = fields.includes('status') ? accessDifference(mapped.user.status, observed.status) : null
      return drift('differs', { fields, cause: causes.ofFields(fields), access }) // edited-at-service, null
    }
    // `lookup`: the GET of the check was one. `reject`: skipped before the GET.
    case 'lookup':
    case 'reject':
      return { kind: 'agrees' }
    default:
      return plan satisfies never
  }
}

/** A check of an erased user changes nothing in the record: a second one would say that the user has vanished again. */
function existed(snapshot: Snapshot): boolean {
  const { remote, erased } = recordOfUser(snapshot)
  return remote === 'present' && erased === null
}

function isVisible<Field extends string>(field: Field): field is Exclude<Field, typeof UNVERIFIABLE_FIELD> {
  return field !== UNVERIFIABLE_FIELD
}

function drift(kind: DriftKind, said: Partial<DriftVerdict>): DriftVerdict {
  return { kind, fields: [], cause: null, access: null, ...said }
}

/** A status that the interface does not have says nothing of access. */
function accessDifference(here: Status, there: number): DriftVerdict['access'] {
  if (entitled(here)) return there === 0 ? 'lost' : null
  return entitled(there) ? 'undue' : null
}

/** Fields that the service shows in a form of its own that counts as the same. */
export function ownFormsOf({ mapped, work, digests }: Snapshot, observed: Observed) {
  if (mapped.kind !== 'user' || typeof observed === 'string' || work.record.digestKeyId !== digests.keyId)
    return []
  const sides = { desired: mapped.user.fields, observed: observed.fields }
  return OPTIONAL_FIELDS.filter(
    (field): field is ComparableField =>
      field !== UNVERIFIABLE_FIELD && isOwnForm(field, sides, work.record.observedForms, digests),
  )
}

type Values = Readonly<Partial<Record<DriftField, unknown>>>

/** The fields that differ, as values; of an unexpected access the status, though no field is named. */
export function shownOf(
  { mapped }: Pick<Snapshot, 'mapped'>,
  observed: Observed,
  { kind, fields }: DriftVerdict,
): readonly Shown[] {
  if (typeof observed === 'string') return []
  const here: Values = mapped.kind === 'user' ? { ...mapped.user.fields, status: mapped.user.status } : {}
  const service: Values = { ...observed.fields, status: observed.status }
  const named: readonly DriftField[] = kind === 'unexpected-access' ? ['status'] : fields
  return named.map((field) => ({ field, here: here[field] ?? null, service: service[field] ?? null }))
}
