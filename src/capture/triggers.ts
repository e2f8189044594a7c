// The SQL of one watcher: a function, and on each of its tables four statement triggers that call it. Pure.
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Relation } from '../config/relation.ts'
import { quotedName } from '../customers/problems.ts'
import { LANE, type Lane } from '../model/customer.ts'
import type { Watcher } from './relations.ts'

export const CAPTURE_SCHEMA = 'rollcall'
/** Every function of ours in that schema begins with it, and nothing else there does. */
export const FUNCTION_PREFIX = 'capture_'

export type TransitionTables = { readonly old: string | null; readonly new: string | null }

/**
 * The row of such a trigger in pg_trigger (AFTER, for each statement, this one event), and its transition tables.
 * Postgres allows one event for a trigger with transition tables, hence four.
 */
export const TRIGGERS = {
  insert: { type: 4, tables: { old: null, new: 'new_rows' } },
  update: { type: 16, tables: { old: 'old_rows', new: 'new_rows' } },
  delete: { type: 8, tables: { old: 'old_rows', new: null } },
  truncate: { type: 32, tables: { old: null, new: null } },
} as const satisfies Record<string, { readonly type: number; readonly tables: TransitionTables }>

export type Event = keyof typeof TRIGGERS
export const EVENTS: readonly Event[] = ['insert', 'update', 'delete', 'truncate']

/**
 * The session's settings must not reach in: names resolve to the system's own only, so application roles can shadow
 * nothing in a SECURITY DEFINER function. Floats print all their digits, so that no change is rounded away.
 */
export const FUNCTION_SETTINGS = ['search_path=pg_catalog, pg_temp', 'extra_float_digits=1'] as const

/**
 * Names are found by what they stand for: the relation and its key. A relation can be watched twice with different
 * keys (who invited, who was invited). A name of any length or spelling fits into 63 bytes.
 */
export function functionName(watcher: Watcher): string {
  return `${FUNCTION_PREFIX}${clip(watcher.relation.name, 40)}_${identity(watcher)}`
}

export function triggerName(watcher: Watcher, event: Event): string {
  return `rollcall_capture_${event}_${identity(watcher)}`
}

/** Safe to run over an older one: the tables' triggers use the new body from their next statement on. */
export function createFunction(watcher: Watcher, outboxLimitMb: number): string {
  const name = quotedFunction(functionName(watcher))
  const body = functionBody(watcher, outboxLimitMb)
  const fence = fenceFor(body)
  return `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1
AS ${fence}${body}${fence};
REVOKE ALL ON FUNCTION ${name}() FROM PUBLIC;`
}

/** CREATE OR REPLACE locks out writers for a moment, DROP and CREATE would lock out readers too. */
export function createTrigger(watcher: Watcher, table: Relation, event: Event): string {
  const { tables } = TRIGGERS[event]
  const referencing = [
    ...(tables.old ? [`OLD TABLE AS ${tables.old}`] : []),
    ...(tables.new ? [`NEW TABLE AS ${tables.new}`] : []),
  ]
  return [
    `CREATE OR REPLACE TRIGGER ${pg.escapeIdentifier(triggerName(watcher, event))}`,
    `AFTER ${event.toUpperCase()} ON ${quoted(table)}`,
    ...(referencing.length > 0 ? [`REFERENCING ${referencing.join(' ')}`] : []),
    `FOR EACH STATEMENT EXECUTE FUNCTION ${quotedFunction(functionName(watcher))}();`,
  ].join(' ')
}

