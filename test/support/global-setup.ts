// One Postgres and, if any can be had, one Redis for the whole run; a migrated template to clone from.
import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { databaseAt } from '../../src/database/session.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { administer, urlOf } from './administer.ts'
import { databasesOf } from './redis.ts'
import { openServices } from './services.ts'

export type Servers = {
  /** A maintenance database, to create others from. */
  readonly databaseUrl: string
  readonly template: string
  /** Names of the databases of this run begin with it. */
  readonly prefix: string
  readonly redis: { readonly url: string; readonly databases: number } | null
}

declare module 'vitest' {
  interface ProvidedContext {
    servers?: Servers
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await openServices(process.env)
  const databaseUrl = services.postgres.url
  const prefix = `rollcall_test_${randomBytes(3).toString('hex')}`
  const template = `${prefix}_template`
  const close = async () => {
    await dropAll(databaseUrl, prefix)
    await services.close()
  }
  try {
    await administer(databaseUrl, `CREATE DATABASE ${template} TEMPLATE template0`)
    const url = urlOf(databaseUrl, template)
    await migrate(databaseAt(url), { queue: databaseAt(url) })
    // No session may connect: a database with a session cannot be cloned.
    await administer(databaseUrl, `ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false`)
  } catch (error) {
    await close()
    throw error
  }
  const redis = services.redis
    ? { url: services.redis.url, databases: await databasesOf(services.redis.url) }
    : null
  project.provide('servers', { databaseUrl, template, prefix, redis })
  return close
}

async function dropAll(url: string, prefix: string): Promise<void> {
  const { rows } = await administer(
    url,
    `SELECT format('DROP DATABASE %I WITH (FORCE)', datname) AS drop FROM pg_database WHERE datname LIKE '${prefix}%'
     UNION ALL SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE rolname LIKE '${prefix}%'`,
  )
  for (const { drop } of rows) await administer(url, drop)
}
