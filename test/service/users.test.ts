import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Fields, type FieldValue, OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import { readUser } from '../../src/service/body.ts'
import type { Reply } from '../../src/service/client.ts'
import { jsonOf, makeClient, type Pair, startPair } from './pair.ts'

const FULL = {
  email: 'ana@correo.example',
  nid_number: '12345678Z',
  first_name: 'Ana',
  last_name: 'Núñez',
  gender: 1,
  birthdate: '1990-02-28',
  mobile_phone: '600000000',
  mobile_phone_prefix: '34',
  coverage_name: 'Hogar',
  contract_number: 'C-1',
  service_language_code: 'es',
  description: 'VIP',
  country_code: 'ES',
  ml_group_name: 'a',
  md_group_name: 'b',
} as const satisfies Record<OptionalField, FieldValue>

const OTHER = {
  email: 'otra@correo.example',
  nid_number: 'X1234567L',
  first_name: 'Eva',
  last_name: 'Ruiz',
  gender: 0,
  birthdate: '1991-12-31',
  mobile_phone: '611111111',
  mobile_phone_prefix: '+351',
  coverage_name: 'Auto',
  contract_number: 'C-2',
  service_language_code: 'en',
  description: 'no',
  country_code: 'pt',
  ml_group_name: 'c',
  md_group_name: 'd',
} as const satisfies Record<OptionalField, FieldValue>

let pair: Pair
beforeAll(async () => {
  pair = await startPair()
})
afterAll(async () => {
  await pair[Symbol.asyncDispose]()
})
beforeEach(() => {
  pair.sandbox.users.clear()
  pair.sandbox.journal.clear()
  pair.sandbox.faults.clear()
})

describe('the four endpoints', () => {
  it('creates a user (section 4.3)', async () => {
    const { client, sandbox } = pair
    const reply = await client.createUser({ user_id: 'u1', status: 2, ...FULL })
    expect(reply.status).toBe(201)
    expect(reply.durationMs).toBeGreaterThan(0)
    expect(sandbox.users.get('u1')).toEqual({ user_id: 'u1', status: 2, ...FULL })
    expect(sandbox.journal.list()).toMatchObject([
      {
        method: 'POST',
        path: '/s2s/v1/users',
        userId: 'u1',
        status: 201,
        stored: true,
        body: { user_id: 'u1', status: 2, ...FULL },
      },
    ])
  })

  it('retrieves sixteen fields: no country_code, the prefix in the phone number, null for empty (section 4.4)', async () => {
    const { client, sandbox } = pair
    sandbox.users.set('u1', { status: 4, ...FULL, last_name: null })
    const reply = await client.retrieveUser('u1')
    const { country_code: _unseen, ...shown } = FULL
    expect(jsonOf(reply)).toEqual({
      user_id: 'u1',
      status: 4,
      ...shown,
      last_name: null,
      mobile_phone: '34600000000',
    })
    expect(readUser(jsonOf(reply), 'u1')).toMatchObject({ userId: 'u1', status: 4 })
    expect(sandbox.journal.list()).toMatchObject([
      { method: 'GET', path: '/s2s/v1/users/u1', raw: '', stored: false },
    ])
  })

  it('replaces the complete set: what a PUT does not name is cleared (section 4.5)', async () => {
    const { client, sandbox } = pair
    sandbox.users.set('u1', { status: 2, ...FULL })
    expect(
      (await client.replaceUser('u1', { status: 4, email: 'b@correo.example', description: null })).status,
    ).toBe(200)
    expect(sandbox.users.get('u1')).toEqual({
      user_id: 'u1',
      status: 4,
      ...Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, null])),
      email: 'b@correo.example',
    })
  })

  it('changes only what a PATCH names (section 4.6)', async () => {
    const { client, sandbox } = pair
    sandbox.users.set('u1', { status: 2, ...FULL })
    expect((await client.updateUser('u1', { status: 0 })).status).toBe(200)
    expect(sandbox.users.get('u1')).toEqual({ user_id: 'u1', status: 0, ...FULL })
    expect(sandbox.journal.list()[0]?.raw).toBe('{"status":0}')
  })

  it.each(OPTIONAL_FIELDS)('sets, changes and clears %s (section 2.6)', async (field) => {
    const { client, sandbox } = pair
    const held = () => sandbox.users.get('u1')?.[field]
    const only = (value: FieldValue): Fields => ({ [field]: value })
    await client.createUser({ user_id: 'u1', status: 2, ...only(FULL[field]) })
    expect(held()).toBe(FULL[field])
    await client.updateUser('u1', { status: 2, ...only(OTHER[field]) })
    expect(held()).toBe(OTHER[field])
    await client.updateUser('u1', { status: 2, ...only(null) })
    expect(held()).toBeNull()
    await client.replaceUser('u1', { status: 2, ...only(FULL[field]) })
    expect(held()).toBe(FULL[field])
    await client.replaceUser('u1', { status: 2, ...only('') })
    expect(held()).toBeNull()
    expect(sandbox.journal.list().map(({ status }) => status)).toEqual([201, 200, 200, 200, 200])
  })
})

