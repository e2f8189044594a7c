// Customers who must be looked at again because of a claim that has ended: its own where it ended late, and those who
// share its user.
import type { Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import type { Ending } from './end-of-claim.ts'
import { DUE_NOW, OWE, OWE_LOOK, UNDER_WAY } from './owe.ts'
import { VERIFICATIONS } from './verification.ts'

type Endings = readonly Ending[]

/** Other claimants of the same `user_id`. What was written is in our record, which they read; what is not known is not. */
const NOTE_CLAIMANTS = `
UPDATE rollcall.owed o SET ${OWE}, ${DUE_NOW}
WHERE key IN (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)`

/** Not before a GET shows what was written so many milliseconds ago at most. */
const SHOWN = (ms: string) => `not_before = greatest(not_before, now() + ${ms} * interval '1 ms'),
  due_at = CASE WHEN ${UNDER_WAY} THEN due_at
    ELSE greatest(not_before, now() + ${ms} * interval '1 ms', least(due_at, now())) END`

/** For customers that were active while the claim was: what they have seen or written may be older than its write. */
const SEND_TO_LOOK = `
UPDATE rollcall.owed o SET ${OWE_LOOK}, status_doubted = status_doubted OR $4, ${SHOWN('$5')}
WHERE key IN (
  SELECT a.key FROM unnest($1::text[], $2::text[], $3::float8[]) AS e (key, user_id, since)
  JOIN rollcall.ledger l ON l.user_id = e.user_id AND l.key <> e.key COLLATE "C"
  JOIN rollcall.owed a ON a.key = l.key
  WHERE a.due_at IS NOT NULL OR l.settled_at >= to_timestamp(e.since / 1000)
  ORDER BY a.key FOR UPDATE OF a)`

/** Looked up again, once a request without an answer can no longer arrive. Not for one that was itself only sent to look. */
const SUSPECT = `
UPDATE rollcall.owed o SET ${OWE_LOOK},
  blind = true,
  status_doubted = status_doubted OR $3,
  verify_left = ${VERIFICATIONS},
  check_at = NULL,
  ${SHOWN('$2')}
WHERE key IN (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)
  AND ($4 OR EXISTS (SELECT FROM rollcall.owed d
    WHERE d.id = ANY($5::bigint[]) AND (d.blind OR d.attempts > 0 OR d.verify_left > 0)))`

const SHARED = `
SELECT unnest(array_agg(key)) AS key FROM rollcall.ledger WHERE user_id = ANY($1) GROUP BY user_id HAVING count(*) > 1`

/** Two customers that took one `user_id` at the same moment saw nothing of each other before; both are noted. */
export async function noteSharers(pool: Pool, endings: Endings): Promise<void> {
  const fresh = endings.filter(({ isNew }) => isNew)
  for (const alike of Map.groupBy(fresh, ({ effect }) => effect).values()) {
    const { rows } = await pool.query<{ key: CustomerKey }>(SHARED, [usersOf(alike)])
    await noteClaimants(pool, keysOf(rows), alike)
  }
}

const latest = (endings: Endings) => Math.max(0, ...endings.map(({ lateMs }) => lateMs))
const keysOf = (rows: readonly { readonly key: CustomerKey }[]) => rows.map(({ key }) => key)
const usersOf = (endings: Endings) => endings.map(({ record }) => record.userId)

/** The claimants that the endings name. */
export async function noteNamed(pool: Pool, endings: Endings): Promise<void> {
  for (const alike of Map.groupBy(endings, ({ effect }) => effect).values())
    await noteClaimants(pool, [...new Set(alike.flatMap(({ noteKeys }) => noteKeys))], alike)
  const unordered = endings.filter(({ effect }) => effect === 'unordered')
  for (const [lowered, alike] of Map.groupBy(unordered, (each) => each.lowered)) {
    const since = alike.map(({ claimedAtMs }) => claimedAtMs)
    await pool.query(SEND_TO_LOOK, [keysOf(alike), usersOf(alike), since, lowered, latest(alike)])
  }
}

/** The endings have one effect. Where that is unknown, no lookup comes before their last request would be shown. */
async function noteClaimants(pool: Pool, keys: readonly CustomerKey[], endings: Endings): Promise<void> {
  if (keys.length === 0) return
  const lowered = endings.some((ending) => ending.lowered)
  if (endings[0]?.effect === 'unknown') await suspect(pool, keys, endings, lowered)
  await pool.query(NOTE_CLAIMANTS, [keys])
}

/**
 * An ending that matched no row came after its lifetime: another process may have looked meanwhile, and what this one
 * sent may have landed after that look. So the customer is suspect.
 */
export async function suspectLate(pool: Pool, endings: Endings): Promise<void> {
  const keys = endings.map(({ key }) => key)
  if (keys.length > 0) await suspect(pool, keys, endings, true)
}

async function suspect(pool: Pool, keys: readonly CustomerKey[], endings: Endings, doubted: boolean) {
  const late = latest(endings.filter(({ kind }) => kind === 'unknown'))
  const wrote = endings.some((each) => each.wrote)
  await pool.query(SUSPECT, [keys, late, doubted, wrote, endings.map(({ id }) => id)])
}
