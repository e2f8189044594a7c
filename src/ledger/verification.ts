import type { ClientBase } from 'pg'
import { type CustomerKey, LANE } from '../model/customer.ts'
import { TAKE, UNDER_WAY } from './taken.ts'

/**
 * After an outcome that was unknown, a request may arrive later than anybody waits for. So the user is looked at
 * twice more: a minute after the look that cleared it up, and ten minutes after that.
 */
export const VERIFICATIONS = 2

/** How long after a look or a write the first verification is due. */
export const VERIFY_FIRST = `interval '1 minute'`

/** How long after the present look the next one is due; in the terms of the statement that counts them down. */
export const VERIFY_AFTER = `CASE o.verify_left WHEN ${VERIFICATIONS} THEN ${VERIFY_FIRST} ELSE interval '10 minutes' END`

/**
 * A verification is a claim like any other whose remote side is unknown: it GETs and, if something differs, repairs.
 * Version and suspicion rise together. While a token is out it waits for the end of that claim: a suspicion that is
 * noted under a claim would pass for a late request, which makes its status and what no GET shows doubtful.
 */
const NOTE_VERIFICATIONS = `
WITH passed AS MATERIALIZED (
  SELECT key FROM rollcall.owed o WHERE check_at <= now() AND verify_left > 0 AND NOT ${UNDER_WAY}
  ORDER BY key LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE rollcall.owed o SET
  change_version = o.change_version + 1,
  suspect_version = o.change_version + 1,
  ${TAKE},
  unknown = true,
  verify_left = o.verify_left - 1,
  check_at = NULL,
  lane = CASE WHEN o.due_at IS NULL THEN $2 ELSE least(o.lane, $2) END,
  due_at = coalesce(o.due_at, greatest(now(), o.not_before))
FROM passed WHERE o.key = passed.key`

const VERIFY_NOW = `
WITH asked AS MATERIALIZED (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)
UPDATE rollcall.owed o SET check_at = now(), verify_left = greatest(o.verify_left, 1) FROM asked WHERE o.key = asked.key`

/** These are looked at as soon as nothing is under way for them. */
export async function verifyNow(
  client: Pick<ClientBase, 'query'>,
  keys: readonly CustomerKey[],
): Promise<void> {
  await client.query(VERIFY_NOW, [keys])
}

/** Customers whose next look has come are owed one; resolves to how many. */
export async function noteVerifications(client: Pick<ClientBase, 'query'>, limit: number): Promise<number> {
  const { rowCount } = await client.query(NOTE_VERIFICATIONS, [limit, LANE.repair])
  return rowCount ?? 0
}
