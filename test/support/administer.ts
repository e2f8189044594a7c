import pg from 'pg'

const pools = new Map<string, pg.Pool>()

/** One statement on a session of ours that is in no transaction, as CREATE DATABASE wants it; kept for the next. */
export async function administer(url: string, statement: string): Promise<pg.QueryResult> {
  const pool = pools.get(url) ?? new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true })
  // A server that stops cuts off what is idle.
  if (!pools.has(url)) pool.on('error', () => undefined)
  pools.set(url, pool)
  return await pool.query(statement)
}

/** The same server, another database. */
export function urlOf(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}
