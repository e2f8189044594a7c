// The parts of trigger capture: one watcher for every watched relation, with the tables that carry its triggers and
// the columns that matter. The configuration's watch list, completed from the catalog.
import type { Config, Watched } from '../config/config.ts'
import { type Relation, sameRelation } from '../config/relation.ts'
import { findRelation } from '../customers/catalog.ts'
import { neededColumns } from '../customers/columns.ts'
import { quotedName } from '../customers/problems.ts'
import type { Client } from '../database/client.ts'
import { LANE, type Lane } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'

/** As the configuration has it; a partitioned table stands for its partitions. */
export type Watcher = Pick<Watched, 'relation' | 'key'> & {
  /** The columns whose change matters, besides the key. */
  readonly columns: readonly string[]
  /** Lane of deleted rows: a customer who is gone is more urgent than a subscription that is. */
  readonly deletionLane: Lane
  /** The relation itself and its partitions and children: each needs triggers of its own. */
  readonly tables: readonly Relation[]
  /** Columns of `key` and `columns` that the relation does not have. */
  readonly missing: readonly string[]
}

export type CapturePlan = {
  readonly watchers: readonly Watcher[]
  readonly gone: readonly Relation[]
  readonly outboxLimitMb: number
}

/** Throws CUSTOMERS_UNREADABLE when something is watched that cannot carry triggers. Changes nothing. */
export async function planCapture(client: Client, config: Config): Promise<CapturePlan> {
  const customers = await findRelation(client, config.customers.relation)
  const gone: Relation[] = []
  const watchers: Watcher[] = []
  const problems: string[] = []
  for (const entry of config.watch) {
    const found = await findRelation(client, entry.relation)
    if (!found) {
      gone.push(entry.relation)
    } else if (found.kind === 'r' || found.kind === 'p') {
      const parts = await partsOf(client, found.oid)
      // With transition tables on the parent, Postgres would refuse the application's writes to a foreign part.
      for (const part of parts.filter(({ foreign }) => foreign))
        problems.push(
          `watch: ${quotedName(entry.relation)} has the foreign table ${quotedName(part)} in it, which triggers cannot watch. Detach it; where writes fail by it, \`rollcall capture uninstall\` ends that`,
        )
      const tables = parts.map(({ schema, name }) => ({ schema, name }))
      watchers.push(await watch(entry, found.oid, tables))
    } else {
      problems.push(`watch: ${quotedName(entry.relation)} is no table; name the tables behind it`)
    }
  }
  if (problems.length > 0) throw new RollcallError('CUSTOMERS_UNREADABLE', problems)
  return { watchers, gone, outboxLimitMb: config.capture.outboxLimitMb }

  async function watch(entry: Watched, oid: string, tables: readonly Relation[]): Promise<Watcher> {
    const { relation, key } = entry
    const own = sameRelation(relation, config.customers.relation)
    const existing = await columnsOf(client, oid)
    const wanted = entry.columns ??
      (own ? neededColumns(config) : customers && (await readByView(client, customers.oid, oid))) ?? [
        ...existing.keys(),
      ]
    const columns = wanted.flatMap((name) => existing.get(name) ?? [name])
    return {
      ...{ relation, key, tables },
      columns: [...new Set(columns)].filter((name) => !key.includes(name)).sort(),
      deletionLane: own ? LANE.deletion : LANE.change,
      missing: [...new Set([...key, ...columns])].filter((name) => !existing.has(name)),
    }
  }
}

/**
 * Every column with the columns to compare in its place: a transition table does not hold virtual generated
 * columns (reading one is an error), so the columns that it is computed from stand for it.
 */
async function columnsOf(client: Client, oid: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<{ name: string; stands: string[] | null }>(
    `SELECT a.attname::text AS name,
       CASE WHEN a.attgenerated = 'v' THEN to_json(ARRAY(
         SELECT b.attname::text FROM pg_catalog.pg_attrdef f
         JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = f.oid
           AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = a.attrelid
         JOIN pg_catalog.pg_attribute b ON b.attrelid = a.attrelid AND b.attnum = d.refobjsubid
         WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum AND b.attnum <> a.attnum)) END AS stands
     FROM pg_catalog.pg_attribute a
     WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [oid],
  )
  return new Map(rows.map(({ name, stands }) => [name, stands ?? [name]]))
}

/** The relation, its partitions and children at every level: writes addressed to one of them fire no trigger above it. */
async function partsOf(client: Client, oid: string) {
  const { rows } = await client.query<Relation & { readonly foreign: boolean }>(
    `WITH RECURSIVE tree (oid) AS (
       SELECT $1::oid UNION SELECT i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.oid)
     SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind = 'f' AS foreign
     FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'f') ORDER BY c.oid <> $1, 1, 2`,
    [oid],
  )
  return rows
}

/**
 * The columns of a table that the customers' view reads, itself or through other views, by what its rewrite rules
 * depend on. Null (every column counts) when the view reads the table through a function, or takes whole rows.
 */
async function readByView(client: Client, view: string, table: string): Promise<readonly string[] | null> {
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
