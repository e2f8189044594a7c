// A database with customers in it, watched in one way or another.

import type { CapturedChange, ChangeSource } from '../../src/capture/source.ts'
import type { Config } from '../../src/config/config.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

/** What a capture mode must give to be held to the conformance suite. */
export type Capturing = AsyncDisposable & {
  readonly source: ChangeSource
  /** Resolves when everything committed until now is in what `drain` gives. */
  caughtUp(): Promise<void>
}
export type CaptureMode = {
  readonly name: string
  /** Begins to capture; the tables exist and capture sees what is written from now on. */
  start(db: TestDatabase, config: Config): Promise<Capturing>
}

export type Scene = AsyncDisposable & {
  readonly db: TestDatabase
  readonly config: Config
  readonly source: ChangeSource
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

/** Watches id, email, plan, nick and profile; `notes` is nobody's business. */
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

type SceneOptions = { readonly mode: CaptureMode; readonly tables?: string; readonly config?: Config }

export async function openScene({
  mode,
  tables = CUSTOMERS,
  config: watched = config,
}: SceneOptions): Promise<Scene> {
  await using opening = new AsyncDisposableStack()
  const db = opening.use(await freshDatabase())
  await db.pool.query(tables)
  const capturing = opening.use(await mode.start(db, watched))
  const changes = async () => {
    const all: CapturedChange[] = []
    await capturing.caughtUp()
    const note = async (_: unknown, some: readonly CapturedChange[]) => {
      all.push(...some)
    }
    while ((await capturing.source.drain(note, 10_000)) > 0);
    return all
  }
  const opened = opening.move()
  return {
    db,
    config: watched,
    source: capturing.source,
    sql: async (text) => {
      await db.pool.query(text)
    },
    noted: async () => (await changes()).map(({ key, lane }) => `${key} ${lane}`).sort(),
    keys: async () => (await changes()).map(({ key }) => key).sort(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
