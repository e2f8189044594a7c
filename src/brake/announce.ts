import type { ClientBase } from 'pg'
import { iso } from '../ledger/sql.ts'

type Announcement = {
  readonly customers: number
  readonly windowHours: number
  /** The sweep that they are announced for. */
  readonly sweep: string
}

export type Announced = {
  /** False: they were announced since the sweep was begun, and are not announced twice. */
  readonly set: boolean
  /** How many of them may still come, and until when they have to (ISO 8601 in UTC). */
  readonly left: number
  readonly until: string | null
  /** Since when registrations wait for a person, who was announced with them; null: they do not. */
  readonly trippedAt: string | null
}

/**
 * What tells that an announcement was made for this sweep is its time, which stays where a person has ended it: a command
 * that goes on with the sweep must not announce again those who have passed already.
 */
const ANNOUNCE = `
INSERT INTO rollcall.brake AS b (kind, expected, expected_until)
VALUES ('create', $1, clock_timestamp() + $2 * interval '1 hour')
ON CONFLICT (kind) DO UPDATE SET expected = excluded.expected, expected_until = excluded.expected_until
WHERE b.expected_until IS NULL
  OR b.expected_until - $2 * interval '1 hour' < (SELECT started_at FROM rollcall.sweep WHERE id = $3)
RETURNING kind`

const STANDS = `
SELECT expected AS left, ${iso('expected_until')} AS until, ${iso('tripped_at')} AS "trippedAt"
FROM rollcall.brake WHERE kind = 'create'`

/** So many registrations pass the brake without being counted, within its window, and once for a sweep. */
export async function announceCreates(
  client: Pick<ClientBase, 'query'>,
  { customers, windowHours, sweep }: Announcement,
): Promise<Announced> {
  const { rowCount } = await client.query(ANNOUNCE, [customers, windowHours, sweep])
  const { rows } = await client.query<Omit<Announced, 'set'>>(STANDS)
  const stands = rows[0] ?? { left: 0, until: null, trippedAt: null }
  return { set: rowCount === 1, ...stands }
}
