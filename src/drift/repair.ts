// Owes a repair of what was found, as far as the brake lets it: else the customer is held, and a person decides.
import type { ClientBase, Pool } from 'pg'
import type { Brake } from '../brake/brake.ts'
import { retried } from '../database/batch.ts'
import { keysBy } from '../database/client.ts'
import { listed } from '../database/sql.ts'
import { inTransaction } from '../database/transaction.ts'
import { LOCK_OWED, UNDER_WAY } from '../ledger/note.ts'
import { noteLookup } from '../ledger/note-unchanged.ts'
import { type CustomerKey, LANE } from '../model/customer.ts'
import { type Lag, MOST_REPAIRS, postponedMs } from './step.ts'
import { type Finding, REPAIRABLE_KINDS } from './words.ts'

export type ToRepair = Pick<Finding, 'id' | 'key' | 'fields' | 'access'> & { readonly desiredDigest: string }

type Repairing = { readonly pool: Pool; readonly brake: Brake; readonly lag: Lag }

const LOCK_MS = 10_000
const AT_ONCE = 50

/** Resolves to the customers who are owed a repair, and those who wait for a person. */
export async function oweRepairs({ pool, brake, lag }: Repairing, found: readonly ToRepair[]) {
  const owed: CustomerKey[] = []
  const held: CustomerKey[] = []
  for (let at = 0; at < found.length; at += AT_ONCE) {
    const batch = found.slice(at, at + AT_ONCE)
    const answers = await Promise.all(
      batch.map(({ key, desiredDigest }) => brake({ key, desiredDigest, kinds: ['repair'] })),
    )
    const passes = batch.filter((_, i) => answers[i]?.length === 0)
    const waits = batch.filter((_, i) => answers[i]?.length !== 0)
    const wait = await retried(() =>
      inTransaction(pool, LOCK_MS, async (client) => {
        if (passes.length > 0) await owe(client, passes, lag)
        return waits.length > 0 ? await hold(client, waits) : []
      }),
    )
    owed.push(...keysOf(passes))
    held.push(...wait)
  }
  return { owed, held }
}

function keysOf(found: readonly ToRepair[]): readonly CustomerKey[] {
  return found.map(({ key }) => key)
}

/** After each repair the wait for the next check is twice as long. */
const REPAIRED = `
UPDATE rollcall.finding SET repairs = repairs + 1, repaired_at = now(),
  next_check_at = now() + $2 * 2 ^ repairs * interval '1 ms'
WHERE id = ANY($1::bigint[]) AND resolved_at IS NULL`

async function owe(client: ClientBase, found: readonly ToRepair[], lag: Lag): Promise<void> {
  await noteLookup(client, keysOf(found), LANE.repair)
  await client.query(REPAIRED, [found.map(({ id }) => id), postponedMs(lag)])
}

/** As a claim that the brake stops: any change of the customer is planned, and passes, as ever. */
const HOLD = `
WITH asked AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS a (id bigint, key text, "desiredDigest" text, reason jsonb)),
held AS (
  UPDATE rollcall.ledger l SET state = 'held', since = now(), reason = asked.reason, desired = asked."desiredDigest"
  FROM asked JOIN rollcall.finding f USING (id) JOIN rollcall.owed o ON o.key = f.key
  WHERE l.key = f.key AND l.state = 'idle' AND o.due_at IS NULL AND f.resolved_at IS NULL RETURNING f.id, l.key)
UPDATE rollcall.finding f SET next_check_at = NULL FROM held WHERE f.id = held.id RETURNING held.key`

/** In a statement of its own after the lock, so that it sees a customer that has changed since it was found. */
async function hold(client: ClientBase, found: readonly ToRepair[]): Promise<readonly CustomerKey[]> {
  const asked = found.map(({ id, key, desiredDigest, fields, access }) => {
    const entitles = access === null ? {} : { entitles: access === 'lost' }
    return { id, key, desiredDigest, reason: { code: 'held', kinds: ['repair'], fields, ...entitles } }
  })
  await client.query(LOCK_OWED, [keysOf(found)])
  return await keysBy(client, HOLD, [JSON.stringify(asked)])
}

/** Findings among these that a repair would act on; a customer owed one since then (ISO 8601) is owed no second one. */
const REPAIRABLE = `
SELECT f.id::text, f.key, f.desired AS "desiredDigest", to_jsonb(f.fields) AS fields, f.access, coalesce(f.repaired_at >= $2::timestamptz, false) AS repaired
FROM rollcall.finding f LEFT JOIN rollcall.ledger l USING (key) LEFT JOIN rollcall.owed o USING (key)
WHERE f.id = ANY($1::bigint[]) AND f.kind IN (${listed(REPAIRABLE_KINDS)}) AND f.checks >= 2 AND f.desired IS NOT NULL
  AND (f.repaired_at >= $2::timestamptz
    OR f.resolved_at IS NULL AND f.repairs < ${MOST_REPAIRS} AND l.state = 'idle' AND NOT coalesce(${UNDER_WAY}, false))
ORDER BY f.key`

export async function repairFound(repairing: Repairing, ids: readonly string[], startedAt: string) {
  const { rows } = await repairing.pool.query<ToRepair & { repaired: boolean }>(REPAIRABLE, [ids, startedAt])
  const before = rows.filter(({ repaired }) => repaired)
  const anew = rows.filter(({ repaired }) => !repaired)
  const { owed, held } = await oweRepairs(repairing, anew)
  return { owed: [...keysOf(before), ...owed], held }
}
