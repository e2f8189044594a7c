// Changing triggers needs a lock that writers conflict with. Waiting for it queues behind open transactions,
// and every new writer queues behind the wait: so each try is short, and between tries writers go on.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import type { Relation } from '../config/config.ts'
import { quotedName } from '../customers/problems.ts'
import { RollcallError } from '../model/errors.ts'

const LOCK_TIMEOUT_MS = 500
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000

type LockedWork = {
  readonly table: Relation
  /** Run one after the other in one transaction. */
  readonly statements: readonly string[]
  /** Tries and waits together. */
  readonly patienceMs: number
}

/**
 * Runs the statements in a transaction of their own, again and again until the lock is had. Throws
 * CAPTURE_LOCKED, naming who holds the table, when the patience is at its end; then nothing of them is done.
 */
export async function underShortLock(
  client: ClientBase,
  { table, statements, patienceMs }: LockedWork,
): Promise<void> {
  const end = performance.now() + patienceMs
  for (let pause = FIRST_WAIT_MS; ; pause = Math.min(pause * 2, LONGEST_WAIT_MS)) {
    if (await attempt(client, statements)) return
    const holders = await holdersOf(client, table)
    if (performance.now() + pause > end) {
      const head = `${quotedName(table)} could not be locked within ${Math.round(patienceMs / 1000)} s`
      const details =
        holders.length === 0 ? [`${head}; nobody held it at last`] : [`${head}; it is held by:`, ...holders]
      throw new RollcallError('CAPTURE_LOCKED', details)
    }
    await sleep(pause)
  }
}

async function attempt(client: ClientBase, statements: readonly string[]): Promise<boolean> {
  await client.query('BEGIN')
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    for (const statement of statements) await client.query(statement)
    await client.query('COMMIT')
    return true
  } catch (error) {
    await client.query('ROLLBACK')
    // Lock not available, deadlock detected: both pass by themselves.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === '55P03' || code === '40P01') return false
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
