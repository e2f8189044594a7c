import type { ClientBase } from 'pg'

/** The database's time, by which mappings go: the time at which a customer is looked at again is compared with it. */
export async function readNow(client: Pick<ClientBase, 'query'>): Promise<Date> {
  const { rows } = await client.query<{ ms: number }>(
    'SELECT (extract(epoch FROM now()) * 1000)::float8 AS ms',
  )
  return new Date(rows[0]?.ms ?? Number.NaN)
}
