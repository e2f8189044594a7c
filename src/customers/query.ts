// Statements that read customers. The configuration may say that they need more than our sessions give: a path on which
// the functions behind a view find what they name, or the policies of row-level security.
import pg from 'pg'
import type { Config } from '../config/config.ts'
import type { Relation } from '../config/relation.ts'
import type { Client } from '../database/client.ts'

/** Settings of a session for one statement, as SQL; none: those of every session of ours will do. */
type Settings = readonly string[]

export function settingsOf({ customers: { searchPath, rowSecurity } }: Config): Settings {
  const path = ['pg_catalog', ...searchPath.map((schema) => pg.escapeIdentifier(schema)), 'pg_temp']
  return [
    ...(searchPath.length > 0 ? [`SET LOCAL search_path = ${path.join(', ')}`] : []),
    ...(rowSecurity === 'apply' ? ['SET LOCAL row_security = on'] : []),
  ]
}

export function quoted({ schema, name }: Relation): string {
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`
}

type Query = pg.QueryConfig & { readonly rowMode?: 'array' }

/** With settings it takes a transaction, in which `client` must not be yet. */
export async function queryCustomers<R extends pg.QueryResultRow>(
  client: Client,
  settings: Settings,
  query: Query,
): Promise<pg.QueryResult<R>> {
  return await withSettings(client, settings, (session) => session.query<R>(query))
}

/** With settings, a relation that was read stays locked against changes of its columns and policies until all is done. */
export async function withSettings<T>(
  client: Client,
  settings: Settings,
  use: (session: Client) => Promise<T>,
): Promise<T> {
  if (settings.length === 0) return await use(client)
  if (!(client instanceof pg.Pool)) return await readOnly(client, settings, use)
  const held = await client.connect()
  let broken = false
  try {
    return await readOnly(held, settings, use)
  } catch (error) {
    broken = !(error instanceof pg.DatabaseError)
    throw error
  } finally {
    held.release(broken)
  }
}

async function readOnly<T>(client: Client, settings: Settings, use: (session: Client) => Promise<T>) {
  try {
    await client.query(['BEGIN', ...settings].join('; '))
    return await use(client)
  } finally {
    await client.query('ROLLBACK')
  }
}
