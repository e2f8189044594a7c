// The kinds of service that the sandbox can be, as far as they concern users.
import { type Contract, type ContractInput, PRESETS } from '../../src/sandbox/contract/contract.ts'
import { buildHouse, CONFIG, type House } from './house.ts'
import type { QueueLane } from './lanes.ts'

/** Services that are as documented but for one thing. */
const SINGLE = {
  'create-200': { createStatus: 200 },
  'create-202-empty': { createStatus: 202, createBody: 'none' },
  'create-204': { createStatus: 204 },
  'create-ok': { createBody: 'ok' },
  'create-id': { createBody: 'id' },
  'update-202-empty': { updateStatus: 202, updateBody: 'none' },
  'update-204': { updateStatus: 204 },
  'update-ok': { updateBody: 'ok' },
  'update-null': { updateBody: 'null' },
  'duplicate-422': { duplicate: 422 },
  'duplicate-400': { duplicate: 400 },
  'duplicate-upsert': { duplicate: 'upsert' },
  'unknown-410': { unknownUser: 410 },
  'unknown-null': { unknownUser: 'null' },
  'refusal-details': { refuses: 'description' },
  'refusal-opaque': { refuses: 'description', refusal: 'opaque' },
  'refusal-html': { refuses: 'description', refusal: 'html' },
  'unique-email': { unique: 'email' },
  'nulls-absent': { nulls: 'absent' },
  'nulls-empty': { nulls: 'empty' },
  'numbers-text': { numbers: 'text' },
  forbidding: { forbidden: 'forbidden' },
  'trial-stays': { trialEnd: 'stays' },
  'trial-restarts': { trialAgain: 'restarts' },
  normalising: { email: 'lower-case', phone: 'formatted' },
  'phone-kept': { phone: 'kept' },
  'sample-names': { names: 'sample' },
  'room-text': { roomId: 'text' },
  'newest-first': { order: 'newest-first' },
  shuffled: { order: 'shuffled' },
  'pivot-included': { pivot: 'included' },
} as const satisfies Readonly<Record<string, ContractInput>>

export type KindName = keyof typeof SINGLE | keyof typeof PRESETS
/** Every kind of service, by name: those that differ in one thing, and the presets of the sandbox. */
export const KINDS: Readonly<Record<KindName, ContractInput>> = {
  ...SINGLE,
  documented: PRESETS.documented.contract,
  lagging: PRESETS.lagging.contract,
  terse: PRESETS.terse.contract,
  legacy: PRESETS.legacy.contract,
  eventual: PRESETS.eventual.contract,
}

/**
 * What only the chat shows makes no difference to a sync. And the customers of these tests share their addresses: what
 * follows where a service takes each once is in test/flow/taken.test.ts.
 */
const APART: readonly (keyof Contract)[] = ['names', 'roomId', 'order', 'pivot', 'unique']

export const USER_PRESETS = (Object.keys(KINDS) as KindName[]).filter((name) => {
  const dimensions = Object.keys(KINDS[name]) as (keyof Contract)[]
  return name === 'documented' || dimensions.some((dimension) => !APART.includes(dimension))
})

/** A house at such a service. The lookup after a lost answer comes later than the service lags. */
export function buildPresetHouse(lane: QueueLane, name: KindName): Promise<House> {
  const contract = KINDS[name]
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
