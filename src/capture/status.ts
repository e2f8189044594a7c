// Compares the triggers that should be installed with those that are: for `capture status` and `capture install`.
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.ts'
import { type Relation, sameRelation } from '../config/relation.ts'
import { neededColumns } from '../customers/columns.ts'
import { lacksColumn, quotedName } from '../customers/problems.ts'
import { type Client, oneRow } from '../database/client.ts'
import { type CapturePlan, planCapture, type Watcher } from './relations.ts'
import { functionBody } from './trigger-body.ts'
import {
  CAPTURE_SCHEMA,
  columnsIn,
  EVENTS,
  type Event,
  FUNCTION_PREFIX,
  FUNCTION_SETTINGS,
  functionName,
  TRIGGERS,
  type TransitionTables,
  triggerName,
} from './triggers.ts'

type Lack = {
  readonly watcher: Watcher
  readonly event: Event
  readonly why: 'missing' | 'outdated' | 'disabled'
}

export type TableDifference = ReturnType<typeof tableDifference>
type CaptureDifference = ReturnType<typeof captureDifference>

export type TableState = 'fits' | 'missing' | 'misnamed' | 'outdated' | 'disabled' | 'leftover'
export type TableStatus = {
  readonly relation: Relation
  readonly state: TableState
  readonly reasons: readonly string[]
}

/** One line for every table that should carry triggers or does. Reads only. */
export async function captureStatus(client: Client, config: Config): Promise<readonly TableStatus[]> {
  const plan = await planCapture(client, config)
  const difference = captureDifference(plan, await readInstalled(client))
  const gone = plan.gone.map((relation): TableStatus => {
    return { relation, state: 'misnamed', reasons: ['the table does not exist'] }
  })
  return [...gone, ...difference.tables.map((table) => statusOf(table, difference))]
}

export async function unfitTables(client: Client, config: Config): Promise<readonly TableStatus[]> {
  const tables = await captureStatus(client, config)
  return tables.filter(({ state }) => state !== 'fits' && state !== 'leftover')
}

export function captureDifference(plan: CapturePlan, installed: Installed) {
  const tables = [
    ...plan.watchers.flatMap((watcher) => watcher.tables),
    ...installed.triggers.map((trigger) => trigger.table),
  ]
  const distinct = tables.filter((table, i) => tables.findIndex((other) => sameRelation(other, table)) === i)
  const wanted = new Set(plan.watchers.map(functionName))
  const fits = (watcher: Watcher) => functionFits(watcher, plan, installed)
  const functions = plan.watchers.filter((watcher) => !fits(watcher))
  return {
    tables: distinct.map((table) => tableDifference(table, plan, installed)),
    /** Watchers whose function is missing or has another body than the plan wants. */
    functions,
    /** Watchers among them whose function watches more columns than it has to: too much is noted, and nothing is missed. */
    wider: functions.filter((watcher) => fits(asInstalled(watcher, installed))),
    missingRights: [...new Set(installed.functions.flatMap(({ missingRights }) => missingRights))],
    leftoverFunctions: installed.functions.map(({ name }) => name).filter((name) => !wanted.has(name)),
  }
}

/** The most serious thing is the state. */
function statusOf(
  { table, watchers, lacks, leftover }: TableDifference,
  { functions, wider, missingRights }: CaptureDifference,
): TableStatus {
  const whys = new Set(lacks.map(({ why }) => why))
  const old = watchers.some((watcher) => functions.includes(watcher) && !wider.includes(watcher))
  const unknown = [...new Set(watchers.flatMap((watcher) => watcher.missing))]
  const state = ((): TableState => {
    if (watchers.length === 0) return 'leftover'
    if (unknown.length > 0) return 'misnamed'
    if (whys.has('missing')) return 'missing'
    if (whys.has('outdated') || old || missingRights.length > 0) return 'outdated'
    if (whys.has('disabled')) return 'disabled'
    return leftover.length > 0 ? 'leftover' : 'fits'
  })()
  const reasons = [
    ...missingRights.map(
      (right) => `writes to the table fail: the owner of the trigger function lacks ${right}`,
    ),
    ...[...whys].map((why) => {
      const events = new Set(lacks.flatMap((lack) => (lack.why === why ? lack.event : [])))
      return `${events.size === EVENTS.length ? 'all triggers of this configuration' : `${events.size === 1 ? 'the trigger' : 'the triggers'} for ${[...events].join(', ')}`} ${events.size === 1 ? 'is' : 'are'} ${why}`
    }),
    ...(old && !whys.has('missing') ? ['the trigger function does not fit the configuration'] : []),
    ...(leftover.length > 0
      ? [`the table has triggers of another configuration: ${leftover.join(', ')}`]
      : []),
    ...unknown.map((column) => lacksColumn(table, column)),
  ]
  return { relation: table, state, reasons }
}

function tableDifference(table: Relation, plan: CapturePlan, installed: Installed) {
  const watchers = plan.watchers.filter((watcher) => watcher.tables.some((own) => sameRelation(own, table)))
  const triggers = installed.triggers.filter((trigger) => sameRelation(trigger.table, table))
  const expected = watchers.flatMap((watcher) =>
    EVENTS.map((event) => ({ watcher, event, name: triggerName(watcher, event) })),
  )
  const names = new Set(expected.map(({ name }) => name))
  const lacks = expected.flatMap(({ watcher, event, name }): Lack[] => {
    const trigger = triggers.find((each) => each.name === name)
    const why = lackOf(watcher, event, trigger)
    return why ? [{ watcher, event, why }] : []
  })
  const leftover = triggers.map(({ name }) => name).filter((name) => !names.has(name))
  return { table, watchers, lacks, leftover }
}

