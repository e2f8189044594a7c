// Explains customers of a test's house, as the commands do.
import type { Pool } from 'pg'
import { renderOne } from '../../src/cli/explanation.ts'
import { renderChat } from '../../src/cli/render-chat.ts'
import type { Chat } from '../../src/explain/chat.ts'
import { type Explain, type Explanation, openExplain } from '../../src/explain/explain.ts'
import type { CustomerKey } from '../../src/model/customer.ts'
import { type House, SECRETS } from '../support/house.ts'
import { postgres } from '../support/lanes.ts'

export const lane = postgres

export type Asking = {
  readonly token?: string
  readonly digestKey?: string
  readonly origin?: string
  readonly patienceMs?: number
  readonly pool?: Pool
}

export type Asked = Explanation & { readonly chat: Chat }
export type OpenExplain = Explain & AsyncDisposable & { of(key: CustomerKey): Promise<Asked> }

/** `await using explain = await open(house)`. */
export async function open(house: House, asking: Asking = {}): Promise<OpenExplain> {
  const { token, digestKey, origin = house.sandbox.url } = asking
  const explain = await openExplain({
    pool: asking.pool ?? house.db.pool,
    config: house.config,
    service: { origin, apiKey: SECRETS.SERVICE_API_KEY, secretKey: SECRETS.SERVICE_SECRET_KEY },
    digestKey,
    token,
    stop: new AbortController().signal,
    patienceMs: asking.patienceMs,
  })
  const of = async (key: CustomerKey) => {
    const [one] = await all(explain, [key])
    if (!one) throw new Error('a customer was asked about')
    return one
  }
  return { ...explain, of, [Symbol.asyncDispose]: () => explain.close() }
}

export async function insert(house: House, id: string, plan: string): Promise<void> {
  await house.sql('INSERT INTO clientes (id, plan, correo) VALUES ($1, $2, $3)', [
    id,
    plan,
    `${id}@example.com`,
  ])
}

/** As the service would hold each of them after a sync. */
export function register(house: House, id: string, status: number, fields: object = {}): void {
  house.sandbox.users.set(id, { status, email: `${id}@example.com`, ...fields })
}

export async function all(explain: Explain, keys: readonly CustomerKey[]): Promise<Asked[]> {
  const asked: Asked[] = []
  for await (const { explanation, chat } of explain.ask(keys)) asked.push({ ...explanation, chat })
  return asked
}

export function toDo({ remedies }: Pick<Explanation, 'remedies'>): string[] {
  return remedies.map((remedy) => remedy.do)
}

export async function ask(house: House, key: CustomerKey, asking: Asking = {}): Promise<Asked> {
  await using explain = await open(house, asking)
  return await explain.of(key)
}

export function printed({ chat, ...explanation }: Asked): string {
  const lines = renderChat({ chat, claims: null, bearer: explanation.token }, new Date())
  return renderOne(explanation, 'access', lines)
    .join('\n')
    .replaceAll(`\n${' '.repeat(12)}`, ' ')
}
