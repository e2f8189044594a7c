// Customers in the ledger, as endings leave them.
import type { Pool } from 'pg'
import type { Config } from '../../src/config/config.ts'

export type Row = {
  readonly key: string
  readonly state?: 'idle' | 'held' | 'discarded' | 'rejected'
  readonly kinds?: readonly string[]
  readonly desired?: string
  readonly remote?: string
  readonly sent?: number | null
  readonly seen?: number | null
  /** In how many seconds it is due; null: nothing is owed. */
  readonly due?: number | null
  /** For how many seconds more no change may shorten its wait. */
  readonly notBefore?: number
  readonly token?: number | null
}

export async function put(pool: Pool, rows: readonly Row[]): Promise<void> {
  await pool.query(
    `WITH r AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS r (key text, state text, kinds jsonb, desired text,
       remote text, sent smallint, seen smallint, due float8, "notBefore" float8, token bigint)),
     o AS (INSERT INTO rollcall.owed (key, change_version, synced_version, lane, due_at, not_before, token)
       SELECT key, 3, 3, 1, now() + due * interval '1 s', now() + "notBefore" * interval '1 s', token FROM r)
     INSERT INTO rollcall.ledger (key, user_id, remote, sent_status, seen_status, state, reason, discard, desired, since)
     SELECT key, 'u-' || key, coalesce(remote, 'present'), sent, seen, coalesce(state, 'idle'),
       CASE WHEN kinds IS NOT NULL THEN jsonb_build_object('code', 'held', 'kinds', kinds) END,
       CASE WHEN state = 'discarded' THEN jsonb_build_object('kinds', kinds, 'desired', coalesce(desired, 'd')) END,
       coalesce(desired, 'd'), now() - interval '5 minutes' FROM r`,
    [JSON.stringify(rows)],
  )
}

export const held = (
  key: string,
  kinds: readonly string[] = ['revocation'],
  rest: Partial<Row> = {},
): Row => ({ key, state: 'held', kinds, sent: 2, ...rest })

/** k00001, k00002, … */
export function keys(count: number, from = 1): string[] {
  return Array.from({ length: count }, (_, n) => `k${String(from + n).padStart(5, '0')}`)
}

/** So many customers may be changed in one way, and registered, whatever share that is of all. */
export function limits(changes: number, creates = 1000): Config['brake'] {
  return {
    windowHours: 24,
    changes: { customers: changes, share: 0 },
    creates: { customers: creates, share: 0 },
  }
}
