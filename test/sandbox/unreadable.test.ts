// Bodies that are no JSON, or are not said to be (section 4), to a service that tells more or less of its refusals.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ContractInput } from '../../src/sandbox/contract/contract.ts'
import { type Seen, type Service, startService } from './contract/service.ts'

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
const UNREADABLE: readonly (readonly [name: string, init: RequestInit])[] = [
  ['half of it', { headers: JSON_TYPE, body: GOOD.slice(0, -1) }],
  ['none', { headers: JSON_TYPE }],
  ['no UTF-8', { headers: JSON_TYPE, body: Buffer.from('"\xff"', 'latin1') }],
  ...['text/plain', 'application/jsonx', ';;;', '', 'multipart/form-data'].map(
    (type) => [`of the type "${type}"`, { headers: { 'Content-Type': type }, body: GOOD }] as const,
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

describe.each(UNREADABLE)('a body: %s', (_name, init) => {
  it.each([
    ['details', expect.stringMatching(/"code":"bad_request"/)],
    ['opaque', '{"error":"Bad Request"}'],
    ['html', '<!doctype html><title>400 Bad Request</title>'],
  ] as const)('is refused as the contract says (%s), and stores nothing', async (refusal, text) => {
    for (const seen of await answers({ refusal }, init)) expect(seen).toMatchObject({ status: 400, text })
    const [create, ...updates] = await answers({ refusal, forbidden: 'o' }, init)
    expect(create?.status, 'nobody is named').toBe(400)
    expect(updates.map(({ status }) => status)).toEqual([400, 400, 403])
    expect(service.sandbox.users.all()).toMatchObject([{ user_id: 'u', status: 2 }])
  })
})
