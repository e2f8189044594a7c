// A database of its own for every test (or file), cloned from one that is migrated already.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'
import { administer, urlOf } from './administer.ts'

export type TestDatabase = AsyncDisposable & {
  readonly name: string
  readonly url: string
  /** Ended with the database. */
  readonly pool: pg.Pool
  readonly sql: pg.Pool['query']
  /** A session of its own, which ends together with its transaction. */
  session(): Promise<pg.PoolClient & AsyncDisposable>
  /** A role of its own that may log in and nothing else; it goes with the database. */
  makeRole(): Promise<TestRole>
  drop(): Promise<void>
}

/** `url`: this database as that role. */
export type TestRole = { readonly name: string; readonly url: string }

type Options = {
  /** Not migrated: nothing in it at all. */
  readonly empty?: boolean
  /** A copy of this one, whose sessions are ended for it. */
  readonly copyOf?: TestDatabase
}

/**
 * `await using db = await freshDatabase()` in a test; for a whole file, `ofFile(() => freshDatabase())`. Sessions that
 * are still open when it ends are cut off.
 */
export async function freshDatabase(options: Options = {}): Promise<TestDatabase> {
  const { databaseUrl, template, prefix } = servers()
  const name = `${prefix}_${randomBytes(6).toString('hex')}`
  const from = options.copyOf?.name ?? (options.empty ? 'template0' : template)
  if (options.copyOf)
    await administer(
      databaseUrl,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${from}'`,
    )
  await administer(databaseUrl, `CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY file_copy`)

  const url = urlOf(databaseUrl, name)
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  // An idle connection that a test has cut off on purpose is reported here and replaced by the pool.
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined))
  const session = async () => {
    const client = await pool.connect()
    return Object.assign(client, { [Symbol.asyncDispose]: async () => client.release(true) })
  }
  const roles: string[] = []
  const makeRole = async (): Promise<TestRole> => {
    const role = `${name}_${roles.length}`
    roles.push(role)
    const password = randomBytes(12).toString('hex')
    await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
    const asRole = new URL(url)
    asRole.username = role
    asRole.password = password
    return { name: role, url: asRole.href }
  }
  const drop = async () => {
    if (pool.ended) return
    // A test that failed may not have given back a client: its open transaction would hold up every other file.
    await Promise.race([pool.end(), sleep(5000, undefined, { ref: false })])
    await administer(databaseUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    for (const role of roles) await administer(databaseUrl, `DROP ROLE ${role}`)
  }
  const sql = pool.query.bind(pool) as typeof pool.query
  return { name, url, pool, sql, session, makeRole, drop, [Symbol.asyncDispose]: drop }
}

function servers() {
  const given = inject('servers')
  if (!given) throw new Error('A test that needs Postgres has a name that ends in .pg.test.ts.')
  return given
}
