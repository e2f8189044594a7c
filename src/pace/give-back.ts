import type { ClientBase } from 'pg'
import type { TroubleTally } from './tally.ts'

/**
 * Who waits for a next attempt has fewer behind it, and is due as soon as the wait allows that protects a request which
 * may still arrive. Whoever is settled or under way is left alone. Locked in key order, as everywhere.
 */
const GIVE_BACK = `
WITH lost AS (SELECT key::bigint AS id, value::int AS calls FROM jsonb_each_text($1::jsonb)),
locked AS MATERIALIZED (
  SELECT o.id, lost.calls FROM rollcall.owed o JOIN lost USING (id)
  WHERE o.token IS NULL AND o.due_at IS NOT NULL ORDER BY o.key FOR UPDATE OF o)
UPDATE rollcall.owed o SET attempts = greatest(0, o.attempts - locked.calls),
  due_at = least(o.due_at, greatest(now(), o.not_before))
FROM locked WHERE o.id = locked.id AND o.token IS NULL AND o.due_at IS NOT NULL`

/** Attempts that were lost to an outage, not to the customers. */
export async function giveBackAttempts(client: Pick<ClientBase, 'query'>, lost: TroubleTally): Promise<void> {
  if (Object.keys(lost).length > 0) await client.query(GIVE_BACK, [lost])
}
