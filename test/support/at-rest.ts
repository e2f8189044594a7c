// Asks again where a connection breaks.
import type { Pool } from 'pg'
import { until } from './until.ts'

/** A few of what is open are enough for a failure. */
const OPEN = `
SELECT (to_jsonb(o) || jsonb_build_object('state', l.state, 'reason', l.reason,
  'outbox', (SELECT count(*) FROM rollcall.outbox)))::text AS open
FROM rollcall.owed o FULL JOIN (SELECT key FROM rollcall.outbox) b USING (key) LEFT JOIN rollcall.ledger l USING (key)
WHERE o.due_at IS NOT NULL OR o.unknown OR b.key IS NOT NULL LIMIT 3`

/** Nothing in the outbox, nothing owed, nothing unknown. */
export async function atRest(pool: Pool, patience?: number): Promise<void> {
  const nothing = async () => {
    const { rows } = await pool.query<{ open: string | null }>(OPEN)
    if (rows.length > 0) throw new Error(rows.map(({ open }) => open ?? 'not noted yet').join('; '))
    return true
  }
  const what = 'nothing owed and nothing unknown'
  await until(nothing, patience === undefined ? { what } : { what, patience })
}

/** And no lookup is still to come: as if the time for all of them had come. An answer that says neither yes nor no may have passed for a yes. */
export async function verified(pool: Pool, patience?: number): Promise<void> {
  for (;;) {
    await atRest(pool, patience)
    const { rowCount } = await until(() => pool.query(HURRY))
    if (rowCount === 0) return
    await until(async () => (await pool.query(DUE)).rowCount === 0, { what: 'no lookup is due' })
  }
}

const HURRY = 'UPDATE rollcall.owed SET verify_at = now() WHERE verify_left > 0 AND verify_at IS NOT NULL'
const DUE = 'SELECT FROM rollcall.owed WHERE verify_left > 0 AND verify_at <= now()'
