// Reads a relation and its columns from Postgres' catalog.
import type { Relation } from '../config/relation.ts'
import type { Client } from '../database/client.ts'

/** A column's type with domains resolved. */
export type BaseType = {
  readonly schema: string
  readonly name: string
  /** The labels of an enum; null for every other type. */
  readonly labels: readonly string[] | null
}

export type FoundRelation = {
  readonly oid: string
  /** pg_class.relkind: `r` table, `p` partitioned table, `v` view, `m` materialized view, `f` foreign table. */
  readonly kind: string
  /** Row-level security hides rows from this role, or may. */
  readonly filtered: boolean
  readonly schemaUsable: boolean
}

export type FoundColumn = {
  readonly name: string
  /** As declared, for people: `character varying(20)`. */
  readonly type: string
  readonly base: BaseType
  /** The base type for a cast of a parameter (never of the column, whose index would be lost), quoted. */
  readonly cast: string
  /**
   * The schema of the operators that its indexes go by, quoted. An operator without it is looked for on the search path:
   * of citext, which an extension brings, text's would be found, and A would no longer equal a.
   */
  readonly operators: string
  /** It is of a domain over its base type. */
  readonly domain: boolean
  readonly readable: boolean
  /** Equal values may have different texts: citext, or a collation that ignores case or accents. */
  readonly loose: boolean
  /** Computed when read, and therefore not in a trigger's transition tables. */
  readonly virtual: boolean
}

export type KeyColumn = Pick<FoundColumn, 'name' | 'type' | 'base' | 'cast' | 'operators' | 'domain'>

export async function findRelation(
  client: Client,
  { schema, name }: Relation,
): Promise<FoundRelation | undefined> {
  const { rows } = await client.query<FoundRelation>(
    `SELECT c.oid::text AS oid, c.relkind::text AS kind, row_security_active(c.oid) AS filtered,
       has_schema_privilege(n.oid, 'USAGE') AS "schemaUsable"
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`,
    [schema, name],
  )
  return rows[0]
}

/** `schema.name` of every table and view that is not the system's own, for "did you mean". */
export async function relationNames(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT n.nspname || '.' || c.relname AS name
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
     ORDER BY 1 LIMIT 10000`,
  )
  return rows.map(({ name }) => name)
}

export async function findColumns(client: Client, oid: string): Promise<ReadonlyMap<string, FoundColumn>> {
  const { rows } = await client.query<FoundColumn>(
    `WITH RECURSIVE resolved (attnum, type) AS (
       SELECT a.attnum, a.atttypid FROM pg_catalog.pg_attribute a
       WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped
       UNION
       SELECT r.attnum, t.typbasetype FROM resolved r JOIN pg_catalog.pg_type t ON t.oid = r.type AND t.typtype = 'd')
     SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
       json_build_object('schema', tn.nspname, 'name', t.typname, 'labels', CASE WHEN t.typtype = 'e' THEN
         (SELECT json_agg(e.enumlabel) FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid) END) AS base,
       quote_ident(tn.nspname) || '.' || quote_ident(t.typname) AS cast,
       coalesce((SELECT quote_ident(n.nspname)
         FROM pg_catalog.pg_opclass c JOIN pg_catalog.pg_am m ON m.oid = c.opcmethod AND m.amname = 'btree'
         JOIN pg_catalog.pg_amop p ON p.amopfamily = c.opcfamily AND p.amoplefttype = t.oid
           AND p.amoprighttype = t.oid AND p.amopstrategy = 3
         JOIN pg_catalog.pg_operator o ON o.oid = p.amopopr JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
         WHERE c.opcintype = t.oid AND c.opcdefault), 'pg_catalog') AS operators,
       t.oid <> a.atttypid AS domain,
       has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable,
       t.typname = 'citext' OR NOT coalesce(k.collisdeterministic, true) AS loose,
       a.attgenerated = 'v' AS virtual
     FROM resolved r JOIN pg_catalog.pg_attribute a ON a.attrelid = $1 AND a.attnum = r.attnum
     JOIN pg_catalog.pg_type t ON t.oid = r.type AND t.typtype <> 'd'
     JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
     LEFT JOIN pg_catalog.pg_collation k ON k.oid = a.attcollation
     ORDER BY a.attnum`,
    [oid],
  )
  return new Map(rows.map((row) => [row.name, row]))
}

/** Whether an index says that no two rows have the same values in these columns. */
export async function uniqueBy(client: Client, oid: string, columns: readonly string[]): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_catalog.pg_index i
     WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND NOT EXISTS (
       SELECT FROM generate_series(0, i.indnkeyatts - 1) AS p (pos)
       LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[p.pos]
       WHERE a.attnum IS NULL OR a.attnum = 0 OR a.attname <> ALL ($2::text[]))`,
    [oid, columns],
  )
  return rows.length > 0
}

/**
 * Functions that a view calls, itself or through other views, whose text is read when they run, on the search path of
 * their caller. Functions that these call in turn are not known to the catalog.
 */
export async function pathlessFunctions(client: Client, view: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `WITH RECURSIVE rule (oid) AS (
       SELECT r.oid FROM pg_catalog.pg_rewrite r WHERE r.ev_class = $1 AND r.ev_type = '1'
       UNION
       SELECT r.oid FROM rule JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass
         AND d.objid = rule.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass
       JOIN pg_catalog.pg_class c ON c.oid = d.refobjid AND c.relkind = 'v'
       JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid AND r.ev_type = '1')
     SELECT DISTINCT n.nspname || '.' || p.proname AS name
     FROM rule JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = rule.oid
       AND d.refclassid = 'pg_catalog.pg_proc'::regclass
     JOIN pg_catalog.pg_proc p ON p.oid = d.refobjid AND p.prosqlbody IS NULL
     JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
     JOIN pg_catalog.pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('internal', 'c')
     WHERE NOT EXISTS (SELECT FROM unnest(p.proconfig) AS s (setting) WHERE starts_with(s.setting, 'search_path='))
     ORDER BY 1 LIMIT 10`,
    [view],
  )
  return rows.map(({ name }) => name)
}
