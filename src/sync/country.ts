// `country_code`, which no GET shows. After a call that may have changed it, its digest is unknown and it is sent again.
import type { Digests, LedgerRecord } from '../ledger/record.ts'
import { type DesiredUser, UNVERIFIABLE_FIELD } from '../model/user.ts'
import { type CustomerDigests, NO_VALUE, UNKNOWN_VALUE } from './digest.ts'

/**
 * Stands for the digest of an acknowledged value that no GET can show and that was digested with a former key: taken
 * for whatever value is desired, because a change of key is no reason to write.
 */
export const ASSUMED_VALUE = 'assumed'

type Sent = { readonly sent: Digests }

export function markHiddenUnknown<T extends Sent>(memory: T): T {
  return { ...memory, sent: { ...memory.sent, [UNVERIFIABLE_FIELD]: UNKNOWN_VALUE } }
}

type Start = {
  readonly hiddenUnknown: boolean
  /** The digests of the record are of another key. */
  readonly rekeyed: boolean
  readonly changedAtMs: number | null
}

/**
 * The field at the start of a claim. The call that a crash hides may have brought a country, also to a user for which none
 * was acknowledged. A change since a digest with another key cannot be recognized any more.
 */
export function countryAtStart(
  record: LedgerRecord,
  { hiddenUnknown, rekeyed, changedAtMs }: Start,
): Digests {
  const digest = record.sent[UNVERIFIABLE_FIELD]
  if (record.erased !== null && digest !== undefined) return { [UNVERIFIABLE_FIELD]: digest }
  if (hiddenUnknown) return { [UNVERIFIABLE_FIELD]: UNKNOWN_VALUE }
  if (digest === undefined) return {}
  if (!rekeyed || digest === NO_VALUE || digest === UNKNOWN_VALUE) return { [UNVERIFIABLE_FIELD]: digest }
  const leftOut = { ...record.refused, ...record.conflict?.values }[UNVERIFIABLE_FIELD] !== undefined
  const changed = changedAtMs !== null || record.state !== 'idle' || leftOut
  return { [UNVERIFIABLE_FIELD]: changed ? UNKNOWN_VALUE : ASSUMED_VALUE }
}

/** An assumed value is the one that is desired. */
export function assumedCountry({ sent }: Sent, { fields }: DesiredUser, digests: CustomerDigests): Digests {
  const country = fields[UNVERIFIABLE_FIELD] ?? null
  if (sent[UNVERIFIABLE_FIELD] !== ASSUMED_VALUE || country === null) return {}
  return { [UNVERIFIABLE_FIELD]: digests.exact(UNVERIFIABLE_FIELD, country) }
}

/** For the record: a value is assumed in one claim only, since the next one does not know the old key. */
export function withoutAssumed(sent: Digests): Digests {
  return sent[UNVERIFIABLE_FIELD] === ASSUMED_VALUE ? { ...sent, [UNVERIFIABLE_FIELD]: UNKNOWN_VALUE } : sent
}

/** After a create of unknown outcome. One without the field leaves the user without it, if no value was known before. */
export function countryAfterLostCreate<T extends Sent>(memory: T, carried: boolean): T {
  const never = (memory.sent[UNVERIFIABLE_FIELD] ?? NO_VALUE) === NO_VALUE
  if (carried || !never) return markHiddenUnknown(memory)
  return { ...memory, sent: { ...memory.sent, [UNVERIFIABLE_FIELD]: NO_VALUE } }
}
