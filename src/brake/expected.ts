import type { Client } from '../database/client.ts'
import { iso } from '../database/sql.ts'
import { LANE } from '../model/customer.ts'

type Expecting = {
  readonly customers: number
  readonly windowHours: number
  /** The sweep that they are expected of; null: a new target, for which they are set once. */
  readonly sweep: string | null
}

export type Expected = {
  /** False: they were set since the sweep was begun, and are not set twice. */
  readonly set: boolean
  /** How many of them may still come, and until when they have to (ISO 8601 in UTC). */
  readonly left: number
  readonly until: string | null
  /** Whether the time has passed. */
  readonly over: boolean
  /** Since when registrations wait for a person, the expected ones too; null: they do not. */
  readonly trippedAt: string | null
}

/** The time stays where a person has ended it. It tells that they were set for this sweep, and are not set twice. */
const EXPECT = `
INSERT INTO rollcall.brake AS b (kind, expected, expected_until)
VALUES ('create', $1, clock_timestamp() + $2 * interval '1 hour')
ON CONFLICT (kind) DO UPDATE SET expected = excluded.expected, expected_until = excluded.expected_until
WHERE b.expected_until IS NULL
  OR b.expected_until - $2 * interval '1 hour' < (SELECT started_at FROM rollcall.run WHERE id = $3)
RETURNING kind`

const STANDS = `
SELECT expected AS left, ${iso('expected_until')} AS until, coalesce(expected_until <= clock_timestamp(), false) AS over,
  ${iso('tripped_at')} AS "trippedAt"
FROM rollcall.brake WHERE kind = 'create'`

/** So many registrations pass the brake without being counted, within its window, and once for a sweep. */
export async function setExpected(client: Client, { customers, windowHours, sweep }: Expecting) {
  const { rowCount } = await client.query(EXPECT, [customers, windowHours, sweep])
  return { set: rowCount === 1, ...(await readExpected(client)) }
}

export async function readExpected(client: Client): Promise<Omit<Expected, 'set'>> {
  const { rows } = await client.query<Omit<Expected, 'set'>>(STANDS)
  return rows[0] ?? { left: 0, until: null, over: false, trippedAt: null }
}

/** How many registrations can still be needed, and are expected. One that passed as expected takes up no place again. */
const NEEDED = `
SELECT b.expected AS left, b.expected_until::text AS until, (SELECT count(*) FROM (
  SELECT FROM rollcall.owed o LEFT JOIN rollcall.ledger l ON l.key = o.key
  WHERE o.lane = ${LANE.backfill} AND o.due_at IS NOT NULL AND l.remote IS DISTINCT FROM 'present'
    AND NOT EXISTS (SELECT FROM rollcall.brake_entry e WHERE e.kind = 'create' AND e.key = o.key AND e.expected)
  LIMIT b.expected) AS needed)::int AS owed
FROM rollcall.brake b WHERE b.kind = 'create' AND b.expected > 0`

/** Customers that passed between the two statements were among the needed. */
const CUT = `
UPDATE rollcall.brake SET expected = least(expected, greatest(0, $1::int - ($2::int - expected)))
WHERE kind = 'create' AND expected <= $2 AND expected_until::text = $3`

/**
 * At the end of a sweep no more stay expected than are owed by backfills: the rest would let through registrations by
 * mistake. `others`: who is registered already, and is to be again as another user.
 */
export async function cutExpected(client: Client, others: number): Promise<Omit<Expected, 'set'>> {
  const needed = await client.query<{ left: number; until: string; owed: number }>(NEEDED)
  const [found] = needed.rows
  if (found) await client.query(CUT, [Math.min(found.left, found.owed + others), found.left, found.until])
  return await readExpected(client)
}
