import type { Pool } from 'pg'
import { type Client, oneRow } from '../database/client.ts'
import { RollcallError } from '../model/errors.ts'
import { WORKER } from './grants.ts'
import { checkMigrated } from './migrate.ts'

/** Why nothing can be said of what was sent before. */
type Unreadable = 'not-migrated' | 'no-right'

/** The inputs of a forecast. */
const FORECAST = 'brake capture_mark generation ledger migration owed pace run target'.split(' ')

const RIGHTS = `
SELECT count(*)::int AS there, (count(*) FILTER (WHERE has_schema_privilege(n.oid, 'USAGE')
  AND has_table_privilege(c.oid, 'SELECT')))::int AS readable
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'rollcall' AND c.relname = ANY($1)`

/** Null where these tables are there and may be read; asked of the catalog, which refuses no role. */
export async function whyUnreadable(
  pool: Pool,
  needed: readonly string[] = FORECAST,
): Promise<Unreadable | null> {
  const { there, readable } = await oneRow<{ there: number; readable: number }>(pool, RIGHTS, [needed])
  if (there < needed.length) return 'not-migrated'
  if (readable < needed.length) return 'no-right'
  try {
    await checkMigrated(pool)
    return null
  } catch (error) {
    if (error instanceof RollcallError && error.code === 'NOT_MIGRATED') return 'not-migrated'
    throw error
  }
}

export async function mayRead(client: Client, table: string): Promise<boolean> {
  const right = `SELECT has_table_privilege('rollcall.' || quote_ident($1), 'SELECT') AS may`
  return (await oneRow<{ may: boolean }>(client, right, [table])).may
}

const LACKING = `
SELECT p.name || ' ON rollcall.' || t.name AS lacks
FROM jsonb_each($1) AS t (name, rights), jsonb_array_elements_text(t.rights) AS p (name)
WHERE NOT CASE WHEN p.name LIKE '%(%' THEN has_any_column_privilege('rollcall.' || t.name, split_part(p.name, ' ', 1))
  ELSE has_table_privilege('rollcall.' || t.name, p.name) END
UNION ALL SELECT 'USAGE ON SEQUENCE rollcall.' || name FROM unnest($2::text[]) AS name
WHERE NOT has_sequence_privilege('rollcall.' || name, 'USAGE')`

/**
 * For the start of a worker: what its role lacks would fail in the midst of its work, each time anew.
 *
 * @throws RollcallError DATABASE_REFUSED naming what it lacks, as after a `migrate` without new grants
 */
export async function checkRights(client: Client, role: string): Promise<void> {
  const { rows } = await client.query<{ lacks: string }>(LACKING, [WORKER.tables, WORKER.sequences])
  if (rows.length === 0) return
  const lines = rows.map(({ lacks }) => `${role} lacks ${lacks}`)
  throw new RollcallError('DATABASE_REFUSED', [
    ...lines,
    'run the SQL that `rollcall grants` prints; do this after each `migrate`',
  ])
}
