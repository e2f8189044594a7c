// Asks for access in a test's house, as the command does.
import type { Pool } from 'pg'
import { type Access, openAccess } from '../../src/access/access.ts'
import type { CustomerAccess } from '../../src/access/customer.ts'
import { sayEnd, sayFacts } from '../../src/cli/say-access.ts'
import type { Config } from '../../src/config/config.ts'
import type { CustomerKey } from '../../src/model/customer.ts'
import { type House, SECRETS } from '../support/house.ts'
import { postgres } from '../support/lanes.ts'

export const lane = postgres

export type Asking = {
  readonly token?: string
  readonly digestKey?: string
  readonly origin?: string
  readonly secretKey?: string
  readonly config?: Config
  readonly stop?: AbortSignal
  readonly patienceMs?: number
  readonly pool?: Pool
}

export type OpenAccess = Access & AsyncDisposable & { of(key: CustomerKey): Promise<CustomerAccess> }

/** `await using access = await open(house)`. */
export async function open(house: House, asking: Asking = {}): Promise<OpenAccess> {
  const { token, digestKey, origin = house.sandbox.url, secretKey = SECRETS.SERVICE_SECRET_KEY } = asking
  const access = await openAccess({
    pool: asking.pool ?? house.db.pool,
    config: asking.config ?? house.config,
    service: { origin, apiKey: SECRETS.SERVICE_API_KEY, secretKey },
    digestKey,
    token,
    stop: asking.stop ?? new AbortController().signal,
    ...(asking.patienceMs === undefined ? {} : { patienceMs: asking.patienceMs }),
  })
  const of = async (key: CustomerKey) => {
    for await (const one of access.ask([key])) return one
    throw new Error('nobody was asked about')
  }
  return { ...access, of, [Symbol.asyncDispose]: () => access.close() }
}

export async function insert(house: House, id: string, plan: string): Promise<void> {
  await house.db.pool.query('INSERT INTO clientes (id, plan, correo) VALUES ($1, $2, $3)', [
    id,
    plan,
    `${id}@example.com`,
  ])
}

/** As the service would hold each of them after a sync. */
export function register(house: House, id: string, status: number, fields: object = {}): void {
  house.sandbox.users.set(id, { status, email: `${id}@example.com`, ...fields })
}

export async function all(access: Access, keys: readonly CustomerKey[]): Promise<CustomerAccess[]> {
  const asked: CustomerAccess[] = []
  for await (const one of access.ask(keys)) asked.push(one)
  return asked
}

/** The deeds that it advises. */
export function deeds({ cures }: Pick<CustomerAccess, 'cures'>): string[] {
  return cures.map((cure) => cure.do)
}

export async function ask(house: House, key: CustomerKey, asking: Asking = {}): Promise<CustomerAccess> {
  await using access = await open(house, asking)
  return await access.of(key)
}

/** What a person would read of it, unfolded. */
export function told(access: CustomerAccess): string {
  return [...sayFacts(access), ...sayEnd(access)].join('\n').replaceAll(`\n${' '.repeat(12)}`, ' ')
}
