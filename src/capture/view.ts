import type { ClientBase } from 'pg'

/**
 * The columns of a table that the customers' view reads, itself or through other views, by what its rewrite
 * rules depend on. Null (every column counts) when the view does not name the table, as when it reads it
 * through a function, or takes whole rows of anything, which leaves no trace by column.
 */
export async function readByView(
  client: Pick<ClientBase, 'query'>,
  view: string | undefined,
  table: string,
): Promise<readonly string[] | null> {
  if (view === undefined) return null
  const { rows } = await client.query<{ columns: string[] | null; whole: boolean | null }>(
    `WITH RECURSIVE read (view, relation, col) AS (
       SELECT r.ev_class, d.refobjid, d.refobjsubid FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d
         ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
         AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> r.ev_class
       WHERE r.ev_class = $1
       UNION
       SELECT r.ev_class, d.refobjid, d.refobjsubid FROM read JOIN pg_catalog.pg_rewrite r ON r.ev_class = read.relation
         JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
         AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> r.ev_class)
     SELECT json_agg(DISTINCT a.attname::text) FILTER (WHERE a.attnum > 0) AS columns,
       bool_or(r.ev_action::text LIKE '%:varattno 0 %') AS whole
     FROM read JOIN pg_catalog.pg_rewrite r ON r.ev_class = read.view
     LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = read.relation AND a.attnum = read.col
     WHERE read.relation = $2`,
    [view, table],
  )
  const [read] = rows
  if (!read || read.whole === null || read.whole) return null
  return read.columns ?? []
}
