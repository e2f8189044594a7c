import { beforeEach, describe, expect, it } from 'vitest'
import { contract, DOCUMENTED, PRESETS } from '../../../src/sandbox/contract/contract.ts'
import { ofFile } from '../../support/of-file.ts'
import { jsonOf, startService } from '../contract/service.ts'

const service = ofFile(startService)
beforeEach(() => service.reset())

const put = (body: unknown) => service.control('PUT', JSON.stringify(body))
const EVENTUAL = PRESETS.eventual.contract

describe('the control endpoint of the contract', () => {
  it('shows the whole contract', async () => {
    const seen = await service.control('GET')
    expect([seen.status, jsonOf(seen)]).toEqual([200, DOCUMENTED])
  })

  it.each<[string, unknown, object]>([
    ["a preset's name", 'eventual', EVENTUAL],
    ['words', 'lagging duplicate=422 trialMs=2m', { visibleAfterMs: 2000, duplicate: 422, trialMs: 120_000 }],
    ['dimensions', { createStatus: 204, forbidden: 'x' }, { createStatus: 204, forbidden: 'x' }],
    [
      'a preset and dimensions that better it, in any order',
      { createStatus: 200, preset: 'eventual' },
      { ...EVENTUAL, createStatus: 200 },
    ],
    ['nothing but the defaults', {}, {}],
  ])('takes %s, and what is not named takes its default', async (_name, body, changes) => {
    service.sandbox.contract.set({ nulls: 'absent' })
    const wanted = contract.parse(changes)
    const seen = await put(body)
    expect([seen.status, jsonOf(seen)]).toEqual([200, wanted])
    expect(service.sandbox.contract.now).toEqual(wanted)
  })

  it('is in force for the next call', async () => {
    await put({ createStatus: 204 })
    expect((await service.create({ user_id: 'u', status: 2 })).status).toBe(204)
    expect((await service.control('DELETE')).status).toBe(204)
    expect((await service.create({ user_id: 'v', status: 2 })).status).toBe(201)
  })
})
