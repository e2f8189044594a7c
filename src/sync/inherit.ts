import type { KnownRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Mapped, userIdOf } from '../model/mapped.ts'
import { OPTIONAL_FIELDS, UNVERIFIABLE_FIELD } from '../model/user.ts'
import { type Digester, DOUBTED, forCustomer, NO_VALUE } from './digest.ts'
import { wasThere } from './there.ts'

/** A customer's record, and whose it is. */
export type Kept = {
  readonly key: CustomerKey
  readonly record: KnownRecord
  /** Status 0 may be the work of a call. */
  readonly doubted: boolean
}

/**
 * Whose record knows the user best: that of whoever's write was acknowledged last, unless we have looked since. A
 * customer whose key changed while its `user_id` stayed has no record of its own, or an old one; the one under the other
 * key tells whether a trial was granted, and that the user is there.
 */
export function latestOf(own: Kept, others: readonly Kept[]): Kept {
  const age = ({ record }: Kept) => record.writtenAgoMs ?? Number.POSITIVE_INFINITY
  const ownAge = Math.min(age(own), own.record.verifiedAgoMs ?? Number.POSITIVE_INFINITY)
  const later = others.filter((other) => age(other) < ownAge)
  return later.reduce((best, other) => (best === own || age(other) < age(best) ? other : best), own)
}

type Inheriting = { readonly own: Kept; readonly mapped: Mapped; readonly digester: Digester }

/**
 * Another customer's record as if it were our own. It is a moment old, so the user counts as unknown and is looked at;
 * what was agreed on stays. Digests are made for one customer each: those of what is desired now are made anew.
 */
export function inherit(from: Kept, { own, mapped, digester }: Inheriting): KnownRecord {
  const { record } = from
  if (from.key === own.key) return record
  const theirs = forCustomer(digester, from.key)
  const ours = forCustomer(digester, own.key)
  const fields = mapped.kind === 'user' ? mapped.user.fields : {}
  // What is kept of somebody who was erased are marks, and these need no key.
  const erased = record.erased !== null
  const comparable = record.digestKey === digester.id
  const sent = OPTIONAL_FIELDS.flatMap((field) => {
    const value = fields[field]
    const known = record.sent[field]
    if (value === undefined || known === undefined) return []
    if (comparable && known === theirs.exact(field, value))
      return [[field, ours.exact(field, value)] as const]
    // No GET will show it: that there was a value is all that is left.
    return field === UNVERIFIABLE_FIELD ? [[field, known === NO_VALUE ? NO_VALUE : DOUBTED] as const] : []
  })
  return {
    ...own.record,
    userId: userIdOf(mapped),
    remote: 'unknown',
    wasThere: wasThere(record),
    sentStatus: from.doubted ? null : record.sentStatus,
    seenStatus: record.seenStatus,
    sent: erased ? record.sent : Object.fromEntries(sent),
    seen: {},
    refused: erased ? record.refused : own.record.refused,
    erased: record.erased,
    digestKey: digester.id,
    writtenAgoMs: record.writtenAgoMs,
  }
}