export function quoted({ schema, name }: Relation): string {
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`
}

export function quotedFunction(name: string): string {
  return `${CAPTURE_SCHEMA}.${pg.escapeIdentifier(name)}`
}

function identity({ relation, key }: Watcher): string {
  const text = JSON.stringify([relation.schema, relation.name, key])
  return createHash('sha256').update(text).digest('hex').slice(0, 10)
}

/** Cut to whole characters, since Postgres counts bytes. */
function clip(name: string, bytes: number): string {
  let clipped = ''
  for (const character of name) {
    if (Buffer.byteLength(clipped + character) > bytes) break
    clipped += character
  }
  return clipped
}

/** A dollar quote that the body does not hold: an identifier may be spelled like one. */
function fenceFor(body: string): string {
  let fence = '$rollcall$'
  for (let i = 1; body.includes(fence); i++) fence = `$rollcall${i}$`
  return fence
}

// The trigger function's body. It runs inside the application's statements, so its first rule is to do no
// harm: what can go wrong goes wrong in an exception block and costs a note too many, never an error.
//
// Three parts: which keys changed (guarded), is there room, append. The append stays outside the block for
// two reasons. Refused, it must be heard, because a change would be lost. And a block that writes takes a
// transaction id of its own: an application that runs hundreds of statements in one transaction would
// overflow the server's cache of subtransactions, which slows down all sessions. Only statements of more than
// BULK rows, where one more id is nothing, append inside it, so that their keys need not fit into memory.
const BULK = 100_000

export function functionBody(watcher: Watcher, outboxLimitMb: number): string {
  const inserted = keysOf(watcher, 'new_rows')
  const deleted = keysOf(watcher, 'old_rows')
  return `
#variable_conflict use_column
DECLARE
  keys text[];
  gap boolean := false;
  bulk boolean := false;
  outbox_limit CONSTANT bigint := ${BigInt(outboxLimitMb) * 1_048_576n};
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    ${mark('truncate', watcher)}
    RETURN NULL;
  ELSIF TG_OP = 'INSERT' THEN
${guarded({ rows: 'new_rows', changed: inserted, all: inserted, lane: LANE.change })}
  ELSIF TG_OP = 'UPDATE' THEN
${guarded({ rows: 'new_rows', changed: changedKeys(watcher), all: `${inserted} UNION ${deleted}`, lane: LANE.change })}
  ELSE
${guarded({ rows: 'old_rows', changed: deleted, all: deleted, lane: watcher.deletionLane })}
  END IF;

  IF keys IS NOT NULL AND cardinality(keys) > 0 THEN
    IF pg_relation_size('rollcall.outbox') > outbox_limit THEN
      gap := true;
    ELSE
      INSERT INTO rollcall.outbox (key, lane)
      SELECT k, CASE TG_OP WHEN 'DELETE' THEN ${watcher.deletionLane} ELSE ${LANE.change} END FROM unnest(keys) AS u (k);
    END IF;
  END IF;
  IF gap THEN
    ${mark('overflow', watcher)}
  END IF;
  RETURN NULL;
END`
}

type Step = { readonly rows: string; readonly changed: string; readonly all: string; readonly lane: Lane }

/** A column that was renamed, dropped or given another type falls back to all keys; a lost key to a mark. */
function guarded({ rows, changed, all, lane }: Step): string {
  const append = (keys: string) =>
    `INSERT INTO rollcall.outbox (key, lane) SELECT c.k, ${lane} FROM (${keys}) c`
  return `    BEGIN
      bulk := EXISTS (SELECT FROM ${rows} OFFSET ${BULK});
      IF NOT bulk THEN
        keys := ARRAY(${changed});
      ELSIF pg_relation_size('rollcall.outbox') > outbox_limit THEN
        gap := EXISTS (${changed});
      ELSE
        ${append(changed)};
      END IF;
    EXCEPTION WHEN OTHERS THEN
      BEGIN
        IF NOT bulk THEN
          keys := ARRAY(${all});
        ELSIF pg_relation_size('rollcall.outbox') > outbox_limit THEN
          gap := true;
        ELSE
          ${append(all)};
        END IF;
      EXCEPTION WHEN OTHERS THEN
        gap := true;
      END;
    END;`
}

/**
 * The keys whose rows are not the same before and after, as multisets of (key, columns): every row counts +1 after
 * and -1 before, and what does not add up to zero has changed. This is EXCEPT ALL both ways in one pass. It also
 * holds for tables with several rows of one key, where a join by key would compare each row with each. A key change
 * A→B is a row less for A and a row more for B, so chains note all that differ.
 *
 * Everything is compared as text, byte by byte: json has no equality, citext and some collations hide a change of
 * case, and NULLs group together.
 */
function changedKeys({ key, columns }: Watcher): string {
  const compared = columns.map((column, i) => `${textOf(column)} AS c${i}`)
  const side = (rows: string, sign: string) =>
    `SELECT ${[`${keyText(key)} AS k`, ...compared, `${sign} AS n`].join(', ')} FROM ${rows} r`
  const group = ['m.k', ...columns.map((_, i) => `m.c${i}`)].join(', ')
  return `SELECT DISTINCT d.k FROM (
          SELECT m.k FROM (
            ${side('new_rows', '1')}
            UNION ALL
            ${side('old_rows', '-1')}) m
          GROUP BY ${group} HAVING sum(m.n) <> 0) d
        WHERE d.k IS NOT NULL`
}

/** Columns that a body names, those of the key among them. */
export function columnsIn(body: string): readonly string[] {
  const names = [...body.matchAll(/r\.("(?:[^"]|"")*")/g)].map(([, quoted = '""']) => quoted)
  return [...new Set(names)].map((quoted) => quoted.slice(1, -1).replaceAll('""', '"'))
}

function keysOf({ key }: Watcher, rows: string): string {
  return `SELECT DISTINCT a.k FROM (SELECT ${keyText(key)} AS k FROM ${rows} r) a WHERE a.k IS NOT NULL`
}

/** The canonical key (model/customer.ts). A key with a NULL in it belongs to no customer. */
function keyText(key: readonly string[]): string {
  const [only, ...others] = key
  if (only !== undefined && others.length === 0) return textOf(only)
  const present = key.map((column) => `r.${pg.escapeIdentifier(column)} IS NOT NULL`).join(' AND ')
  return `CASE WHEN ${present} THEN (jsonb_build_array(${key.map(textOf).join(', ')})::text) COLLATE "C" END`
}

/**
 * By the type's own output function and never by a cast: the owner of a type may define a cast of it to text,
 * and this body runs with the rights of our owner. For char(n) alone the two differ (the cast drops the
 * padding), and that cast is Postgres' own.
 */
function textOf(column: string): string {
  const value = `r.${pg.escapeIdentifier(column)}`
  return `(CASE WHEN ${value} IS DISTINCT FROM NULL THEN
      CASE pg_typeof(${value}) WHEN 'bpchar'::regtype THEN rtrim(format('%s', ${value}), ' ') ELSE format('%s', ${value}) END
    END) COLLATE "C"`
}

/**
 * One open mark is enough, and a unique constraint would make writers wait for each other, so this looks instead. A
 * transaction with an older snapshot looks at the past: it trusts only marks of its own. A resync that resolves a
 * mark must start after every transaction that may have seen it open (marks.ts). TRUNCATE names every partition in
 * one statement, and is rare: only its own transaction's mark counts.
 */
function mark(kind: 'truncate' | 'overflow', { relation }: Watcher): string {
  const own = 'm.xmin = pg_current_xact_id()::xid'
  const shared = "current_setting('transaction_isolation') NOT IN ('repeatable read', 'serializable')"
  return `INSERT INTO rollcall.capture_mark (kind, relation)
    SELECT '${kind}', ${pg.escapeLiteral(quotedName(relation))} WHERE NOT EXISTS (
      SELECT FROM rollcall.capture_mark m
      WHERE m.kind = '${kind}' AND m.relation = ${pg.escapeLiteral(quotedName(relation))} AND m.resolved_at IS NULL
        AND ${kind === 'truncate' ? own : `(${own} OR ${shared})`});`
}
