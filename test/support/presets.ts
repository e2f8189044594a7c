// The kinds of service that the sandbox can be, as far as they concern users.
import {
  type Contract,
  type ContractInput,
  choicesOf,
  DIMENSIONS,
  PRESETS,
} from '../../src/sandbox/contract/contract.ts'
import { buildHouse, type House, timed } from './house.ts'
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
 * A sync does not depend on habits that only the chat shows. The customers of these tests share their addresses;
 * test/flow/taken.test.ts has services that take each address once.
 */
const APART: readonly (keyof Contract)[] = ['names', 'roomId', 'unique']

export const USER_PRESETS = (Object.keys(KINDS) as KindName[]).filter((name) => {
  const dimensions = Object.keys(KINDS[name]) as (keyof Contract)[]
  return name === 'documented' || dimensions.some((dimension) => !APART.includes(dimension))
})

/** The presets, and services that differ in everything at once: each value of each dimension, twice in other company. */
export const MIXED: Readonly<Record<string, ContractInput>> = {
  ...Object.fromEntries(Object.entries(PRESETS).map(([name, { contract }]) => [name, contract])),
  ...Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`mixed ${at}`, mixed(at)])),
}

function mixed(at: number): ContractInput {
  const choices = DIMENSIONS.filter((dimension) => !APART.includes(dimension)).map((dimension, place) => {
    const values = choicesOf(dimension) ?? []
    return [dimension, values[(at + (at < 4 ? 0 : place)) % values.length]]
  })
  return Object.fromEntries(choices.filter(([, value]) => value !== undefined))
}

/** A house at such a service. The lookup after a lost answer comes later than the service lags. */
export function buildPresetHouse(lane: QueueLane, name: KindName): Promise<House> {
  const contract = KINDS[name]
  const lag = contract.visibleAfterMs ?? 0
  const times = timed({ consistencyDelayMs: lag * 1.2, lifetimeMs: 3000 + lag * 1.2 })
  return buildHouse(lane, { contract, config: { ...times, service: { timeoutMs: 1000 } } })
}

/** Every call that writes, in order; how often a service has to be looked up is its own. */
export function writesOf({ sandbox }: House, userId?: string) {
  return sandbox.journal
    .list(userId === undefined ? {} : { userId })
    .filter(({ method }) => method !== 'GET')
    .map(({ method, body }) => ({ method, body }))
}

const COLUMNS = `correo, dni, nombre, apellidos, sexo, nacido, movil, prefijo, cobertura, contrato, idioma, notas, pais,
  grupo, grupo_medico`
const VALUES = `'Ana.Gil@Example.com', '12345678Z', 'Ana', 'Gil', 'm', '1980-02-29', '600111222', '34', 'hogar',
  'C-1', 'es', 'nota', 'ES', 'g1', 'm1'`
export const FULL = {
  ...{ email: 'Ana.Gil@Example.com', nid_number: '12345678Z', first_name: 'Ana', last_name: 'Gil' },
  ...{ gender: 1, birthdate: '1980-02-29', mobile_phone: '600111222', mobile_phone_prefix: '34' },
  ...{ coverage_name: 'hogar', contract_number: 'C-1', service_language_code: 'es' },
  ...{ description: 'nota', country_code: 'ES', ml_group_name: 'g1', md_group_name: 'm1' },
} as const

/** A customer with a value in every column, none of which is another's. */
export async function insertFull({ db }: House, key: string, plan = 'premium'): Promise<void> {
  await db.sql(`INSERT INTO clientes (id, plan, ${COLUMNS}) VALUES ($1, $2, ${VALUES})`, [key, plan])
}
