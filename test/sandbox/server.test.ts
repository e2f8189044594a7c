import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'

const KEYS = { apiKey: 'api', secretKey: 'secret' }
const HEADERS = { 'Api-Key': 'api', 'Secret-Key': 'secret', 'Content-Type': 'application/json' }

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox(KEYS)
})
afterAll(async () => {
  await sandbox.stop()
})
beforeEach(() => {
  sandbox.users.clear()
  sandbox.journal.clear()
  sandbox.faults.clear()
})

type Sent = {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer | null
}

async function send(path: string, { method = 'POST', headers = HEADERS, body = null }: Sent = {}) {
  const response = await fetch(sandbox.url + path, { method, headers, body })
  const text = await response.text()
  return { status: response.status, json: text === '' ? undefined : (JSON.parse(text) as unknown) }
}

const USERS = '/s2s/v1/users'

describe('errors have one form', () => {
  it.each<[string, string, Sent, number, string]>([
    ['credentials come before the body', USERS, { headers: {}, body: 'x' }, 401, 'unauthorized'],
    ['no JSON', USERS, { body: '{"user_id":' }, 400, 'bad_request'],
    ['JSON that is no object', USERS, { body: '[]' }, 422, 'invalid'],
    ['a field that is none', USERS, { body: '{"user_id":"u","status":2,"shoe":1}' }, 422, 'invalid'],
    ['numbers as text', USERS, { body: '{"user_id":"u","status":"2"}' }, 422, 'invalid'],
    ['an id that leads to another path', USERS, { body: '{"user_id":"..","status":2}' }, 422, 'invalid'],
    ['nobody of that name', `${USERS}/nobody`, { method: 'GET' }, 404, 'not_found'],
    ['nobody, whatever the body', `${USERS}/nobody`, { method: 'PATCH', body: '{}' }, 404, 'not_found'],
    ['there is no DELETE', `${USERS}/u`, { method: 'DELETE' }, 404, 'not_found'],
    ['no such path', '/s2s/v2/users', { body: '{}' }, 404, 'not_found'],
    ['a path that cannot be decoded', `${USERS}/%zz`, { method: 'GET' }, 400, 'bad_request'],
    ['too large', USERS, { body: `"${'x'.repeat(70_000)}"` }, 413, 'too_large'],
  ])('%s', async (_name, path, sent, status, code) => {
    expect(await send(path, sent)).toMatchObject({
      status,
      json: { error: { code, message: expect.any(String) } },
    })
    expect(sandbox.users.size).toBe(0)
  })
})

describe('the journal of calls', () => {
  it('has the body as it was sent and when it came', async () => {
    const before = Date.now()
    const body = '{ "status" : 2,\n "user_id":"u1" }'
    await send('/s2s/v1/users', { body })
    const [entry] = sandbox.journal.list({ userId: 'u1' })
    expect(entry).toMatchObject({
      raw: body,
      body: { status: 2, user_id: 'u1' },
      status: 201,
      stored: true,
      faults: [],
    })
    expect(entry?.arrivedAt).toBeGreaterThanOrEqual(before)
    expect(entry?.answeredAt).toBeGreaterThanOrEqual(entry?.arrivedAt ?? Number.POSITIVE_INFINITY)
  })

  it('has no parsed body where the bytes were not UTF-8, although its text is JSON', async () => {
    await send('/s2s/v1/users', { body: Buffer.from('"\xff"', 'latin1') })
    const [entry] = sandbox.journal.list()
    expect(entry).toMatchObject({ raw: '"\ufffd"', status: 400 })
    expect(entry?.body).toBeUndefined()
  })
})

describe('stopping', () => {
  it('cuts calls that hang or wait, and frees the port', async () => {
    const other = await startSandbox({
      ...KEYS,
      faults: [
        { match: { method: 'GET' }, action: { kind: 'hang-after' } },
        { action: { kind: 'latency', minMs: 600_000, maxMs: 600_000 } },
      ],
    })
    const calls = ['GET', 'PATCH'].map((method) =>
      fetch(`${other.url}/s2s/v1/users/u`, {
        method,
        headers: HEADERS,
        body: method === 'GET' ? null : '{"status":2}',
      }).then(
        ({ status }) => status,
        () => 'cut',
      ),
    )
    await expect.poll(() => other.journal.list().length).toBe(2)
    await other.stop()
    expect(['cut', 404]).toContain((await Promise.all(calls))[1])
    expect((await Promise.all(calls))[0]).toBe('cut')
    const again = await startSandbox({ ...KEYS, port: Number(new URL(other.url).port) })
    await again.stop()
  })
})

describe('what it is started with', () => {
  it('contract and the machine’s clock are the caller’s', async () => {
    const other = await startSandbox({
      ...KEYS,
      contract: { createStatus: 200 },
      now: () => 1_000_000,
    })
    expect(other.contract.now.createStatus).toBe(200)
    expect(other.clock.now()).toBe(1_000_000)
    await fetch(other.url)
    expect(other.journal.list()).toMatchObject([{ arrivedAt: 1_000_000, answeredAt: 1_000_000 }])
    await other.stop()
  })

  it('a malformed contract is refused at once', async () => {
    await expect(startSandbox({ ...KEYS, contract: { trialMs: 0 } })).rejects.toThrow('trialMs')
  })
})
