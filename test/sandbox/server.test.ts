import { beforeEach, describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { HEADERS, KEYS, sandboxOfFile, talk } from './talk.ts'

const sandbox = sandboxOfFile()
beforeEach(() => {
  sandbox.users.clear()
  sandbox.journal.clear()
  sandbox.faults.clear()
})

type Sent = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string }
const send = (path: string, { method = 'POST', headers = HEADERS, body }: Sent) =>
  talk(sandbox, `${method} ${path}`, { headers, body })

const USERS = '/s2s/v1/users'

describe('errors have one form', () => {
  it.each<[string, string, Sent, number, string]>([
    ['credentials come before the body', USERS, { headers: {}, body: 'x' }, 401, 'unauthorized'],
    ['no JSON', USERS, { body: '{"user_id":' }, 400, 'bad_request'],
    ['JSON that is no object', USERS, { body: '[]' }, 422, 'invalid'],
    ['a field that is none', USERS, { body: '{"user_id":"u","status":2,"shoe":1}' }, 422, 'invalid'],
    ['an id that leads to another path', USERS, { body: '{"user_id":"..","status":2}' }, 422, 'invalid'],
    ['nobody, whatever the body', `${USERS}/nobody`, { method: 'PATCH', body: '{}' }, 404, 'not_found'],
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

  it('every wrong field is named, and none is repeated', async () => {
    const body = '{"user_id":"u","status":2,"email":"not-an-address","gender":7}'
    const { json } = await send(USERS, { body })
    expect(json).toMatchObject({
      error: { fields: { email: 'an e-mail address', gender: expect.any(String) } },
    })
    expect(JSON.stringify(json)).not.toContain('not-an-address')
  })
})

it('stopping cuts calls that hang or wait, and frees the port', async () => {
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
