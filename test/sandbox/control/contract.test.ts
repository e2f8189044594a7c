import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { contract, DOCUMENTED } from '../../../src/sandbox/contract/contract.ts'
import { PRESETS } from '../../../src/sandbox/contract/presets.ts'
import { jsonOf, type Service, startService } from '../contract/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => service.reset())

const put = (body: unknown) => service.control('PUT', JSON.stringify(body))

describe('the control endpoint of the contract', () => {
  it('shows the whole contract', async () => {
    const seen = await service.control('GET')
    expect([seen.status, jsonOf(seen)]).toEqual([200, DOCUMENTED])
  })

  it.each<[string, unknown, object]>([
    ["a preset's name", 'create-202-empty', { createStatus: 202, createBody: 'none' }],
    [
      'the text form',
      'lagging duplicate=422 trial-ms=2m',
      { visibleAfterMs: 2000, duplicate: 422, trialMs: 120_000 },
    ],
    ['dimensions', { createStatus: 204, forbidden: 'x' }, { createStatus: 204, forbidden: 'x' }],
    [
      'a preset and dimensions that better it, in any order',
      { createStatus: 200, preset: 'create-202-empty' },
      { createStatus: 200, createBody: 'none' },
    ],
    ['nothing but the defaults', {}, {}],
  ])('takes %s, and what is not named takes its default', async (_name, body, changes) => {
    service.sandbox.contract.set({ nulls: 'absent' })
    const seen = await put(body)
    expect([seen.status, jsonOf(seen)]).toEqual([200, { ...DOCUMENTED, ...changes }])
    expect(service.sandbox.contract.now).toEqual({ ...DOCUMENTED, ...changes })
  })

  it.each(Object.entries(PRESETS))('takes the preset %s either way', async (name, preset) => {
    const wanted = contract.parse(preset.contract)
    expect(jsonOf(await put(name))).toEqual(wanted)
    expect(jsonOf(await put({ preset: name }))).toEqual(wanted)
  })

  it('is in force for the next call', async () => {
    await put({ createStatus: 204 })
    expect((await service.create({ user_id: 'u', status: 2 })).status).toBe(204)
    expect((await service.control('DELETE')).status).toBe(204)
    expect((await service.create({ user_id: 'v', status: 2 })).status).toBe(201)
  })
})

describe('what is wrong with a contract', () => {
  it.each<[string, unknown, Record<string, string>]>([
    ['a value', { createStatus: 205 }, { createStatus: 'one of 200, 201, 202, 204' }],
    ['a value of another type', { duplicate: '422' }, { duplicate: 'one of 409, 422, 400, upsert' }],
    ['a duration', { visibleAfterMs: '2s' }, { visibleAfterMs: 'a number' }],
    ['an empty text', { forbidden: '' }, { forbidden: 'a text that is not empty' }],
    ['an unknown dimension', { createstatus: 204 }, { createstatus: 'no field of this body' }],
    ['an unknown preset', { preset: 'legasy' }, { preset: 'not known; did you mean legacy?' }],
    [
      'several things',
      { nulls: 1, order: 'none', pivot: 'included' },
      { nulls: 'one of null, absent, empty', order: 'one of oldest-first, newest-first, shuffled' },
    ],
    ['a word', 'lagging creat-204', { 'creat-204': 'not known; did you mean create-204?' }],
    [
      'the value of a word',
      'trial-ms=soon',
      { 'trial-ms': expect.stringContaining('14d') as unknown as string },
    ],
    ['no contract at all', 7, { body: 'an object' }],
    ['a list', ['legacy'], { body: 'an object' }],
    ['null', null, { body: 'an object' }],
    ['an empty text', ' ', { body: expect.stringContaining('presets') as unknown as string }],
    ['an empty name', { '': 1 }, { '""': 'no field of this body' }],
  ])('%s is told, and changes nothing', async (_name, body, fields) => {
    service.sandbox.contract.set({ nulls: 'absent' })
    const seen = await put(body)
    expect([seen.status, jsonOf(seen)]).toEqual([
      422,
      { error: { code: 'invalid', message: 'The body does not fit.', fields } },
    ])
    expect(service.sandbox.contract.now).toEqual({ ...DOCUMENTED, nulls: 'absent' })
  })

  it.each(['', '{', 'legacy', '\u00ff'])('%j is no JSON', async (body) => {
    const seen = await service.control('PUT', body)
    expect([seen.status, jsonOf(seen)]).toMatchObject([400, { error: { code: 'bad_request' } }])
  })

  it('is not told at endless length', async () => {
    const names = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${i}${'x'.repeat(40)}`, 1]))
    const seen = await put(names)
    expect(seen.status).toBe(422)
    expect(seen.text.length).toBeLessThan(15_000)
    expect((await put({ ['x'.repeat(60_000)]: 1 })).text.length).toBeLessThan(1000)
    expect((await put('x'.repeat(60_000))).text.length).toBeLessThan(2000)
  })
})
