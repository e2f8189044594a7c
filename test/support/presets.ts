// The kinds of service that the sandbox can be, as far as they concern users.
import type { Contract } from '../../src/sandbox/contract/contract.ts'
import { PRESETS, type PresetName } from '../../src/sandbox/contract/presets.ts'
import { buildHouse, CONFIG, type House } from './house.ts'
import type { QueueLane } from './lanes.ts'

/**
 * What only the chat shows makes no difference to a sync. And the customers of these tests share their addresses: what
 * follows where a service takes each once is in test/flow/taken.test.ts.
 */
const APART: readonly (keyof Contract)[] = ['names', 'roomId', 'order', 'pivot', 'unique']

export const USER_PRESETS = (Object.keys(PRESETS) as PresetName[]).filter((name) => {
  const dimensions = Object.keys(PRESETS[name].contract) as (keyof Contract)[]
  return name === 'documented' || dimensions.some((dimension) => !APART.includes(dimension))
})

/** A house at such a service. The lookup after a lost answer comes later than the service lags. */
export function buildPresetHouse(lane: QueueLane, name: PresetName): Promise<House> {
  const { contract } = PRESETS[name]
  const lag = contract.visibleAfterMs ?? 0
  const timing = { ...CONFIG.timing, consistencyDelayMs: lag * 1.2, lifetimeMs: 900 + lag * 1.2 }
  return buildHouse(lane, { contract, config: { timing, service: { timeoutMs: 300 } } })
}

/** Every call that writes, in order; how often a service has to be looked at is its own. */
export function writesOf({ sandbox }: House, userId?: string) {
  return sandbox.journal
    .list(userId === undefined ? {} : { userId })
    .filter(({ method }) => method !== 'GET')
    .map(({ method, body }) => ({ method, body }))
}
