// The body of a watcher's trigger function. It runs inside the application's statements, so its first rule is to do no
// harm: keys are found in an exception block, and an error there appends too many keys, or marks a gap.
//
// After the block the body checks the size of the outbox, and appends the keys (`id` and `at` have defaults). The append stays outside the block for
// two reasons. A refusal that was caught would lose a change. And a block that writes takes a
// transaction id of its own: an application that runs hundreds of statements in one transaction would
// overflow the server's cache of subtransactions, which slows down all sessions. Only statements of more than
// BULK rows, where one more id is nothing, append inside it, so that their keys need not fit into memory.
import pg from 'pg'
import { quotedName } from '../customers/problems.ts'
import { LANE, type Lane } from '../model/customer.ts'
import type { Watcher } from './relations.ts'

const BULK = 100_000

export function functionBody(watcher: Watcher, outboxLimitMb: number): string {
  const inserted = keysOf(watcher, 'new_rows')
  const deleted = keysOf(watcher, 'old_rows')
  const both = `${inserted} UNION ${deleted}`
  return `
#variable_conflict use_column
DECLARE
  keys text[];
  gap boolean := false;
  bulk boolean := false;
  by_set boolean;
  outbox_limit CONSTANT bigint := ${BigInt(outboxLimitMb) * 1_048_576n};
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    ${mark('truncate', watcher)}
    RETURN NULL;
  ELSIF TG_OP = 'INSERT' THEN
${guarded({ rows: 'new_rows', changed: inserted, all: inserted, lane: LANE.change })}
  ELSIF TG_OP = 'UPDATE' THEN
    -- Most UPDATEs change one row. This block handles them in half the time that by_set takes.
    BEGIN
      by_set := EXISTS (SELECT FROM old_rows OFFSET 1);
      IF NOT by_set AND ((SELECT ${compared(watcher)} FROM old_rows r) *<> (SELECT ${compared(watcher)} FROM new_rows r)) IS NOT FALSE THEN
        keys := ARRAY(${both});
      END IF;
    EXCEPTION WHEN OTHERS THEN
      by_set := true;
    END;
    IF by_set THEN
${guarded({ rows: 'new_rows', changed: changedKeys(watcher), all: both, lane: LANE.change })}
    END IF;
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

type Guard = { readonly rows: string; readonly changed: string; readonly all: string; readonly lane: Lane }

/** If a column was renamed, dropped or given another type, all keys are appended. If the key is lost, the table is marked. */
function guarded({ rows, changed, all, lane }: Guard): string {
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
 * The keys whose rows are not the same before and after. Postgres keeps the old and the new rows of an UPDATE in one
 * order, so they are compared in pairs; in any other order pairs would differ that need not, and too many would be
 * noted. A pair with a difference appends both of its keys: key changes A→B, B→C append all three. Columns are read below the
 * numbering (OFFSET 0): in it, Postgres 18 reads a column that has become virtual as NULL, and does not refuse.
 */
function changedKeys(watcher: Watcher): string {
  const side = (rows: string) =>
    `(SELECT s.k, s.v, row_number() OVER () AS i FROM (
          SELECT ${keyText(watcher.key)} AS k, ${compared(watcher)} AS v FROM ${rows} r OFFSET 0) s)`
  return `SELECT DISTINCT d.k
        FROM ${side('old_rows')} o FULL JOIN ${side('new_rows')} n USING (i), LATERAL (VALUES (o.k), (n.k)) d (k)
        WHERE (o.v *<> n.v) IS NOT FALSE AND d.k IS NOT NULL`
}

/** Key, and the columns that the mapping reads, compared by their bytes (`*<>`, where NULL differs from a value): json has no equality, and citext and some collations ignore case. */
function compared({ key, columns }: Watcher): string {
  return `ROW(${[...key, ...columns].map((column) => `r.${pg.escapeIdentifier(column)}`).join(', ')})::record`
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
