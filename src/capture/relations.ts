// Which tables need triggers, and which of their columns matter: the configuration's watch list, completed
// from the catalog.
import type { ClientBase } from 'pg'
import type { Config, Relation, Watched } from '../config/config.ts'
import { sameRelation } from '../config/relation.ts'
import { findRelation } from '../customers/catalog.ts'
import { neededColumns } from '../customers/columns.ts'
import { quotedName } from '../customers/problems.ts'
import { LANE } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import type { CapturePlan, Watcher } from './plan.ts'
import { readByView } from './view.ts'

type Client = Pick<ClientBase, 'query'>

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
      watchers.push(await watch(client, { config, entry, oid: found.oid, view: customers?.oid }))
      problems.push(...(await foreignParts(client, entry.relation, found.oid)))
    } else {
      problems.push(`watch: ${quotedName(entry.relation)} is no table; name the tables behind it`)
    }
  }
  if (problems.length > 0) throw new RollcallError('CUSTOMERS_UNREADABLE', problems)
  return { watchers, gone, outboxLimitMb: config.capture.outboxLimitMb }
}

type WatchInput = {
  readonly config: Config
  readonly entry: Watched
  readonly oid: string
  readonly view: string | undefined
}

async function watch(client: Client, { config, entry, oid, view }: WatchInput): Promise<Watcher> {
  const { relation, key } = entry
  const own = sameRelation(relation, config.customers.relation)
  const existing = await columnsOf(client, oid)
  const wanted = entry.columns ??
    (own ? neededColumns(config) : await readByView(client, view, oid)) ?? [...existing.keys()]
  const columns = wanted.flatMap((name) => existing.get(name) ?? [name])
  return {
    relation,
    key,
    columns: [...new Set(columns)].filter((name) => !key.includes(name)).sort(),
    deletionLane: own ? LANE.deletion : LANE.change,
    tables: await tablesOf(client, oid),
    missing: [...new Set([...key, ...columns])].filter((name) => !existing.has(name)),
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

/**
 * Statement triggers of a parent are not fired by writes addressed to a partition or child, so each of them
 * needs its own.
 */
async function tablesOf(client: Client, oid: string): Promise<readonly Relation[]> {
  const { rows } = await client.query<Relation>(
    `${TREE}
     SELECT n.nspname::text AS schema, c.relname::text AS name
     FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') ORDER BY c.oid <> $1, 1, 2`,
    [oid],
  )
  return rows
}

/** With transition tables on the parent, Postgres would refuse the application's writes to such a part. */
async function foreignParts(client: Client, relation: Relation, oid: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `${TREE} SELECT c.oid::regclass::text AS name FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.oid
     WHERE c.relkind = 'f' ORDER BY 1`,
    [oid],
  )
  return rows.map(
    ({ name }) =>
      `watch: ${quotedName(relation)} has the foreign table ${name} in it, which triggers cannot watch`,
  )
}

const TREE = `
  WITH RECURSIVE tree (oid) AS (
    SELECT $1::oid UNION SELECT i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.oid)`
