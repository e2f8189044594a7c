// Bodies that are no JSON, or are not said to be (section 4), to a service that tells more or less of its refusals.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ContractInput } from '../../src/sandbox/contract/contract.ts'
import { jsonOf, type Seen, type Service, startService } from './contract/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => {
  service.reset()
  service.sandbox.users.set('u', { status: 2 })
})

const GOOD = '{"user_id":"v","status":2}'
const JSON_TYPE = { 'Content-Type': 'application/json' }
type Unreadable = readonly [name: string, init: RequestInit, message: string]
const UNREADABLE: readonly Unreadable[] = [
  ['half of it', { headers: JSON_TYPE, body: GOOD.slice(0, -1) }, 'The body is not JSON.'],
  ['none', { headers: JSON_TYPE }, 'The body is not JSON.'],
  ['no UTF-8', { headers: JSON_TYPE, body: Buffer.from('"\xff"', 'latin1') }, 'The body is not JSON.'],
  [
    'a form',
    { headers: { 'Content-Type': 'text/plain' }, body: GOOD },
    'Content-Type must be application/json.',
  ],
  ...['application/jsonx', ';;;', '', 'json', 'multipart/form-data'].map(
    (type): Unreadable => [
      `of the type ${JSON.stringify(type)}`,
      { headers: { 'Content-Type': type }, body: GOOD },
      'Content-Type must be application/json.',
    ],
  ),
]
const CALLS = [
  'POST /s2s/v1/users',
  'PUT /s2s/v1/users/u',
  'PATCH /s2s/v1/users/u',
  'PATCH /s2s/v1/users/nobody',
]

async function answers(contract: ContractInput, init: RequestInit): Promise<readonly Seen[]> {
  service.sandbox.contract.set(contract)
  const seen: Seen[] = []
  for (const call of CALLS) {
    const [method = '', path = ''] = call.split(' ')
    seen.push(await service.send(path, { method, ...init }))
  }
  return seen
}

describe.each(UNREADABLE)('a body: %s', (_name, init, message) => {
  it('is refused with the reason', async () => {
    for (const seen of await answers({}, init)) {
      expect([seen.status, jsonOf(seen)]).toEqual([
        400,
        { error: { code: 'bad_request', message, fields: {} } },
      ])
    }
  })

  it('is refused like any other where nothing is said', async () => {
    for (const seen of await answers({ refusal: 'opaque' }, init)) {
      expect([seen.status, jsonOf(seen)]).toEqual([400, { error: 'Bad Request' }])
    }
    for (const seen of await answers({ refusal: 'html' }, init)) {
      expect(seen).toEqual({
        status: 400,
        type: 'text/html',
        text: '<!doctype html><title>400 Bad Request</title>',
      })
    }
  })

  it.each(['details', 'opaque', 'html'] as const)(
    'of a user who is forbidden is not looked at (%s)',
    async (refusal) => {
      const [create, ...updates] = await answers({ refusal, forbidden: 'o' }, init)
      expect(create?.status, 'nobody is named').toBe(400)
      expect(updates.map(({ status }) => status)).toEqual([400, 400, 403])
    },
  )

  it('stores nothing, and a GET may have it', async () => {
    await answers({}, init)
    expect(service.sandbox.users.all()).toMatchObject([{ user_id: 'u', status: 2 }])
    const { body: _none, ...rest } = init
    expect((await service.send('/s2s/v1/users/u', rest)).status).toBe(200)
  })
})
