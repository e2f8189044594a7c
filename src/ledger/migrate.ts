// Brings rollcall's own schema, and the queue's where the queue is in Postgres, to what this version needs.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type pg from 'pg'
import { oneRow } from '../database/client.ts'
import { connectOne, type DatabaseAddress, roleOf } from '../database/session.ts'
import { committed } from '../database/transaction.ts'
import { type ErrorCode, RollcallError } from '../model/errors.ts'
import { WORKER } from './grants.ts'
import { reachable } from './reachable.ts'

/** The schema of BullMQ's own tables, in whatever database the queue is. */
export const QUEUE_SCHEMA = 'rollcall_queue'

/** "roll" as an integer, and 1 for migrations; the two-integer form is apart from applications' own locks. */
const LOCK = [0x726f6c6c, 1]

/** A session, not a pool: the lock belongs to it. */
type Session = pg.Client | pg.PoolClient

/**
 * Applies what is missing, all of it or nothing; with `queue` also the schema of a queue in Postgres. Several
 * processes may call this at once: a lock lets one at a time through.
 *
 * The files and their format are drizzle's, its migrator is not used: it takes no lock and makes the schema before
 * the migration that makes it. It also skips, without a word, a migration older than the last one applied.
 *
 * @throws RollcallError DATABASE_DOWN, QUEUE_DOWN, DATABASE_REFUSED; NOT_MIGRATED when the database was migrated by a
 *   version that this one does not know.
 */
export async function migrate(
  database: DatabaseAddress | Session,
  { queue }: { readonly queue?: DatabaseAddress } = {},
): Promise<{ applied: number }> {
  const applied =
    'url' in database
      ? await onSession(database, 'DATABASE_DOWN', migrateLedger)
      : await migrateLedger(database)
  const inQueue = queue ? await onSession(queue, 'QUEUE_DOWN', migrateQueue) : 0
  return { applied: applied + inQueue }
}

const MIGRATIONS = fileURLToPath(new URL('../../drizzle', import.meta.url))

type Migration = {
  readonly name: string
  readonly hash: string
  readonly when: number
  readonly statements: readonly string[]
}

/** drizzle reads the files in the journal's order, but leaves their names out. */
async function readMigrations(): Promise<readonly Migration[]> {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(`${MIGRATIONS}/meta/_journal.json`, 'utf8'),
  )
  return readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(({ hash, folderMillis, sql }, index) => ({
    name: journal.entries[index]?.tag ?? '',
    hash,
    when: folderMillis,
    statements: sql,
  }))
}

async function appliedHashes(client: pg.ClientBase | pg.Pool): Promise<ReadonlySet<string>> {
  const exists = `SELECT to_regclass('rollcall.migration') IS NOT NULL AS there`
  if (!(await oneRow<{ there: boolean }>(client, exists)).there) return new Set()
  const { rows } = await client.query<{ hash: string }>('SELECT hash FROM rollcall.migration')
  return new Set(rows.map(({ hash }) => hash))
}

/** By their rights, which name each: the schema takes long to load. A restore in sections brings the keys last of all. */
const RELATIONS = [...Object.keys(WORKER.tables), 'token', 'target_pkey', 'owed_key_unique', 'ledger_pkey']

/**
 * For every start: by hash, since a time would not show a migration that was skipped or came from another branch; by
 * name, since a partial restore keeps the list and loses tables.
 *
 * @throws RollcallError NOT_MIGRATED naming what is missing
 */