function lackOf(
  watcher: Watcher,
  event: Event,
  trigger: Installed['triggers'][number] | undefined,
): Lack['why'] | null {
  if (!trigger) return 'missing'
  const fits =
    trigger.functionName === functionName(watcher) &&
    trigger.type === TRIGGERS[event].type &&
    isDeepStrictEqual(trigger.transition, TRIGGERS[event].tables)
  if (!fits) return 'outdated'
  return trigger.enabled === 'O' || trigger.enabled === 'A' ? null : 'disabled'
}

function functionFits(watcher: Watcher, plan: CapturePlan, { functions }: Installed): boolean {
  const found = functions.find(({ name }) => name === functionName(watcher))
  return (
    found?.body === functionBody(watcher, plan.outboxLimitMb) &&
    found.securityDefiner &&
    isDeepStrictEqual([...found.settings].sort(), [...FUNCTION_SETTINGS].sort())
  )
}

/**
 * The watcher, with every further column that its function compares. The search of the body need not be exact: the
 * result counts only where the watcher makes this very body.
 */
export function asInstalled(watcher: Watcher, { functions }: Installed): Watcher {
  const body = functions.find(({ name }) => name === functionName(watcher))?.body ?? ''
  const compared = columnsIn(body).filter((name) => !watcher.key.includes(name))
  return { ...watcher, columns: [...new Set([...watcher.columns, ...compared])].sort() }
}

type Installed = Awaited<ReturnType<typeof readInstalled>>

/** Rights that trigger functions need and a role (an expression for its OID) lacks; `[]` where nothing is installed. */
export const MISSING_RIGHTS = (role: string) => `(
  SELECT coalesce(json_agg(n.what) FILTER (WHERE NOT n.given), '[]') FROM (VALUES
    ('USAGE on the schema rollcall', has_schema_privilege(${role}, to_regnamespace('rollcall'), 'USAGE')),
    ('INSERT on rollcall.outbox', has_table_privilege(${role}, to_regclass('rollcall.outbox'), 'INSERT')),
    ('USAGE on rollcall.outbox_id_seq', has_sequence_privilege(${role}, to_regclass('rollcall.outbox_id_seq'), 'USAGE, UPDATE')),
    ('SELECT on rollcall.capture_mark', has_table_privilege(${role}, to_regclass('rollcall.capture_mark'), 'SELECT')),
    ('INSERT on rollcall.capture_mark', has_table_privilege(${role}, to_regclass('rollcall.capture_mark'), 'INSERT')),
    ('USAGE on rollcall.capture_mark_id_seq',
      has_sequence_privilege(${role}, to_regclass('rollcall.capture_mark_id_seq'), 'USAGE, UPDATE'))) AS n (what, given))`

/** Everything of ours, by what it is and not by what the configuration says, so that nothing is overlooked. */
export async function readInstalled(client: Client) {
  const functions = await client.query<{
    readonly name: string
    readonly body: string
    readonly securityDefiner: boolean
    readonly settings: readonly string[]
    /** Its owner lacks them, and it runs with the rights of its owner: then the application's statements fail. */
    readonly missingRights: readonly string[]
  }>(
    `SELECT p.proname::text AS name, p.prosrc AS body, p.prosecdef AS "securityDefiner",
       coalesce(to_json(p.proconfig), '[]') AS settings,
       ${MISSING_RIGHTS('p.proowner')} AS "missingRights"
     FROM ${OURS} ORDER BY 1`,
  )
  const triggers = await client.query<{
    readonly name: string
    readonly table: Relation
    readonly functionName: string
    readonly type: number
    readonly transition: TransitionTables
    /** `O`: fires, `A`: fires even in replica mode, `D`: disabled, `R`: fires in replica mode only. */
    readonly enabled: string
  }>(
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
 * Changes with whatever is done to a trigger or a function of ours: written anew, disabled, enabled. Also where another
 * column takes the place of one that is read, and with the view of the customers. A customer looked at under another one
 * may have changed since without a trace.
 */
export async function captureVersion(client: Client, config: Config): Promise<string> {
  const { schema, name } = config.customers.relation
  const { version } = await oneRow<{ version: string }>(
    client,
    `SELECT md5(concat_ws(';',
       (SELECT string_agg(concat_ws(' ', p.oid, p.xmin, t.oid, t.xmin), ',' ORDER BY p.oid, t.oid)
        FROM ${OURS} LEFT JOIN pg_catalog.pg_trigger t ON t.tgfoid = p.oid),
       (SELECT string_agg(concat_ws(' ', a.attnum, a.attname, a.atttypid), ',' ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute a WHERE a.attrelid = r.oid AND a.attname = ANY($3)),
       (SELECT string_agg(concat_ws(' ', w.oid, w.xmin), ',' ORDER BY w.oid)
        FROM pg_catalog.pg_rewrite w WHERE w.ev_class = r.oid))) AS version
     FROM (SELECT to_regclass(format('%I.%I', $1::text, $2::text)) AS oid) r`,
    [schema, name, neededColumns(config)],
  )
  return version
}

const OURS = `pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  AND n.nspname = '${CAPTURE_SCHEMA}' AND p.prorettype = 'pg_catalog.trigger'::regtype
  AND starts_with(p.proname::text, '${FUNCTION_PREFIX}')`

/** Names of watched tables without our triggers: a restore may have made them anew, and others see them empty. */
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
