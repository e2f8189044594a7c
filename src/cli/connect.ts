import type { Pool } from 'pg'
import { type Env, readEnv, type Variable } from '../config/env.ts'
import { endPool, makePool } from '../database/pool.ts'
import { connectOne, type DatabaseAddress, databaseAt, roleOf } from '../database/session.ts'
import { PATIENCE_MS } from '../explain/in-time.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { reachable } from '../ledger/reachable.ts'
import { type DatabaseIdentity, isAnotherDatabase, readIdentity } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import { aborted, type Io } from './io.ts'

const CONNECT_MS = 5000

/** By then a command that has ended has nothing under way. */
const CUT_MS = 5000

type Options = {
  readonly url: string
  /** Where the address came from; default: DATABASE_URL. */
  readonly variable?: string
  /** Ends the command at once, also while a query waits for a lock. */
  readonly stop?: AbortSignal
  /** A person waits: no query takes longer than PATIENCE_MS, and at the end what still waits for a lock is cut off. */
  readonly impatient?: boolean
}

/** Opens the database for a command and closes it after; a server that is away is said in a sentence. */
export async function withPool<T>(
  { url, variable = 'DATABASE_URL', stop, impatient = false }: Options,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  const pool = makePool({
    ...{ url, variable, max: 4, applicationName: 'rollcall' },
    ...(impatient ? { statementTimeoutMs: PATIENCE_MS } : {}),
    onError: () => undefined, // a connection that breaks while idle shows in the next statement
  })
  const stopped =
    stop &&
    aborted(stop).then((): never => {
      throw stop.reason
    })
  try {
    const run = () => (stopped ? Promise.race([work(pool), stopped]) : work(pool))
    return await reachable(run, { role: roleOf({ url, variable }) })
  } finally {
    await endPool(pool, impatient || stop?.aborted ? 0 : CUT_MS)
  }
}

export async function withImpatientPool<T>(
  options: { readonly url: string; readonly stop: AbortSignal },
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  return await withPool({ ...options, impatient: true }, work)
}

/** The migrated tables, for a command that does not call the service; `may` names what else of the environment it reads. */
export async function withTables<T, May extends Variable = never>(
  io: Io,
  work: (pool: Pool, env: Env<'DATABASE_URL', May>) => Promise<T>,
  may: readonly May[] = [],
): Promise<T> {
  const env = readEnv(io.env, { need: ['DATABASE_URL'], may })
  return await withPool({ url: env.DATABASE_URL, stop: io.stop }, async (pool) => {
    await checkMigrated(pool)
    return await work(pool, env)
  })
}

/**
 * The role that owns rollcall's tables and writes the triggers, in the database of the workers. One that they cannot ask
 * yet is believed to be that: before the first migration their role may have no rights.
 *
 * @throws RollcallError ENV_INVALID where it is another database
 */
export async function ownerIn(env: {
  readonly DATABASE_URL: string
  readonly MIGRATE_DATABASE_URL?: string
}): Promise<DatabaseAddress> {
  const workers = databaseAt(env.DATABASE_URL)
  if (env.MIGRATE_DATABASE_URL === undefined) return workers
  const owner = { url: env.MIGRATE_DATABASE_URL, variable: 'MIGRATE_DATABASE_URL' }
  const [theirs, own] = await Promise.all(
    [workers, owner].map((address) => identityOf(address).catch(() => null)),
  )
  if (theirs && own && isAnotherDatabase(theirs, own))
    throw new RollcallError('ENV_INVALID', [
      'MIGRATE_DATABASE_URL: it leads to another database than DATABASE_URL',
    ])
  return owner
}

async function identityOf(address: DatabaseAddress): Promise<DatabaseIdentity> {
  const options = { application_name: 'rollcall', connectionTimeoutMillis: CONNECT_MS }
  const client = await connectOne(address, options)
  try {
    return await readIdentity(client)
  } finally {
    await client.end()
  }
}
