// What rollcall's own tables say of a customer: read only, and never needed.
import pg, { type ClientBase, type Pool } from 'pg'
import { type KnownRecord, makeReadRecord, NEVER_SETTLED } from '../ledger/record.ts'
import { SEARCHED_BYTES } from '../ledger/sql.ts'
import { UNDER_WAY } from '../ledger/taken.ts'
import { differencesFromBinding } from '../ledger/target.ts'
import type { CustomerKey } from '../model/customer.ts'
import { isGivenUp } from './in-time.ts'

/** The work row of a customer; ages in milliseconds, by the database's clock. */
export type Owed = {
  readonly unknown: boolean
  readonly blind: boolean
  readonly statusDoubted: boolean
  /** In how long it is planned again though nothing has changed; null: at no such time. */
  readonly replanInMs: number | null
  /** How long ago the oldest change was made that is not settled. */
  readonly sinceMs: number | null
  /** Null: nothing is owed. Negative: it is due since then. */
  readonly dueInMs: number | null
  /** On the queue, or being synced at this moment: then `dueInMs` is the end of that. */
  readonly underWay: boolean
}

export type Known = {
  readonly kind: 'known'
  readonly record: KnownRecord
  readonly owed: Owed | null
  /** How long ago a change was captured that is not noted yet; null when there is none. */
  readonly capturedMs: number | null
  /** False when the outbox is too large to look for such a change. */
  readonly searched: boolean
  /** There is a record, a work row or a captured change. */
  readonly recorded: boolean
}

/**
 * `locked`: no answer came in time. `other-target`: the records are about another service, key or database; what
 * differs, in words.
 */
export type Knowledge =
  | Known
  | { readonly kind: 'not-installed' | 'not-readable' | 'not-migrated' | 'locked' }
  | { readonly kind: 'other-target'; readonly differences: readonly string[] }

/** The tables that are there, and what may be done with them. */
export type Tables = { readonly state: 'readable' | 'not-installed' | 'not-readable'; readonly pace: boolean }

const NEEDED = ['ledger', 'owed', 'outbox', 'target']

/** From the catalog alone, which everybody may read: naming a table in a schema without rights is an error. */
const TABLES = `
SELECT c.relname AS name, s.usable AND has_table_privilege(c.oid, 'SELECT') AS readable,
  s.usable AND s.writing AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'UPDATE') AS writable
FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid,
  LATERAL (SELECT has_schema_privilege(n.oid, 'USAGE') AS usable,
    current_setting('transaction_read_only') = 'off' AS writing) s
WHERE n.nspname = 'rollcall' AND c.relkind = 'r' AND c.relname = ANY($1)`

export async function findTables(client: Pick<ClientBase, 'query'>): Promise<Tables> {
  const { rows } = await client.query<{ name: string; readable: boolean; writable: boolean }>(TABLES, [
    [...NEEDED, 'pace'],
  ])
  const needed = rows.filter(({ name }) => NEEDED.includes(name))
  const pace = rows.some(({ name, writable }) => name === 'pace' && writable)
  if (needed.length < NEEDED.length) return { state: 'not-installed', pace: false }
  return { state: needed.every(({ readable }) => readable) ? 'readable' : 'not-readable', pace }
}

export type Target = {
  readonly origin: string
  readonly apiKey: string
  /** Without it the Api-Key is not compared. */
  readonly digestKey: string | undefined
}

const OWED = `
SELECT o.unknown, o.blind, o.status_doubted AS "statusDoubted", ${UNDER_WAY} AS "underWay",
  (extract(epoch FROM o.replan_at - clock_timestamp()) * 1000)::float8 AS "replanInMs",
  (extract(epoch FROM clock_timestamp() - o.changed_at) * 1000)::float8 AS "sinceMs",
  (extract(epoch FROM o.due_at - clock_timestamp()) * 1000)::float8 AS "dueInMs"
FROM rollcall.owed o WHERE key = $1`

const CAPTURED = `
SELECT s.searched, CASE WHEN s.searched THEN (
    SELECT extract(epoch FROM clock_timestamp() - min(at)) * 1000 FROM rollcall.outbox WHERE key = $1)::float8
  END AS "capturedMs"
FROM (SELECT pg_relation_size('rollcall.outbox') <= $2 AS searched) s`

type Captured = Pick<Known, 'capturedMs' | 'searched'>

/** `about`: that it can be read at all; then the pace in it is the one that all processes keep. */
export type OpenKnowledge = {
  readonly about: Knowledge['kind']
  read(key: CustomerKey): Promise<Knowledge>
}

/** Tables of another version, and locked ones, are told apart from a failure: this command goes on without them. */
export async function openKnowledge(pool: Pool, tables: Tables, target: Target): Promise<OpenKnowledge> {
  const without = (knowledge: Knowledge) => ({ about: knowledge.kind, read: async () => knowledge })
  if (tables.state !== 'readable') return without({ kind: tables.state })
  const differences = await orWithout(() => differencesFromBinding(pool, target))
  if ('kind' in differences) return without(differences)
  if (differences.length > 0)
    return without({ kind: 'other-target', differences: differences.map(({ says }) => says) })
  const readRecord = makeReadRecord(pool)
  const readKnown = (key: CustomerKey) =>
    orWithout(async (): Promise<Known> => {
      const record = await readRecord(key)
      const { rows: owed } = await pool.query<Owed>(OWED, [key])
      const { rows: outbox } = await pool.query<Captured>(CAPTURED, [key, SEARCHED_BYTES])
      const { capturedMs, searched } = outbox[0] ?? { capturedMs: null, searched: false }
      const recorded = record !== NEVER_SETTLED || owed.length > 0 || capturedMs !== null
      return { kind: 'known', record, owed: owed[0] ?? null, capturedMs, searched, recorded }
    })
  let locked: Knowledge | null = null
  const read = async (key: CustomerKey) => {
    if (locked) return locked // not waited for again, customer by customer
    const found = await readKnown(key)
    if (found.kind === 'locked') locked = found
    return found
  }
  return { about: 'known', read }
}

type Without = { readonly kind: 'not-migrated' | 'locked' }

/** Class 42 without 42501: a table or a column that this version does not find. */
async function orWithout<T>(read: () => Promise<T>): Promise<T | Without> {
  try {
    return await read()
  } catch (error) {
    if (isGivenUp(error)) return { kind: 'locked' }
    if (error instanceof pg.DatabaseError && /^42(?!501)/.test(error.code ?? ''))
      return { kind: 'not-migrated' }
    throw error
  }
}

/**
 * That there once was such a customer: a write for it was acknowledged, the service has shown its user, or a change of
 * its row was captured. A record or a work row alone does not say so: `rollcall sync --removed` leaves both, whoever it is.
 */
export function isMet({ record, capturedMs }: Pick<Known, 'record' | 'capturedMs'>): boolean {
  const { writtenAgoMs, sentStatus, seenStatus } = record
  return capturedMs !== null || writtenAgoMs !== null || sentStatus !== null || seenStatus !== null
}

/** What is owed, or will be once it is noted. */
export function isOwed({ owed, capturedMs }: Pick<Known, 'owed' | 'capturedMs'>): boolean {
  return capturedMs !== null || (owed !== null && owed.dueInMs !== null)
}

/** Captured or due for longer than workers that run would leave it. */
const OVERDUE_MS = 60_000

export function isOverdue({ owed, capturedMs }: Pick<Known, 'owed' | 'capturedMs'>): boolean {
  if (capturedMs !== null) return capturedMs > OVERDUE_MS
  return owed !== null && owed.dueInMs !== null && owed.dueInMs < -OVERDUE_MS
}
