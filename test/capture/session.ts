// What the tests of install and status have in common.
import pg from 'pg'
import { readInstalled } from '../../src/capture/catalog.ts'
import { install } from '../../src/capture/install.ts'
import { planCapture } from '../../src/capture/relations.ts'
import { captureDifference, captureStatus } from '../../src/capture/status.ts'
import type { Config } from '../../src/config/config.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { CUSTOMERS, config } from './scene.ts'

export async function database(tables = CUSTOMERS): Promise<TestDatabase> {
  const db = await freshDatabase()
  await db.pool.query(tables)
  return db
}

export async function installed(db: TestDatabase, watched: Config = config): Promise<readonly string[]> {
  return await onSession(db, async (client) => install(client, await planCapture(client, watched)))
}

export async function states(db: TestDatabase, watched: Config = config): Promise<Record<string, string>> {
  const difference = captureDifference(await planCapture(db.pool, watched), await readInstalled(db.pool))
  return Object.fromEntries(captureStatus(difference).map(({ relation, state }) => [relation.name, state]))
}

export async function onSession<T>(db: TestDatabase, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: db.url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
