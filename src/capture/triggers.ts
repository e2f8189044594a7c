// The SQL of one watcher: a function, and on each of its tables four statement triggers that call it. Pure.
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Relation } from '../config/relation.ts'
import { quoted } from '../customers/query.ts'
import type { Watcher } from './relations.ts'
import { functionBody } from './trigger-body.ts'

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
 * Names resolve to the system's own only, so application roles can shadow nothing in a SECURITY DEFINER function. The plan
 * that a session keeps after a large statement would be compiled for each small one.
 */
export const FUNCTION_SETTINGS = ['search_path=pg_catalog, pg_temp', 'jit=off'] as const

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
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
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

export function quotedFunction(name: string): string {
  return `${CAPTURE_SCHEMA}.${pg.escapeIdentifier(name)}`
}

function identity({ relation, key }: Watcher): string {
  const text = JSON.stringify([relation.schema, relation.name, key])
  return createHash('sha256').update(text).digest('hex').slice(0, 10)
}

/** Cut to whole characters, since Postgres counts bytes. */
function clip(name: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(name, new Uint8Array(bytes))
  return name.slice(0, read)
}

/** A dollar quote that the body does not hold: an identifier may be spelled like one. */
function fenceFor(body: string): string {
  let fence = '$rollcall$'
  for (let i = 1; body.includes(fence); i++) fence = `$rollcall${i}$`
  return fence
}

/** Columns that a body names, those of the key among them. */
export function columnsIn(body: string): readonly string[] {
  const names = [...body.matchAll(/r\.("(?:[^"]|"")*")/g)].map(([, quoted = '""']) => quoted)
  return [...new Set(names)].map((quoted) => quoted.slice(1, -1).replaceAll('""', '"'))
}
