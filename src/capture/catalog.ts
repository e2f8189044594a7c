import type { Config, Relation } from '../config/config.ts'
import { quotedName } from '../customers/problems.ts'
import { type Client, oneRow } from '../database/client.ts'
import { CAPTURE_SCHEMA, EVENTS, FUNCTION_PREFIX, type TransitionTables } from './triggers.ts'

export type InstalledTrigger = {
  readonly name: string
  readonly table: Relation
  readonly functionName: string
  /** The events and timing as pg_trigger has them. */
  readonly type: number
  readonly transition: TransitionTables
  /** `O`: fires, `A`: fires even in replica mode, `D`: disabled, `R`: fires in replica mode only. */
  readonly enabled: string
}

export type InstalledFunction = {
  readonly name: string
  readonly body: string
  readonly securityDefiner: boolean
  readonly settings: readonly string[]
  /** Rights that its owner, with whose rights it runs, lacks: then the application's statements fail. */
  readonly lacks: readonly string[]
}

export type Installed = {
  readonly functions: readonly InstalledFunction[]
  readonly triggers: readonly InstalledTrigger[]
}

/** The rights of those that the trigger functions need which a role (an expression for its OID) has not; `[]` where nothing is installed. */
export const LACKS = (role: string) => `(
  SELECT coalesce(json_agg(n.what) FILTER (WHERE NOT n.given), '[]') FROM (VALUES
    ('USAGE on the schema rollcall', has_schema_privilege(${role}, to_regnamespace('rollcall'), 'USAGE')),
    ('INSERT on rollcall.outbox', has_table_privilege(${role}, to_regclass('rollcall.outbox'), 'INSERT')),
    ('USAGE on rollcall.outbox_id_seq', has_sequence_privilege(${role}, to_regclass('rollcall.outbox_id_seq'), 'USAGE, UPDATE')),
    ('SELECT on rollcall.capture_mark', has_table_privilege(${role}, to_regclass('rollcall.capture_mark'), 'SELECT')),
    ('INSERT on rollcall.capture_mark', has_table_privilege(${role}, to_regclass('rollcall.capture_mark'), 'INSERT')),
    ('USAGE on rollcall.capture_mark_id_seq',
      has_sequence_privilege(${role}, to_regclass('rollcall.capture_mark_id_seq'), 'USAGE, UPDATE'))) AS n (what, given))`

/** Everything of ours, by what it is and not by what the configuration says, so that nothing is overlooked. */
export async function readInstalled(client: Client): Promise<Installed> {
  const functions = await client.query<InstalledFunction>(
    `SELECT p.proname::text AS name, p.prosrc AS body, p.prosecdef AS "securityDefiner",
       coalesce(to_json(p.proconfig), '[]') AS settings,
       ${LACKS('p.proowner')} AS lacks
     FROM ${OURS} ORDER BY 1`,
  )
  const triggers = await client.query<InstalledTrigger>(
    `SELECT t.tgname::text AS name, json_build_object('schema', cn.nspname, 'name', c.relname) AS "table",
       p.proname::text AS "functionName", t.tgtype AS type, t.tgenabled::text AS enabled,
       json_build_object('old', t.tgoldtable, 'new', t.tgnewtable) AS transition
     FROM ${OURS} JOIN pg_catalog.pg_trigger t ON t.tgfoid = p.oid
     JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN pg_catalog.pg_namespace cn ON cn.oid = c.relnamespace
     ORDER BY cn.nspname, c.relname, 1`,
  )
  return { functions: functions.rows, triggers: triggers.rows }
}

/**
 * Changes with whatever is done to a trigger or a function of ours: written anew, disabled, enabled. What was looked at
 * under another one may have changed since without a trace.
 */
export async function captureVersion(client: Client): Promise<string> {
  const { version } = await oneRow<{ version: string }>(
    client,
    `SELECT md5(coalesce(string_agg(concat_ws(' ', p.oid, p.xmin, t.oid, t.xmin), ',' ORDER BY p.oid, t.oid), '')) AS version
     FROM ${OURS} LEFT JOIN pg_catalog.pg_trigger t ON t.tgfoid = p.oid`,
  )
  return version
}

const OURS = `pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  AND n.nspname = '${CAPTURE_SCHEMA}' AND p.prorettype = 'pg_catalog.trigger'::regtype
  AND starts_with(p.proname::text, '${FUNCTION_PREFIX}')`

/**
 * Watched tables that do not carry our triggers now: dropped and made anew by a restore, say, which others see empty until
 * it is done. Names for people.
 */
export async function unwatchedTables(
  client: Client,
  { watch }: Pick<Config, 'watch'>,
): Promise<readonly string[]> {
  const relations = watch.map(({ relation }) => relation)
  const { rows } = await client.query<{ at: number }>(
    `SELECT w.at::int AS at FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (schema, name, at)
     WHERE (SELECT count(DISTINCT t.tgtype) FROM pg_catalog.pg_trigger t
       JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid AND p.pronamespace = to_regnamespace('${CAPTURE_SCHEMA}')
       JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid AND c.relname = w.name
       JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = w.schema
       WHERE t.tgenabled IN ('O', 'A')) < ${EVENTS.length} ORDER BY 1`,
    [relations.map(({ schema }) => schema), relations.map(({ name }) => name)],
  )
  return rows.flatMap(({ at }) => {
    const relation = relations[at - 1]
    return relation ? [quotedName(relation)] : []
  })
}