describe('answers that are refusals are replies, not errors', () => {
  it.each<[string, number, (pair: Pair) => Promise<Reply>]>([
    ['a second create', 409, ({ client }) => client.createUser({ user_id: 'u1', status: 2 })],
    ['an unknown user', 404, ({ client }) => client.retrieveUser('nobody')],
    ['an update of an unknown user', 404, ({ client }) => client.updateUser('nobody', { status: 2 })],
    [
      'a field with a wrong format',
      422,
      ({ client }) => client.updateUser('u1', { status: 2, email: 'none' }),
    ],
    ['a status that there is not', 422, ({ client }) => client.updateUser('u1', { status: 3 as 2 })],
    ['an update without status', 422, ({ client }) => client.replaceUser('u1', {} as { status: 2 })],
    [
      'user_id in an update',
      422,
      ({ client }) => client.updateUser('u1', { status: 2, ...{ user_id: 'u1' } }),
    ],
    ['a gender in words', 422, ({ client }) => client.updateUser('u1', { status: 2, gender: 'female' })],
    [
      'a day that there is not',
      422,
      ({ client }) => client.updateUser('u1', { status: 2, birthdate: '1990-02-30' }),
    ],
  ])('%s: %i', async (_name, status, call) => {
    pair.sandbox.users.set('u1', { status: 2 })
    const before = pair.sandbox.users.get('u1')
    const reply = await call(pair)
    expect(reply.status).toBe(status)
    expect(jsonOf(reply)).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } })
    expect(pair.sandbox.users.get('u1')).toEqual(before)
    expect(pair.sandbox.journal.list()).toMatchObject([{ status, stored: false }])
  })

  it('names the fields that were wrong, and never their values', async () => {
    const reply = await pair.client.createUser({
      user_id: 'u1',
      status: 2,
      email: 'not-an-address',
      gender: 7,
    })
    expect(jsonOf(reply)).toMatchObject({
      error: { fields: { email: 'an e-mail address', gender: expect.any(String) } },
    })
    expect(JSON.stringify(jsonOf(reply))).not.toContain('not-an-address')
  })

  it.each([
    ['Api-Key', { apiKey: 'wrong' }],
    ['Secret-Key', { secretKey: 'wrong' }],
  ])('answers a wrong %s with 401 (section 5)', async (_name, keys) => {
    const stranger = makeClient({ origin: pair.sandbox.url, ...keys })
    expect((await stranger.createUser({ user_id: 'u1', status: 2 })).status).toBe(401)
    expect((await stranger.retrieveUser('u1')).status).toBe(401)
    expect(pair.sandbox.users.size).toBe(0)
    await stranger.close()
  })
})
