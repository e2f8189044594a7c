// Puts the triggers of a plan on their tables and takes off what is no longer in it. Only what differs is
// touched: a second run takes no lock at all.
import { setTimeout as sleep } from 'node:timers/promises'
import pg, { type ClientBase } from 'pg'
import type { Relation } from '../config/relation.ts'
import { lacksColumn, quotedName } from '../customers/problems.ts'
import { quoted } from '../customers/query.ts'
import { oneRow } from '../database/client.ts'
import { roleBehind } from '../database/pool.ts'
import { PINNED, UNPINNED } from '../database/session.ts'
import { committed, LOCK_NOT_AVAILABLE } from '../database/transaction.ts'
import { RollcallError } from '../model/errors.ts'
import type { CapturePlan } from './relations.ts'
import {
  asInstalled,
  captureDifference,
  MISSING_RIGHTS,
  readInstalled,
  type TableDifference,
} from './status.ts'
import { createFunction, createTrigger, EVENTS, functionName, quotedFunction } from './triggers.ts'

/** One install or uninstall at a time in a database; two-integer form, so that it meets no one-integer lock. */
const ADVISORY_LOCK = [0x726f6c6c, 0x63617074]
const ADVISORY_POLL_MS = 200

type Options = {
  /** For one table; default: a minute. */
  readonly patienceMs?: number
  /**
   * Other watched tables stay watched. While another mapping is in force its workers need these columns and tables;
   * were they dropped at a deploy, changes of them would be missed until the new mapping is applied.
   */
  readonly leavesOthers?: boolean
}

/**
 * Every table has a transaction of its own, so a table that stays locked costs only itself: what was done
 * before stays, and the next run goes on from there. A function without triggers does nothing, and a table has
 * all of its triggers or none.
 *
 * `client` is one session, not in a transaction, of the role that owns rollcall's tables. Resolves to the
 * names of the tables that were changed. Throws CUSTOMERS_UNREADABLE (the plan names what does not exist),
 * NOT_MIGRATED, DATABASE_REFUSED (the role may not append) and TABLE_LOCKED.
 */
export async function install(
  client: ClientBase,
  plan: CapturePlan,
  options: Options = {},
): Promise<readonly string[]> {
  refuseUnfit(plan)
  await refuseWithoutRights(client)
  return await apply(client, plan, options)
}

/** Removes every trigger and function of ours, whatever configuration they came from; no trace is left. */
export async function uninstall(client: ClientBase, options: Options = {}): Promise<readonly string[]> {
  return await apply(client, { watchers: [], gone: [], outboxLimitMb: 1 }, options)
}

async function apply(
  client: ClientBase,
  wanted: CapturePlan,
  { leavesOthers = false, patienceMs = 60_000 }: Options,
): Promise<readonly string[]> {
  await lockAdvisory(client, patienceMs)
  try {
    const installed = await readInstalled(client)
    const widened = wanted.watchers.map((watcher) => asInstalled(watcher, installed))
    const plan = leavesOthers ? { ...wanted, watchers: widened } : wanted
    const difference = captureDifference(plan, installed)
    for (const watcher of difference.functions) {
      await client.query(createFunction(watcher, plan.outboxLimitMb)) // several statements: one transaction
    }
    const changed: string[] = []
    for (const table of difference.tables) {
      const statements = statementsFor(leavesOthers ? { ...table, leftover: [] } : table)
      // A function that was replaced needs no lock on its tables; what they note is another thing all the same.
      const replaced = table.watchers.some((watcher) => difference.functions.includes(watcher))
      if (statements.length > 0) await underShortLock(client, { table: table.table, statements, patienceMs })
      if (statements.length > 0 || replaced) changed.push(quotedName(table.table))
    }
    for (const name of leavesOthers ? [] : difference.leftoverFunctions) {
      await client.query(`DROP FUNCTION IF EXISTS ${quotedFunction(name)}()`)
    }
    return changed
  } finally {
    await client.query('SELECT pg_advisory_unlock($1, $2)', ADVISORY_LOCK)
  }
}

/** New triggers before old ones go, so that nothing is missed between. */
function statementsFor({ table, lacks, leftover }: TableDifference): readonly string[] {
  return [
    ...lacks.map(({ watcher, event }) => createTrigger(watcher, table, event)),
    ...leftover.map((name) => `DROP TRIGGER IF EXISTS ${pg.escapeIdentifier(name)} ON ${quoted(table)}`),
  ]
}

/** Asked for, not waited for: a session that waits for a lock holds a snapshot open. */
async function lockAdvisory(client: ClientBase, patienceMs: number): Promise<void> {
  for (const end = performance.now() + patienceMs; ; await sleep(ADVISORY_POLL_MS)) {
    const tryLock = 'SELECT pg_try_advisory_lock($1, $2) AS got'
    if ((await oneRow<{ got: boolean }>(client, tryLock, ADVISORY_LOCK)).got) return
    if (performance.now() > end)
      throw new RollcallError('TABLE_LOCKED', ['another install or uninstall is running'])
  }
}

/** A plan that names what does not exist would install a trigger that can only fall back. */
function refuseUnfit({ watchers, gone }: CapturePlan): void {
  const details = [
    ...gone.map((relation) => `watch: the table ${quotedName(relation)} does not exist`),
    ...watchers.flatMap(({ relation, missing }) =>
      missing.map((column) => `watch: ${lacksColumn(relation, column)}`),
    ),
  ]
  if (details.length > 0) throw new RollcallError('CUSTOMERS_UNREADABLE', details)
}

