// The other customers of a user: which of them are claimants, and which of their records knows the user best.
import type { Claim } from '../ledger/claim.ts'
import {
  type CustomerRecord,
  type Digests,
  existedBefore,
  type KnownRecord,
  type UserRecord,
} from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { SyncContext } from './context.ts'
import { type Digester, NO_VALUE, UNKNOWN_VALUE } from './digest.ts'
import { type Mapped, mapFound, userIdOf } from './map.ts'

type Own = { readonly mapped: Mapped; readonly record: KnownRecord }

export async function resolveSharing(
  { config, digester, readOther, readRecordsOf }: SyncContext,
  { key, nowMs, statusUnknown }: Claim,
  { mapped, record }: Own,
) {
  const records = await readRecordsOf(userIdOf(mapped) ?? '')
  const others = records.flatMap((other) => (other.key === key ? [] : { ...other.record, key: other.key }))
  const met = await findClaimants({ config, readOther, now: new Date(nowMs) }, others, { mapped, record })
  const own = records.find((each) => each.key === key) ?? { key, record, statusUnknown }
  return { ...met, latestRecord: inherit(latestOf(own, records), { own, mapped: met.mapped, digester }) }
}

type Reads = Pick<SyncContext, 'config' | 'readOther'> & {
  /** The database's time, by which the others are mapped. */
  readonly now: Date
}

/**
 * `claimants`: those in scope that map to this user, of all `others` with a record under its `user_id`. Two customers
 * with one user would overwrite each other for ever. A customer with a row that cannot be mapped (an unknown plan,
 * several rows) does not take a user from one that can be mapped; but the user keeps its access. Nor is it where a person
 * is asked, or has decided, about another customer of the user. Only a customer that gave it later takes it then.
 *
 * A customer whose row is gone is spared where it was out of scope all the time: another system looks after that user.
 * And where another row of that user is out of scope: the user loses access, but is not erased.
 */
export async function findClaimants(
  { config, readOther, now }: Reads,
  others: readonly UserRecord[],
  { mapped, record }: Own,
): Promise<{ readonly mapped: Mapped; readonly claimants: readonly CustomerKey[] }> {
  const loses = mapped.kind === 'removed' || mapped.kind === 'out-of-scope'
  const mapOther = async (key: CustomerKey) => mapFound(config, key, await readOther(key), now)
  const found = await Promise.all(
    others.map(async (other) => ({ ...other, mapped: await mapOther(other.key) })),
  )
  const same = found.filter((other) => userIdOf(other.mapped) === userIdOf(mapped))
  const gaveAccess = record.remote !== 'unasked' && (record.seenStatus ?? record.sentStatus) !== 0
  const decided = ({ state, ...other }: Omit<UserRecord, 'key'>) =>
    (state === 'held' || state === 'discarded') && (!gaveAccess || age(other) < age(record))
  const isClaimant = ({ mapped: { kind }, ...other }: (typeof same)[number]) =>
    kind === 'user' || (loses && (kind === 'rejected' || decided(other)))
  const claimants = same.filter(isClaimant).map(({ key }) => key)
  const neverOurs = record.settled && [record, ...others].every(({ remote }) => remote === 'unasked')
  const outside = same.some((other) => other.mapped.kind === 'out-of-scope')
  const spared = neverOurs ? 'user' : outside ? 'fields' : null
  return { mapped: mapped.kind === 'removed' && spared ? { ...mapped, spared } : mapped, claimants }
}

/**
 * The record to go by: that of the customer whose write was acknowledged last, unless we have looked up since. A customer that
 * found its user right, and never wrote, counts from its last lookup. A customer whose key changed while its `user_id` stayed
 * has no record of its own, or an old one. The record under the other key tells that the user is there, and whether a trial
 * was granted.
 */
export function latestOf(own: CustomerRecord, records: readonly CustomerRecord[]): CustomerRecord {
  const ownAge = Math.min(age(own.record), own.record.verifiedAgoMs ?? Number.POSITIVE_INFINITY)
  const later = records.filter(({ record }) => age(record) < ownAge)
  return later.toSorted((one, other) => age(one.record) - age(other.record))[0] ?? own
}

function age({ remote, writtenAgoMs, verifiedAgoMs }: Omit<UserRecord, 'key' | 'state'>): number {
  return writtenAgoMs ?? verifiedAgoMs ?? (remote === 'unasked' ? Number.POSITIVE_INFINITY : Number.MAX_VALUE)
}

type Inheriting = { readonly own: CustomerRecord; readonly mapped: Mapped; readonly digester: Digester }

/** From another customer's record: the acknowledged status and the country, which no GET tells. For all else comes a lookup. */
export function inherit(from: CustomerRecord, { own, mapped, digester }: Inheriting): KnownRecord {
  const { record } = from
  if (from.key === own.key) return record
  return {
    ...own.record,
    userId: userIdOf(mapped),
    remote: 'unknown',
    existed: existedBefore(record),
    sentStatus: from.statusUnknown ? null : record.sentStatus,
    seenStatus: null,
    sent: countryOf(from, { own, mapped, digester }),
    seen: {},
    digestKeyId: digester.id,
    writtenAgoMs: record.writtenAgoMs,
  }
}

/** Digests are made for one customer each: the same value is digested anew. Another one is only known to exist. */
function countryOf({ key, record }: CustomerRecord, { own, mapped, digester }: Inheriting): Digests {
  const known = record.sent[UNVERIFIABLE_FIELD]
  if (known === undefined) return {}
  const value = mapped.kind === 'user' ? (mapped.user.fields[UNVERIFIABLE_FIELD] ?? null) : null
  const digest = (of: CustomerKey) => digester.digest('exact', of, UNVERIFIABLE_FIELD, value)
  const same = record.digestKeyId === digester.id && known === digest(key)
  const mark = known === NO_VALUE ? NO_VALUE : same ? digest(own.key) : UNKNOWN_VALUE
  return { [UNVERIFIABLE_FIELD]: mark }
}
