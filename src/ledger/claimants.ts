// Customers who must be looked at again because of a claim that has ended: its own where it ended late, and those who
// share its user.
import type { Pool } from 'pg'
import type { CustomerKey } from '../model/customer.ts'
import type { Ending } from './end-of-claim.ts'
import { DUE_NOW, OWE, OWE_LOOK, UNDER_WAY } from './owe.ts'
import { VERIFICATIONS } from './verification.ts'

/** Other claimants of the same `user_id`. What was written is in our record, which they read; what is not known is not. */
const NOTE_CLAIMANTS = `
UPDATE rollcall.owed o SET ${OWE}, ${DUE_NOW}
WHERE key IN (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)`

/** And with a look: what they remember may be older than it. */
const SEND_TO_LOOK = `
UPDATE rollcall.owed o SET ${OWE_LOOK}, status_doubted = status_doubted OR $2, ${DUE_NOW}
WHERE key IN (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)`

/** Looked up again, once a request without an answer can no longer arrive. */
const SUSPECT = `
UPDATE rollcall.owed o SET ${OWE_LOOK},
  blind = true,
  status_doubted = status_doubted OR $3,
  verify_left = ${VERIFICATIONS},
  check_at = NULL,
  not_before = greatest(not_before, now() + $2 * interval '1 ms'),
  due_at = CASE WHEN ${UNDER_WAY} THEN due_at
    ELSE greatest(not_before, now() + $2 * interval '1 ms', least(due_at, now())) END
WHERE key IN (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)`

const SHARED = `
SELECT unnest(array_agg(key)) AS key FROM rollcall.ledger WHERE user_id = ANY($1) GROUP BY user_id HAVING count(*) > 1`

/** All customers under the users of these endings, where there are several. */
async function sharersOf(pool: Pool, endings: readonly Ending[]): Promise<readonly CustomerKey[]> {
  const userIds = endings.flatMap(({ record }) => record.userId ?? [])
  const { rows } = await pool.query<{ key: CustomerKey }>(SHARED, [userIds])
  return rows.map(({ key }) => key)
}

/** Two customers that took one `user_id` at the same moment saw nothing of each other before; both are noted. */
export async function noteSharers(pool: Pool, endings: readonly Ending[]): Promise<void> {
  const fresh = endings.filter(({ isNew }) => isNew)
  for (const alike of Map.groupBy(fresh, ({ effect }) => effect).values())
    await noteClaimants(pool, await sharersOf(pool, alike), alike)
}

/** The claimants that the endings name. A call that took access may have come after what any other has seen or written. */
export async function noteNamed(pool: Pool, endings: readonly Ending[]): Promise<void> {
  for (const [effect, alike] of Map.groupBy(endings, (each) => each.effect)) {
    const others = effect === 'unordered' ? await sharersOf(pool, alike) : []
    const unaware = others.filter((key) => !alike.some((each) => each.key === key))
    await noteClaimants(pool, [...unaware, ...alike.flatMap(({ noteKeys }) => noteKeys)], alike)
  }
}

/** The endings have one effect. Where that is unknown, no lookup comes before their last request would be shown. */
async function noteClaimants(
  pool: Pool,
  keys: readonly CustomerKey[],
  endings: readonly Ending[],
): Promise<void> {
  if (keys.length === 0) return
  const lowered = endings.some((ending) => ending.lowered)
  const effect = endings[0]?.effect
  if (effect === 'known') await pool.query(NOTE_CLAIMANTS, [keys])
  else if (effect === 'unordered') await pool.query(SEND_TO_LOOK, [keys, lowered])
  else await suspect(pool, keys, endings, lowered)
}

/**
 * An ending that matched no row came after its lifetime: another process may have looked meanwhile, and what this one
 * sent may have landed after that look. So the customer is suspect.
 */
export async function suspectLate(pool: Pool, endings: readonly Ending[]): Promise<void> {
  const keys = endings.map(({ key }) => key)
  if (keys.length > 0) await suspect(pool, keys, endings, true)
}

async function suspect(
  pool: Pool,
  keys: readonly CustomerKey[],
  endings: readonly Ending[],
  statusDoubted: boolean,
): Promise<void> {
  const lateMs = Math.max(...endings.map((ending) => (ending.kind === 'unknown' ? ending.lateMs : 0)))
  await pool.query(SUSPECT, [keys, lateMs, statusDoubted])
}