/**
 * The functions run with the rights of the role that creates them. If it may not append to the outbox, the
 * application's statements would fail from then on, so this is asked before anything is created.
 */
async function refuseWithoutRights(client: ClientBase): Promise<void> {
  const { there, missingRights } = await oneRow<{ there: boolean; missingRights: readonly string[] }>(
    client,
    `SELECT to_regclass('rollcall.outbox') IS NOT NULL AND to_regclass('rollcall.capture_mark') IS NOT NULL AS there,
       ${MISSING_RIGHTS('r.oid')} AS "missingRights"
     FROM pg_catalog.pg_roles r WHERE r.rolname = current_user`,
  )
  if (!there) throw new RollcallError('NOT_MIGRATED')
  const lacks = missingRights.map((right) => `${roleBehind(client)} lacks ${right}`)
  if (lacks.length > 0) throw new RollcallError('DATABASE_REFUSED', lacks)
}

const HEAD = `-- The capture triggers of rollcall. Run \`rollcall migrate\` first.
-- CREATE TRIGGER waits for open transactions, at most half a second. Meanwhile
-- writers wait too. A table that cannot be locked stays unchanged: run the
-- script again.
-- \`rollcall capture status\` shows the tables that are not captured yet.
${PINNED}
SET lock_timeout = '500ms';
`

/** The triggers of a plan as a script for a DBA to read and to run with psql; the same SQL as `install` runs. */
export function printSql(plan: CapturePlan): string {
  refuseUnfit(plan)
  const parts = plan.watchers.flatMap((watcher) => [
    `BEGIN;\n${createFunction(watcher, plan.outboxLimitMb)}`,
    `${ownedLikeTheOutbox(functionName(watcher))}\nCOMMIT;`,
    ...watcher.tables.map((table) =>
      ['\nBEGIN;', ...EVENTS.map((event) => createTrigger(watcher, table, event)), 'COMMIT;'].join('\n'),
    ),
    '',
  ])
  return [HEAD, ...parts, 'RESET lock_timeout;', UNPINNED, ''].join('\n')
}

/** The functions run with their owner's rights, which need not be those of the DBA who runs the script. */
function ownedLikeTheOutbox(name: string): string {
  const block = `BEGIN
  EXECUTE (SELECT pg_catalog.format('ALTER FUNCTION rollcall.%I() OWNER TO %I', ${pg.escapeLiteral(name)}, pg_catalog.pg_get_userbyid(relowner))
    FROM pg_catalog.pg_class WHERE oid = 'rollcall.outbox'::pg_catalog.regclass);
END`
  return `DO ${pg.escapeLiteral(block)};`
}

// Changing triggers needs a lock that writers conflict with. Waiting for it queues behind open transactions,
// and every new writer queues behind the wait: so each try is short, and between tries writers go on.
const LOCK_TIMEOUT_MS = 500
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

type Locked = {
  readonly table: Relation
  readonly statements: readonly string[]
  /** Tries and waits together. */
  readonly patienceMs: number
}

/**
 * Runs the statements in a transaction of their own, again and again until the lock is had. Throws
 * TABLE_LOCKED, naming who holds the table, when the patience is at its end; then nothing of them is done.
 */
async function underShortLock(client: ClientBase, { table, statements, patienceMs }: Locked) {
  const end = performance.now() + patienceMs
  for (let pause = FIRST_WAIT_MS; ; pause = Math.min(pause * 2, LONGEST_WAIT_MS)) {
    if (await attempt(client, statements)) return
    const holders = await holdersOf(client, table)
    if (performance.now() + pause > end) {
      const head = `${quotedName(table)} could not be locked within ${Math.round(patienceMs / 1000)} s`
      const details =
        holders.length === 0
          ? [`${head}; now no session locks it`]
          : [`${head}; these sessions lock it:`, ...holders]
      throw new RollcallError('TABLE_LOCKED', details)
    }
    await sleep(pause)
  }
}

async function attempt(client: ClientBase, statements: readonly string[]): Promise<boolean> {
  try {
    return await committed(client, async () => {
      await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
      for (const statement of statements) await client.query(statement)
      return true
    })
  } catch (error) {
    // The other one is a deadlock: both pass by themselves.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === LOCK_NOT_AVAILABLE || code === '40P01') return false
    throw error
  }
}

type Holder = {
  /** Null: a prepared transaction. */
  readonly pid: number | null
  readonly application: string | null
  readonly state: string | null
  readonly seconds: number | null
}

/** In words. Other sessions' details are shown by Postgres only to roles that may see them (pg_read_all_stats). */
async function holdersOf(client: ClientBase, { schema, name }: Relation): Promise<readonly string[]> {
  const { rows } = await client.query<Holder>(
    `SELECT DISTINCT l.pid, a.application_name AS application, a.state,
       extract(epoch FROM clock_timestamp() - a.xact_start)::int AS seconds
     FROM pg_catalog.pg_locks l
     JOIN pg_catalog.pg_class c ON c.oid = l.relation
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = current_database()
     LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'relation' AND l.granted AND n.nspname = $1 AND c.relname = $2
       AND l.pid IS DISTINCT FROM pg_backend_pid()
     ORDER BY seconds DESC NULLS LAST LIMIT 5`,
    [schema, name],
  )
  return rows.map(({ pid, application, state, seconds }) => {
    if (pid === null) return 'a prepared transaction'
    const named = application ? ` (${application})` : ''
    const age = seconds === null ? 'for an unknown time' : `for ${seconds} s`
    return `process ${pid}${named}, ${state ?? 'in a transaction'}, ${age}`
  })
}
