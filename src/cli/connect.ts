import type { Pool } from 'pg'
import { readEnv } from '../config/env.ts'
import { endPool, makePool } from '../database/pool.ts'
import { connectOne, type DatabaseAddress, databaseAt, roleOf } from '../database/session.ts'
import { PATIENCE_MS } from '../explain/in-time.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { reachable } from '../ledger/reachable.ts'
import { type DatabaseIdentity, isAnotherDatabase, readIdentity } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import { aborted, type Io } from './io.ts'

type Options = {
  readonly url: string
  /** Where the address came from; default: DATABASE_URL. */
  readonly variable?: string
  readonly stop?: AbortSignal
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
  const [theirs, own] = await Promise.allSettled([identityOf(workers), identityOf(owner)])
  if (
    theirs.status === 'fulfilled' &&
    own.status === 'fulfilled' &&
    isAnotherDatabase(theirs.value, own.value)
  )
    throw new RollcallError('ENV_INVALID', [
      'MIGRATE_DATABASE_URL: it leads to another database than DATABASE_URL',
    ])
  return owner
}

async function identityOf(address: DatabaseAddress): Promise<DatabaseIdentity> {
  const client = await connectOne(address, {
    application_name: 'rollcall',
    connectionTimeoutMillis: CONNECT_MS,
  })
  try {
    return await readIdentity(client)
  } finally {
    await client.end()
  }
}

const CONNECT_MS = 5000

/** By then a command that has ended has nothing under way. */
const CUT_MS = 5000

/**
 * Opens the database for a command and closes it after; a server that is away is said in a sentence. Where `stop` is
 * given it ends the command at once, also while a query waits for a lock.
 */
export async function withPool<T>(
  { url, variable = 'DATABASE_URL', stop }: Options,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  // A connection that breaks while idle shows in the next statement.
  const pool = makePool({ url, variable, max: 4, applicationName: 'rollcall', onError: () => undefined })
  const role = roleOf({ url, variable })
  try {
    if (!stop) return await reachable(() => work(pool), { role })
    const stopped = aborted(stop).then((): never => {
      throw stop.reason
    })
    return await reachable(() => Promise.race([work(pool), stopped]), { role })
  } finally {
    await endPool(pool, stop?.aborted ? 0 : CUT_MS)
  }
}

/**
 * The database for a command that somebody waits for: no query takes longer than PATIENCE_MS, and `stop` ends it at
 * once, with an error. What still waits for a lock then, or at the end, is cut off and not waited for.
 */
export async function withImpatientPool<T>(
  { url, stop }: { readonly url: string; readonly stop: AbortSignal },
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  const pool = makePool({
    url,
    max: 4,
    applicationName: 'rollcall',
    statementTimeoutMs: PATIENCE_MS,
    onError: () => undefined, // a connection that breaks while idle shows in the next statement
  })
  const stopped = aborted(stop).then((): never => {
    throw stop.reason
  })
  try {
    return await reachable(() => Promise.race([work(pool), stopped]), {
      role: roleOf(databaseAt(url)),
    })
  } finally {
    await endPool(pool, 0)
  }
}

/** The tables alone, for a command that needs neither a configuration nor the service. */
export async function withTables<T>(io: Io, work: (pool: Pool) => Promise<T>): Promise<T> {
  const { DATABASE_URL: url } = readEnv(io.env, { need: ['DATABASE_URL'] })
  return await withPool({ url, stop: io.stop }, async (pool) => {
    await checkMigrated(pool)
    return await work(pool)
  })
}
