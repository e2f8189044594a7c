// A database with customers in it, watched by triggers.
import pg from 'pg'
import { install } from '../../src/capture/install.ts'
import { type CapturedChange, drainOutbox } from '../../src/capture/outbox.ts'
import { planCapture } from '../../src/capture/relations.ts'
import { captureStatus } from '../../src/capture/status.ts'
import type { Config } from '../../src/config/config.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

export type Scene = AsyncDisposable & {
  readonly db: TestDatabase
  sql(text: string): Promise<void>
  /** Drains everything; `key lane`, sorted. */
  noted(): Promise<readonly string[]>
  /** The same without the lanes. */
  keys(): Promise<readonly string[]>
}

export const CUSTOMERS = `
  CREATE EXTENSION citext;
  CREATE TABLE customers (
    id int PRIMARY KEY, email text, plan text NOT NULL DEFAULT 'free', nick citext, profile json, notes text)`

/** Watches id, email, plan, nick and profile; `notes` is not watched. */
export const config = configure({})

export function configure(overrides: Partial<RollcallConfig>): Config {
  return resolveConfig(
    {
      customers: { table: 'customers', key: 'id' },
      mapping: {
        user_id: 'id',
        status: { column: 'plan', values: { free: 0, premium: 2 }, otherwise: 0 },
        email: 'email',
        first_name: 'nick',
        description: {
          columns: ['profile'],
          map: (row: Record<string, unknown>) => JSON.stringify(row.profile),
        },
      },
      ...overrides,
    },
    'rollcall.config.ts',
  )
}

/** With a second table, of which some installations watch the rows. */
export const WITH_SIDE = `${CUSTOMERS}; CREATE TABLE side (customer int, x int)`
export const watchingSide = (overrides: Partial<RollcallConfig> = {}): Config =>
  configure({
    watch: [
      { table: 'customers', key: 'id' },
      { table: 'side', key: 'customer' },
    ],
    ...overrides,
  })

type SceneOptions = { readonly tables?: string; readonly config?: Config }

export async function openScene({ tables, config: watched = config }: SceneOptions = {}): Promise<Scene> {
  const db = await database(tables)
  await installed(db, watched)
  const changes = async () => {
    const all: CapturedChange[] = []
    while ((await drainOutbox(db.pool, async (_, some) => void all.push(...some), 10_000)) > 0);
    return all
  }
  return {
    db,
    sql: async (text) => {
      await db.sql(text)
    },
    noted: async () => (await changes()).map(({ key, lane }) => `${key} ${lane}`).sort(),
    keys: async () => (await changes()).map(({ key }) => key).sort(),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  }
}

export async function database(tables = CUSTOMERS): Promise<TestDatabase> {
  const db = await freshDatabase()
  await db.sql(tables)
  return db
}

export async function installed(db: TestDatabase, watched: Config = config): Promise<readonly string[]> {
  return await onSession(db, async (client) => install(client, await planCapture(client, watched)))
}

export async function states(db: TestDatabase, watched: Config = config): Promise<Record<string, string>> {
  const tables = await captureStatus(db.pool, watched)
  return Object.fromEntries(tables.map(({ relation, state }) => [relation.name, state]))
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