export async function checkMigrated(client: pg.ClientBase | pg.Pool): Promise<void> {
  const applied = await appliedHashes(client)
  const missing = (await readMigrations()).filter(({ hash }) => !applied.has(hash))
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass('rollcall.' || quote_ident(name)) IS NULL`,
    [RELATIONS],
  )
  if (applied.size === 0 && rows.length === RELATIONS.length)
    throw new RollcallError('NOT_MIGRATED', ['nothing of rollcall is installed in this database yet'])
  const lines = [
    ...missing.map(({ name }) => `migration ${name} was not applied`),
    ...rows.map(({ name }) => `rollcall.${name} is missing`),
  ]
  if (lines.length > 0) throw new RollcallError('NOT_MIGRATED', lines)
}

async function migrateLedger(client: Session): Promise<number> {
  await client.query('SELECT pg_advisory_lock($1, $2)', LOCK)
  try {
    const applied = await appliedHashes(client)
    const all = await readMigrations()
    const pending = all.filter(({ hash }) => !applied.has(hash))
    if (applied.size + pending.length > all.length && pending.length > 0) throw diverged(pending)
    await apply(client, pending)
    await checkMigrated(client)
    await advanceSequences(client)
    return pending.length
  } finally {
    await client.query('SELECT pg_advisory_unlock($1, $2)', LOCK)
  }
}

async function apply(client: Session, pending: readonly Migration[]): Promise<void> {
  await committed(client, async () => {
    for (const { statements, hash, when } of pending) {
      for (const statement of statements) await client.query(statement)
      // After the statements, because those of the first migration make the schema.
      await client.query(
        'CREATE TABLE IF NOT EXISTS rollcall.migration (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)',
      )
      // Not by its sequence, which a restore may have left behind.
      await client.query(
        `INSERT INTO rollcall.migration (id, hash, created_at)
         SELECT coalesce(max(id), 0) + 1, $1, $2 FROM rollcall.migration`,
        [hash, when],
      )
    }
  })
}

/**
 * A restore, or logical replication, may bring rows and leave the sequences behind them: each next row would be refused
 * as one that is there already, and a token could come a second time.
 */
const BEHIND = `
SELECT format('SELECT setval(%L, max(%I)) FROM %s HAVING max(%I) >= (SELECT last_value + is_called::int FROM %s)',
  s.oid::regclass, a.attname, t.oid::regclass, a.attname, s.oid::regclass) AS advance
FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
JOIN pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
WHERE d.deptype = 'a' AND t.relnamespace = to_regnamespace('rollcall') AND pg_has_role(t.relowner, 'USAGE')
UNION ALL SELECT 'SELECT setval(''rollcall.token'', max(greatest(token, call_token))) FROM rollcall.owed
  HAVING max(greatest(token, call_token)) >= (SELECT last_value + is_called::int FROM rollcall.token)'
FROM pg_class WHERE oid = to_regclass('rollcall.token') AND pg_has_role(relowner, 'USAGE')`

async function advanceSequences(client: Session): Promise<void> {
  const { rows } = await client.query<{ advance: string }>(BEHIND)
  for (const { advance } of rows) await client.query(advance)
}

function diverged(pending: readonly Migration[]): RollcallError {
  const names = pending.map(({ name }) => name).join(', ')
  return new RollcallError('NOT_MIGRATED', [
    `the database was migrated by another version of rollcall, one without the migration ${names}`,
  ])
}

/**
 * First it is asked whether there is anything to do: a worker's role may create nothing. New tables have no statistics,
 * and BullMQ's are then scanned from end to end; and a job is inserted, updated and deleted within moments, so that the
 * usual share of dead rows before a vacuum is far too large. Returns how many of BullMQ's own migrations were applied.
 */
async function migrateQueue(client: Session): Promise<number> {
  // Not at the head: every command reads this file, and BullMQ takes long to load.
  const bullmq = await import('bullmq')
  const version = await bullmq.assertSchemaCompatibility(client, QUEUE_SCHEMA).catch((error) => {
    if (error instanceof bullmq.SchemaMigrationRequiredError) return 0
    throw error
  })
  if (version >= bullmq.LATEST_SCHEMA_VERSION) return 0
  await bullmq.runMigrations(client, QUEUE_SCHEMA)
  for (const table of ['job', 'event']) {
    await client.query(`
      ALTER TABLE IF EXISTS ${QUEUE_SCHEMA}.${table} SET (
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0)`)
  }
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1`,
    [QUEUE_SCHEMA],
  )
  for (const { name } of rows) await client.query(`ANALYZE ${name}`)
  return bullmq.LATEST_SCHEMA_VERSION - version
}

const SESSION = { application_name: 'rollcall migrate', connectionTimeoutMillis: 10_000 }

/** A connection of its own: this takes longer than a statement of a worker may. */
export async function onSession<T>(
  address: DatabaseAddress,
  down: ErrorCode,
  use: (client: Session) => Promise<T>,
): Promise<T> {
  const options = { down, role: roleOf(address) }
  const client = await reachable(() => connectOne(address, SESSION), options)
  try {
    return await reachable(() => use(client), options)
  } finally {
    await client.end()
  }
}
