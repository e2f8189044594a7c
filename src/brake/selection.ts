// Whom a person means who decides about those who are held.
import type { Pool } from 'pg'
import { OPEN_RELEASE, releasedFor } from '../ledger/released.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { HeldKind } from './brake.ts'

export type HeldSelection = { readonly kind: HeldKind } | { readonly keys: readonly CustomerKey[] }

const PAGE = 1000

/** Keys in pages, in order: those who are meant, or for a kind those who are held for it. */
export async function* pagesOf(pool: Pool, choice: HeldSelection): AsyncGenerator<readonly CustomerKey[]> {
  if ('keys' in choice) {
    const keys = [...new Set(choice.keys)].sort()
    for (let from = 0; from < keys.length; from += PAGE) yield keys.slice(from, from + PAGE)
    return
  }
  for (let after: CustomerKey | null = null; ; ) {
    const page: { rows: { key: CustomerKey; meant: boolean }[] } = await pool.query(PAGE_OF_HELD, [
      choice.kind,
      after,
    ])
    const meant = page.rows.filter((row) => row.meant).map(({ key }) => key)
    if (meant.length > 0) yield meant
    if (page.rows.length < PAGE) return
    after = page.rows.at(-1)?.key ?? null
  }
}

/** Of all kinds: how rare one is the planner cannot know, and it would sort everybody who is held for every page. */
const PAGE_OF_HELD = `
WITH page AS MATERIALIZED (
  SELECT l.key, l.reason FROM rollcall.ledger l
  WHERE l.state = 'held' AND ($2::text IS NULL OR l.key > $2) ORDER BY l.key LIMIT ${PAGE})
SELECT key, coalesce(reason->'kinds' ? $1, false) AS meant FROM page ORDER BY key`

/** Of those who are meant, how many wait for a person still. */
export async function countLeft(pool: Pool, choice: HeldSelection): Promise<number> {
  const { rows } = await pool.query<{ left: number }>(
    `SELECT count(*)::int AS left FROM rollcall.ledger l
     WHERE l.state = 'held' AND ($1::text IS NULL OR l.reason->'kinds' ? $1)
       AND ($2::text[] IS NULL OR l.key = ANY($2))
       AND NOT CASE WHEN $1::text IS NULL THEN ${OPEN_RELEASE} ELSE ${releasedFor('$1')} END`,
    ['kind' in choice ? choice.kind : null, 'keys' in choice ? choice.keys : null],
  )
  return rows[0]?.left ?? 0
}
