import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectCallError, makeClient, type Pair, startPair } from './pair.ts'

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

describe('faults, and what the caller learns of them', () => {
  const patch = () => pair.client.updateUser('u1', { status: 0 })
  const strike = (rule: Parameters<Pair['sandbox']['faults']['add']>[0]) => {
    pair.sandbox.users.set('u1', { status: 2 })
    pair.sandbox.faults.set([rule])
  }
  const lastEntry = () => pair.sandbox.journal.list().at(-1)

  it('a connection cut before the change was stored: reached maybe', async () => {
    strike({ action: { kind: 'drop-before' } })
    await expectCallError(patch(), 'connection-lost', 'maybe')
    expect(pair.sandbox.users.get('u1')?.status).toBe(2)
    expect(lastEntry()).toMatchObject({
      status: null,
      stored: false,
      answeredAt: null,
      faults: ['drop-before'],
    })
  })

  it('a connection cut after the change was stored: reached maybe, and it is stored', async () => {
    strike({ action: { kind: 'drop-after' } })
    await expectCallError(patch(), 'connection-lost', 'maybe')
    expect(pair.sandbox.users.get('u1')?.status).toBe(0)
    expect(lastEntry()).toMatchObject({ status: null, stored: true, faults: ['drop-after'] })
  })

  it('stored and never answered: a timeout that says maybe', async () => {
    strike({ action: { kind: 'hang-after' } })
    const hasty = makeClient({ origin: pair.sandbox.url, timeoutMs: 1000 })
    await expectCallError(hasty.updateUser('u1', { status: 0 }), 'timeout', 'maybe')
    expect(pair.sandbox.users.get('u1')?.status).toBe(0)
    expect(lastEntry()).toMatchObject({ status: null, stored: true })
    await hasty.close()
  })

  it('a slow body inside the timeout is read', async () => {
    strike({ action: { kind: 'slow-body', durationMs: 300 } })
    const reply = await patch()
    expect(reply).toMatchObject({ status: 200, body: { kind: 'json', value: { user_id: 'u1', status: 0 } } })
    expect(reply.durationMs).toBeGreaterThan(250)
  })

  it('a slow body beyond the timeout: stored, a status was seen, and yet a timeout that says maybe', async () => {
    strike({ action: { kind: 'slow-body', durationMs: 600_000 } })
    const hasty = makeClient({ origin: pair.sandbox.url, timeoutMs: 1000 })
    await expectCallError(hasty.updateUser('u1', { status: 0 }), 'timeout', 'maybe')
    expect(pair.sandbox.users.get('u1')?.status).toBe(0)
    expect(lastEntry()).toMatchObject({ status: 200, stored: true, faults: ['slow-body'] })
    await hasty.close()
  })

  it('refuse: the call that is struck may have been carried out, the next was surely not sent', async () => {
    strike({ times: 1, action: { kind: 'refuse', durationMs: 2000 } })
    await expectCallError(patch(), 'connection-lost', 'maybe')
    await expectCallError(patch(), 'refused', 'no')
    expect(pair.sandbox.journal.list()).toHaveLength(1)
    expect(pair.sandbox.users.get('u1')?.status).toBe(2)
    await expect.poll(async () => (await patch().catch(() => null))?.status).toBe(200)
  })

  it('down: every call is cut', async () => {
    strike({ action: { kind: 'down' } })
    await expectCallError(patch(), 'connection-lost', 'maybe')
    await expectCallError(pair.client.retrieveUser('u1'), 'connection-lost', 'maybe')
  })

  it('a late request is stored although its caller gave up', async () => {
    strike({ action: { kind: 'latency', minMs: 2000, maxMs: 2000 } })
    const hasty = makeClient({ origin: pair.sandbox.url, timeoutMs: 500 })
    await expectCallError(hasty.updateUser('u1', { status: 0 }), 'timeout', 'maybe')
    expect(pair.sandbox.users.get('u1')?.status).toBe(2)
    await expect.poll(() => pair.sandbox.users.get('u1')?.status).toBe(0)
    expect(lastEntry()).toMatchObject({ status: null, stored: true })
    await hasty.close()
  })

  it.each([200, 204, 302, 400, 401, 403, 408, 409, 410, 418, 422, 429, 500, 502, 503, 504, 599])(
    'the status %i arrives as a reply, once, and nothing is followed or sent again',
    async (status) => {
      strike({ action: { kind: 'status', status } })
      expect((await patch()).status).toBe(status)
      expect((await pair.client.retrieveUser('u1')).status).toBe(status)
      expect((await pair.client.replaceUser('u1', { status: 0 })).status).toBe(status)
      expect(pair.sandbox.journal.list()).toHaveLength(3)
      expect(pair.sandbox.users.get('u1')?.status).toBe(2)
    },
  )

  it('a 503 although the change was stored', async () => {
    strike({ action: { kind: 'status', status: 503, stored: true } })
    expect((await patch()).status).toBe(503)
    expect(pair.sandbox.users.get('u1')?.status).toBe(0)
    expect(lastEntry()).toMatchObject({ status: 503, stored: true })
  })

  it.each([
    ['json', { kind: 'json' }],
    ['html', { kind: 'unreadable' }],
    ['empty', { kind: 'none' }],
  ] as const)('a body that is %s', async (body, expected) => {
    strike({ action: { kind: 'status', status: 200, body } })
    expect((await patch()).body).toMatchObject(expected)
  })

  it.each(['seconds', 'date'] as const)('Retry-After in %s', async (form) => {
    strike({ action: { kind: 'status', status: 429, retryAfter: { form, seconds: 30 } } })
    const { retryAfterMs } = await patch()
    expect(retryAfterMs).toBeGreaterThan(28_000)
    expect(retryAfterMs).toBeLessThanOrEqual(32_000)
    pair.sandbox.faults.clear()
    expect(await patch()).not.toHaveProperty('retryAfterMs')
  })
})
