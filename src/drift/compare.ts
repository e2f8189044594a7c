// Judges what a GET shows of a customer to which nothing is owed: drift is a check whose plan would write. Pure.
import { type KnownRecord, NEVER_SETTLED } from '../ledger/record.ts'
import { userIdOf } from '../model/mapped.ts'
import type { ComparableField } from '../model/normal.ts'
import { entitled, OPTIONAL_FIELDS, type Status, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { NO_VALUE } from '../sync/digest.ts'
import { wrongFields } from '../sync/plan.ts'
import { isOwnForm } from '../sync/remember.ts'
import { planAfter, planNow, type Snapshot } from '../sync/snapshot.ts'
import type { CheckVerdict, DriftCause, DriftField, DriftKind, DriftVerdict, Shown } from './words.ts'

/** The user that a GET showed; `unreadable`: a 2xx that is no user, or another one. */
export type Observed = RemoteUser | 'absent' | 'unreadable'

type Known = {
  /** Fields that writes of unknown outcome carried since a GET last agreed. */
  readonly unclear: readonly string[]
  readonly generation: string
}

export function compare(
  snapshot: Snapshot,
  observed: Observed,
  known: Known,
): Exclude<CheckVerdict, { why: unknown }> {
  const { mapped, work } = snapshot
  if (observed === 'unreadable') return drift('unreadable', { cause: changedSince(known.unclear, work) })
  const { plan, memory } = planAfter(snapshot, observed)
  const causes = causesOf(snapshot, known)
  switch (plan.kind) {
    case 'none': {
      if (observed === 'absent') return { kind: 'agrees', absent: existed(snapshot) ? 'gone' : 'known' }
      const ended = mapped.kind === 'user' && mapped.user.status !== observed.status
      return ended ? drift('trial-ended', { fields: ['status'] }) : { kind: 'agrees' }
    }
    case 'create':
      return drift('missing', { cause: causes.absence(), access: wrongAccess(plan.body.status, 0) })
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
      const fields = wrongFields({ ...snapshot, memory }).filter(isVisible)
      if (fields.length === 0 || mapped.kind !== 'user' || observed === 'absent')
        return { kind: 'agrees', unverifiable: true }
      const access = fields.includes('status') ? wrongAccess(mapped.user.status, observed.status) : null
      return drift('differs', { fields, cause: causes.ofFields(fields), access })
    }
    // Such customers are skipped before a GET.
    case 'lookup':
    case 'reject':
      return { kind: 'agrees' }
    default:
      return plan satisfies never
  }
}

/** Nothing is remembered of a user with another `user_id` than the record was made under. */
export function recordOfUser({ work: { record }, mapped }: Pick<Snapshot, 'work' | 'mapped'>): KnownRecord {
  const userId = userIdOf(mapped)
  const another = userId !== null && record.userId !== null && record.userId !== userId
  return another ? NEVER_SETTLED : record
}

/** A check of an erased user changes nothing in the record: a second one would say that the user has vanished again. */
function existed(snapshot: Snapshot): boolean {
  const { remote, erased } = recordOfUser(snapshot)
  return remote === 'present' && erased === null
}

type UnverifiableField = typeof UNVERIFIABLE_FIELD

function isVisible<Field extends DriftField | UnverifiableField>(
  field: Field,
): field is Exclude<Field, UnverifiableField> {
  return field !== UNVERIFIABLE_FIELD
}

function drift(kind: DriftKind, said: Partial<DriftVerdict>): DriftVerdict {
  return { kind, fields: [], cause: null, access: null, ...said }
}

/** A status that the interface does not have says nothing of access. */
function wrongAccess(here: Status, there: number): DriftVerdict['access'] {
  if (entitled(here)) return there === 0 ? 'lost' : null
  return entitled(there) ? 'undue' : null
}

/** The first that holds for any field is that of the user: our own doing is said before another's. */
const ORDER: readonly DriftCause[] = ['unknown-outcome', 'mapping-changed', 'never-delivered']

type UnknownOutcome = Pick<Snapshot['work'], 'unverified' | 'hiddenUnknown'>

/** Fields that the service once had: no call of ours since then may have changed them. */
function changedSince(unclear: readonly string[], { unverified, hiddenUnknown }: UnknownOutcome): DriftCause {
  return unverified || hiddenUnknown || unclear.length > 0 ? 'unknown-outcome' : 'edited-at-service'
}

/**
 * Why the service disagrees, as far as the records tell. `edited-at-service` is claimed only where the desired value was
 * acknowledged or shown once, and no call of ours since then may have changed it. Digests of another key tell nothing:
 * then nothing is known to have been delivered.
 */
export function causesOf(snapshot: Snapshot, { unclear, generation }: Known) {
  const { work, mapped, digests, desiredDigest } = snapshot
  const record = recordOfUser(snapshot)
  const comparable = record.digestKeyId === digests.keyId
  const older = work.generation !== null && BigInt(work.generation) < BigInt(generation)
  const remapped =
    older && comparable && work.record.desiredDigest !== null && work.record.desiredDigest !== desiredDigest
  const undelivered = remapped ? 'mapping-changed' : 'never-delivered'

  function changed(field: DriftField, delivered: boolean): DriftCause {
    if (!delivered) return undelivered
    return changedSince(unclear.includes(field) ? [field] : [], work)
  }

  function ofField(field: DriftField): DriftCause {
    if (field === 'status') return ofStatus()
    if (!comparable) return 'never-delivered'
    const [sent, seen] = [record.sent[field], record.seen[field]]
    const value = mapped.kind === 'user' ? mapped.user.fields[field] : undefined
    // A field that the mapping does not set was as it should be while it was empty.
    if (value === undefined)
      return changed(field, seen === NO_VALUE || (seen === undefined && record.verifiedAgoMs !== null))
    const delivered =
      sent === undefined ? seen === digests.normal(field, value) : sent === digests.exact(field, value)
    return changed(field, delivered)
  }

  function ofStatus(): DriftCause {
    const { sentStatus } = planNow(snapshot).memory
    if (sentStatus === null && record.sentStatus !== null) return 'unknown-outcome'
    return changed('status', sentStatus === (mapped.kind === 'user' ? mapped.user.status : 0))
  }

  return {
    ofField,
    ofFields(fields: readonly DriftField[]): DriftCause {
      const causes = fields.map(ofField)
      return ORDER.find((cause) => causes.includes(cause)) ?? 'edited-at-service'
    },
    /** The difference of a user that is desired and missing. Every call of unknown outcome could have been about that. */
    absence(): DriftCause {
      // A clear refusal of the last call, and no crash since then.
      const refused = record.reason?.code === 'refused' && !work.hiddenUnknown
      if (!refused && (work.unknown || record.remote === 'unknown')) return 'unknown-outcome'
      return record.remote === 'present' ? changedSince(unclear, work) : undelivered
    },
  }
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
