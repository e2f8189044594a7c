// Why the service shows another user than the customer, as far as the records tell. Pure.
import type { OptionalField } from '../model/user.ts'
import { NO_VALUE } from '../sync/digest.ts'
import { planNow, recordOfUser, type Snapshot } from '../sync/snapshot.ts'
import type { DriftCause } from './words.ts'

export type CauseInputs = {
  /** Fields that writes of unknown outcome carried since a GET last agreed. */
  readonly unclear: readonly string[]
  readonly generation: string
}

type Field = 'status' | OptionalField

/** The first that holds for any field is that of the user: our own doing is said before another's. */
const ORDER: readonly DriftCause[] = ['unknown-outcome', 'mapping-changed', 'never-delivered']

type UnknownOutcome = Pick<Snapshot['work'], 'unverified' | 'hiddenUnknown'>

/** Fields that the service once had: no call of ours since then may have changed them. */
function causeOfChange(unclear: readonly string[], { unverified, hiddenUnknown }: UnknownOutcome) {
  return unverified || hiddenUnknown || unclear.length > 0 ? 'unknown-outcome' : 'edited-at-service'
}

/**
 * Why the service disagrees, as far as the records tell. `edited-at-service` is claimed only where the desired value was
 * acknowledged or shown once, and no call of ours since then may have changed it. Digests of another key tell nothing:
 * then nothing is known to have been delivered.
 */
export function causesOf(snapshot: Snapshot, { unclear, generation }: CauseInputs) {
  const { work, mapped, digests, desiredDigest } = snapshot
  const record = recordOfUser(snapshot)
  const comparable = record.digestKeyId === digests.keyId
  const older = work.generation !== null && BigInt(work.generation) < BigInt(generation)
  const before = work.record.desiredDigest
  const remapped = older && comparable && before !== null && before !== desiredDigest
  const undelivered = remapped ? 'mapping-changed' : 'never-delivered'

  function changed(field: Field, delivered: boolean): DriftCause {
    if (!delivered) return undelivered
    // The log of calls says which fields those writes carried. A crash leaves a call that it does not have.
    const unverified = work.unverified && unclear.length === 0
    return causeOfChange(unclear.includes(field) ? [field] : [], { ...work, unverified })
  }

  function ofField(field: Field): DriftCause {
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
    ofFields(fields: readonly Field[]): DriftCause {
      const causes = fields.map(ofField)
      return ORDER.find((cause) => causes.includes(cause)) ?? 'edited-at-service'
    },
    /** About a user that is desired and missing. No call of ours removes a user that was there. */
    ofAbsence(): DriftCause {
      const code = work.hiddenUnknown ? null : record.reason?.code
      if (record.remote === 'present' || code === 'not-there-yet') return 'edited-at-service'
      // A clear refusal of the last call, and no crash since then.
      const refused = code === 'refused'
      return !refused && (work.unknown || record.remote === 'unknown') ? 'unknown-outcome' : undelivered
    },
  }
}
