// One more worker in a house, with another configuration than the house's own.
import { pino } from 'pino'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { type House, openWorker, SECRETS } from './house.ts'

/** The house as its commands see it with another configuration file. */
export function reconfigured(house: House, changes: Partial<RollcallConfig>): House {
  return { ...house, authored: { ...house.authored, ...changes } }
}

/** `said`: the messages that it has logged so far. */
export type OtherWorker = AsyncDisposable & { readonly said: readonly string[] }

export async function startOther(house: House, changes: Partial<RollcallConfig>): Promise<OtherWorker> {
  const config = resolveConfig({ ...house.authored, ...changes }, 'rollcall.config.ts')
  const said: string[] = []
  const log = pino({ level: 'info' }, { write: (text: string) => void said.push(JSON.parse(text).msg) })
  const { DATABASE_URL = '', QUEUE_URL = '' } = house.env
  const env = { ...SECRETS, DATABASE_URL, QUEUE_URL, SERVICE_URL: house.sandbox.url }
  const worker = await openWorker({ config, env, log })
  return { said, [Symbol.asyncDispose]: () => worker.stop() }
}
