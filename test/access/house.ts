// Asks for access in a test's house, as the command does.
import { type Access, type CustomerAccess, openAccess } from '../../src/access/access.ts'
import { sayFacts, sayVerdict } from '../../src/cli/say-access.ts'
import type { Config } from '../../src/config/config.ts'
import type { CustomerKey } from '../../src/model/customer.ts'
import { type House, SECRETS } from '../support/house.ts'
import { lanes } from '../support/lanes.ts'

const [, postgres] = lanes
if (!postgres) throw new Error('the Postgres lane is always there')
export const lane = postgres

export type Asking = {
  readonly token?: string
  readonly digestKey?: string
  readonly origin?: string
  readonly secretKey?: string
  readonly config?: Config
  readonly stop?: AbortSignal
}

/** `await using access = await open(house)`. */
export async function open(house: House, asking: Asking = {}): Promise<Access & AsyncDisposable> {
  const { token, digestKey, origin = house.sandbox.url, secretKey = SECRETS.SERVICE_SECRET_KEY } = asking
  const access = await openAccess({
    pool: house.db.pool,
    config: asking.config ?? house.config,
    service: { origin, apiKey: SECRETS.SERVICE_API_KEY, secretKey },
    digestKey,
    token,
    stop: asking.stop ?? new AbortController().signal,
  })
  return { ...access, [Symbol.asyncDispose]: () => access.close() }
}

export async function ask(house: House, key: CustomerKey, asking: Asking = {}): Promise<CustomerAccess> {
  await using access = await open(house, asking)
  return await access.of(key)
}

/** What a person would read of it. */
export function told(access: CustomerAccess): string {
  return [...sayFacts(access), sayVerdict(access.verdict)].join('\n')
}
