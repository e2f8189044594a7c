// Customers that must be looked up after the end of a claim: its own if it ended late, and those that share its user.
import type { Pool } from 'pg'
import { keysBy } from '../database/client.ts'
import { inTransaction } from '../database/transaction.ts'
import type { CustomerKey } from '../model/customer.ts'
import { OWE_LOOKUP, VERIFICATIONS } from './lookups.ts'
import { DUE_NOW, LOCK_OWED, OWE, UNDER_WAY } from './note.ts'
import { recordsOf } from './record.ts'

/** The consequences of an ending for other customers with a record under the user. */
export type ForClaimants = {
  /** The effect of its writes on the user. If `known`, it is still unknown which of two claims wrote last. */
  readonly effect: 'none' | 'known' | 'unknown'
  /** Status 0 at the service may be the work of this claim, or of one before it. So it does not tell that a trial has ended. */
  readonly mayEndTrial: boolean
  /** Noted, because this one no longer has their user. */
  readonly noteKeys: readonly CustomerKey[]
  /** Recorded under this `user_id` for the first time: all customers with a record under it are noted. */
  readonly isNewUser: boolean
}

type Endings = readonly {
  readonly claim: { readonly key: CustomerKey; readonly nowMs: number }
  readonly kind: string
  readonly lookups: { readonly lateMs: number }
  readonly others: ForClaimants
  readonly record: { readonly userId: string | null }
}[]

/** Other customers of the same user. If this claim may have written, a lookup is requested for them apart from this. */
const NOTE_CLAIMANTS = `
UPDATE rollcall.owed o SET ${OWE}, ${DUE_NOW}
WHERE key IN (${LOCK_OWED})`

/** Not before a GET shows the last write: `ms` from now. */
const SHOWN = (ms: string) => `not_before = greatest(not_before, now() + ${ms} * interval '1 ms'),
  due_at = CASE WHEN ${UNDER_WAY} THEN due_at
    ELSE greatest(not_before, now() + ${ms} * interval '1 ms', least(due_at, now())) END`

/** Other customers with a record under the user, claimants or not. */
const SAME_USER = `
SELECT l.key, min(e.since) AS since FROM unnest($1::text[], $2::text[], $3::float8[]) AS e (key, user_id, since),
  ${recordsOf('e.user_id')} WHERE l.key <> e.key COLLATE "C" GROUP BY l.key`

/** For customers whose own claim may overlap with this one: the user that they have seen may be older than its write. */
const ASK_FOR_LOOKUP = `
UPDATE rollcall.owed o SET ${OWE_LOOKUP}, status_unknown = status_unknown OR $3, ${SHOWN('$4')}
FROM unnest($1::text[], $2::float8[]) AS e (key, since) JOIN rollcall.ledger l USING (key)
WHERE o.key = e.key AND (o.due_at IS NOT NULL OR l.settled_at >= to_timestamp(e.since / 1000))`

/** Looked up again, once a request without an answer can no longer arrive. */
const SUSPECT = `
UPDATE rollcall.owed o SET ${OWE_LOOKUP},
  hidden_unknown = true,
  status_unknown = status_unknown OR $3,
  verify_left = ${VERIFICATIONS},
  verify_at = NULL,
  ${SHOWN('$2')}
WHERE key IN (${LOCK_OWED})`

const SHARED = `
SELECT unnest(array_agg(key)) AS key FROM (SELECT DISTINCT unnest($1::text[])) AS e (wanted), ${recordsOf('wanted')}
GROUP BY user_id HAVING count(*) > 1`

/** Two customers that took one `user_id` at the same moment saw nothing of each other before; both are noted. */
export async function noteNewClaimants(pool: Pool, endings: Endings): Promise<void> {
  const fresh = endings.filter(({ others }) => others.isNewUser)
  for (const alike of groups(fresh)) {
    await noteClaimants(pool, await keysBy(pool, SHARED, [usersOf(alike)]), alike)
  }
}

const groups = (endings: Endings) =>
  Map.groupBy(endings, ({ others }) => `${others.effect} ${others.mayEndTrial}`).values()
const latest = (endings: Endings) => Math.max(0, ...endings.map(({ lookups }) => lookups.lateMs))
const usersOf = (endings: Endings) => endings.map(({ record }) => record.userId)

/** Claimants that the endings name (sync/sharing.ts), and all customers with the same user. None where no user is shared. */
export async function noteOthers(pool: Pool, endings: Endings): Promise<void> {
  for (const alike of groups(endings)) {
    await noteClaimants(pool, [...new Set(alike.flatMap(({ others }) => others.noteKeys))], alike)
    if (alike[0]?.others.effect === 'known') await askForLookup(pool, alike)
  }
}

/** The endings are of one group. A statement of its own locks: only the next one sees what is being settled elsewhere. */
async function askForLookup(pool: Pool, endings: Endings): Promise<void> {
  const since = endings.map(({ claim }) => claim.nowMs)
  const { rows } = await pool.query<{ key: CustomerKey; since: number }>(SAME_USER, [
    ...[endings.map(({ claim }) => claim.key), usersOf(endings), since],
  ])
  if (rows.length === 0) return
  const keys = rows.map(({ key }) => key)
  await inTransaction(pool, 0, async (client) => {
    await client.query(LOCK_OWED, [keys])
    const mayEndTrial = endings[0]?.others.mayEndTrial
    await client.query(ASK_FOR_LOOKUP, [keys, rows.map((row) => row.since), mayEndTrial, latest(endings)])
  })
}

/** The endings are of one group. Where their effect is unknown, no lookup comes before their last request would be shown. */
async function noteClaimants(pool: Pool, keys: readonly CustomerKey[], endings: Endings): Promise<void> {
  if (keys.length === 0) return
  const [first] = endings
  if (first?.others.effect === 'unknown') await suspect(pool, keys, endings, first.others.mayEndTrial)
  await pool.query(NOTE_CLAIMANTS, [keys])
}

/**
 * An ending that matched no row came after its lifetime: another process may have looked up meanwhile, and what this one
 * sent may have landed after that lookup. So the customer is suspect.
 */
export async function suspectLate(pool: Pool, endings: Endings): Promise<void> {
  const keys = endings.map(({ claim }) => claim.key)
  if (keys.length > 0) await suspect(pool, keys, endings, true)
}

async function suspect(pool: Pool, keys: readonly CustomerKey[], endings: Endings, statusUnknown: boolean) {
  const late = latest(endings.filter(({ kind }) => kind === 'unknown'))
  await pool.query(SUSPECT, [keys, late, statusUnknown])
}
