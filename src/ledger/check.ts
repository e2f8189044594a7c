// Checks: claims that check a customer and write nothing to the service. A check has a row while the row holds its token
// and nothing is due. A statement that raises the version takes the row away (note.ts), so no change waits for a check.
import type { Client } from '../database/client.ts'
import { type CustomerKey, LANE } from '../model/customer.ts'
import { CURRENT_FINGERPRINT, LOCK_GENERATION } from './generation.ts'
import { UNDER_WAY } from './note.ts'

type Check = { readonly key: CustomerKey; readonly token: string }

/**
 * Only where no sync is owed, no outcome is unknown, no replan is due, and no other process has the row. A customer that was never
 * noted gets a row of version 0. A check whose `check_until` has passed, or lies too far ahead
 * because the clock was set back, is dead: its row is free, and nothing is unknown. Only a process with the active mapping claims.
 */
const CLAIM = `
WITH ${LOCK_GENERATION},
asked AS MATERIALIZED (SELECT DISTINCT k.key FROM unnest($1::text[]) AS k (key) WHERE ${CURRENT_FINGERPRINT} = $3),
quiet AS MATERIALIZED (
  SELECT o.id FROM rollcall.owed o WHERE o.key IN (SELECT key COLLATE "C" FROM asked)
    AND o.due_at IS NULL AND NOT o.unknown AND (o.replan_at IS NULL OR o.replan_at > now())
    AND (o.token IS NULL OR o.check_until <= now() OR o.check_until > now() + 2 * $2 * interval '1 ms')
  ORDER BY o.key FOR UPDATE SKIP LOCKED),
fresh AS (SELECT quiet.id, nextval('rollcall.token') AS token FROM quiet),
claimed AS (
  UPDATE rollcall.owed o SET token = fresh.token, call_token = fresh.token, check_until = now() + $2 * interval '1 ms'
  FROM fresh WHERE o.id = fresh.id RETURNING o.key, o.token),
made AS (
  INSERT INTO rollcall.owed (key, change_version, lane, token, call_token, check_until)
  SELECT n.key, 0, ${LANE.backfill}, n.token, n.token, now() + $2 * interval '1 ms'
  FROM (SELECT key, nextval('rollcall.token') AS token FROM asked
    WHERE NOT EXISTS (SELECT FROM rollcall.owed o WHERE o.key = asked.key COLLATE "C")) n
  ORDER BY n.key COLLATE "C" ON CONFLICT (key) DO NOTHING RETURNING key, token)
SELECT key, token::text FROM claimed UNION ALL SELECT key, token::text FROM made`

/** The customers that may be checked now, each with the token that its ending has to name. */
export async function claimChecks(
  client: Client,
  keys: readonly CustomerKey[],
  { lastsMs, fingerprint }: { readonly lastsMs: number; readonly fingerprint: string },
): Promise<ReadonlyMap<CustomerKey, string>> {
  const { rows } = await client.query<Check>(CLAIM, [keys, lastsMs, fingerprint])
  return new Map(rows.map(({ key, token }) => [key, token]))
}

const END = `
WITH ${LOCK_GENERATION},
ended AS MATERIALIZED (
  SELECT o.id FROM rollcall.owed o JOIN unnest($1::text[], $2::bigint[]) AS e (key, token) ON e.key = o.key COLLATE "C"
  WHERE o.token = e.token AND o.call_token = e.token AND NOT ${UNDER_WAY} ORDER BY o.key FOR UPDATE OF o SKIP LOCKED)
UPDATE rollcall.owed o SET token = NULL, call_token = NULL FROM ended WHERE o.id = ended.id
RETURNING o.key, ${CURRENT_FINGERPRINT} = $3 AS current`

/**
 * Ends checks by their tokens. Results of other checks are dropped silently: nothing was written. A row
 * that another transaction has locked is left to it, so that it does not hold up the others.
 * The rows stay locked until the transaction ends. None counts once another mapping is active.
 */
export async function endChecks(
  client: Client,
  checks: readonly Check[],
  fingerprint: string,
): Promise<ReadonlySet<CustomerKey>> {
  if (checks.length === 0) return new Set()
  const { rows } = await client.query<{ key: CustomerKey; current: boolean }>(END, [
    checks.map(({ key }) => key),
    checks.map(({ token }) => token),
    fingerprint,
  ])
  return new Set(rows.filter(({ current }) => current).map(({ key }) => key))
}
