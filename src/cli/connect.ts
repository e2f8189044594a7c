import type { Pool } from 'pg'
import { type Env, readEnv, type Variable } from '../config/env.ts'
import { endPool, makePool } from '../database/pool.ts'
import { connectOne, type DatabaseAddress, databaseAt, roleOf } from '../database/session.ts'
import { aborting, PATIENCE_MS } from '../explain/in-time.ts'
import { checkMigrated } from '../ledger/migrate.ts'
import { reachable } from '../ledger/reachable.ts'
import { type DatabaseIdentity, isAnotherDatabase, readIdentity } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import type { Io } from './io.ts'

const CONNECT_MS = 5000

/** By then a command that has ended has nothing under way. */
const CUT_MS = 5000

type Wanted<Need, May> = {
  readonly need?: readonly Need[]
  readonly may?: readonly May[]
  readonly owner?: boolean
  /** Whether rollcall's tables have to be there, of this version; default: not for their owner. */
  readonly tables?: boolean
  /** A person waits: no query takes longer than PATIENCE_MS, and at the end what still waits for a lock is cut off. */
  readonly impatient?: boolean
  /** The work heeds a stop by itself, after what it has begun; by default a stop ends it at once, also while a query waits. */
  readonly endsItself?: boolean
}

/** Opens the database for a command and closes it after; a server that is away is said in a sentence. */
export async function withDatabase<T, Need extends Variable = never, May extends Variable = never>(
  io: Pick<Io, 'env' | 'stop'>,
  wanted: Wanted<Need, May>,
  work: (pool: Pool, env: Env<Need | 'DATABASE_URL', May | 'MIGRATE_DATABASE_URL'>) => Promise<T>,
): Promise<T> {
  const { need = [], may = [], owner = false, impatient = false, endsItself = false } = wanted
  const { tables = !owner } = wanted
  const env = readEnv<Need | 'DATABASE_URL', May | 'MIGRATE_DATABASE_URL'>(io.env, {
    need: ['DATABASE_URL', ...need],
    may: owner ? ['MIGRATE_DATABASE_URL', ...may] : may,
  })
  const address = owner ? await ownerIn(env) : databaseAt(env.DATABASE_URL)
  const pool = makePool({
    ...{ ...address, max: 4, applicationName: 'rollcall' },
    ...(impatient ? { statementTimeoutMs: PATIENCE_MS } : {}),
    onError: () => undefined, // a connection that breaks while idle shows in the next statement
  })
  const run = async () => {
    if (tables) await checkMigrated(pool)
    return await work(pool, env)
  }
  const stoppable = () => (endsItself ? run() : Promise.race([run(), aborting(io.stop)]))
  try {
    return await reachable(stoppable, { role: roleOf(address) })
  } finally {
    await endPool(pool, impatient || (io.stop.aborted && !endsItself) ? 0 : CUT_MS)
  }
}

/**
 * The role that owns rollcall's tables and writes the triggers, in the database of the workers. One that they cannot ask
 * yet is taken for that: before the first migration their role may have no rights. Not where a `decision` about the
 * target is to be stored there: made for a copy, it would bind the original.
 *
 * @throws RollcallError ENV_INVALID where it is another database; with a decision, why one of the two cannot be asked
 */
export async function ownerIn(
  env: { readonly DATABASE_URL: string; readonly MIGRATE_DATABASE_URL?: string },
  { decision = false } = {},
): Promise<DatabaseAddress> {
  const workers = databaseAt(env.DATABASE_URL)
  if (env.MIGRATE_DATABASE_URL === undefined) return workers
  const owner = { url: env.MIGRATE_DATABASE_URL, variable: 'MIGRATE_DATABASE_URL' }
  const [theirs, own] = await Promise.all(
    [workers, owner].map((address) => {
      const asked = reachable(() => identityOf(address), { role: roleOf(address) })
      return decision ? asked : asked.catch(() => null)
    }),
  )
  if (theirs && own && isAnotherDatabase(theirs, own))
    throw new RollcallError('ENV_INVALID', [
      'MIGRATE_DATABASE_URL: expected the same database as in DATABASE_URL',
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
