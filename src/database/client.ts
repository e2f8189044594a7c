import type { ClientBase, QueryResultRow } from 'pg'
import type { CustomerKey } from '../model/customer.ts'

/** A session or a pool: whatever a single statement can be sent by. */
export type Client = Pick<ClientBase, 'query'>

export async function oneRow<Row extends QueryResultRow>(
  client: Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row> {
  const [row] = (await client.query<Row>(text, [...values])).rows
  if (!row) throw new Error('a statement gave no row')
  return row
}

export async function keysBy(client: Client, text: string, values: readonly unknown[]) {
  return (await client.query<{ key: CustomerKey }>(text, [...values])).rows.map(({ key }) => key)
}
