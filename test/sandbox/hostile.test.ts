// What is sent to the sandbox is as hostile as can be: it answers, it refuses, it never breaks, and what it holds
// stays as it was.

import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PEOPLE } from '../../src/sandbox/chat/professionals.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { runs } from '../support/size.ts'
import { BODIES, hostileJson, READS, spoilt, tail } from './hostile-input.ts'
import { exchange, statusesIn } from './wire.ts'

const BODY_LIMIT = 64 * 1024
const professionalId = PEOPLE[0]?.professional_id ?? ''

let sandbox: Sandbox
let headers: Record<string, string>
let before: unknown
beforeAll(async () => {
  sandbox = await startSandbox({ apiKey: 'api', secretKey: 'secret' })
  sandbox.users.set('kept', { status: 2, email: 'kept@correo.example' })
  sandbox.users.set('u', { status: 2 })
  for (const userId of ['kept', 'u']) {
    const content = { type: 'text' as const, text: 'hello' }
    const drafts = Array.from({ length: 30 }, () => ({ from: 'professional' as const, content }))
    sandbox.conversations.add({ userId, professionalId }, drafts)
  }
  const token = await sandbox.issueToken('u')
  headers = { 'api-key': 'api', 'secret-key': 'secret', authorization: `Bearer ${token}` }
  before = held()
})
afterAll(async () => {
  await sandbox.stop()
})
afterEach(async () => {
  reset()
  expect(held()).toEqual(before)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  for (const path of READS)
    expect((await fetch(sandbox.url + path, { headers })).status, path).toBeLessThan(300)
})

/** What nobody but its owner may change. */
function held(): unknown {
  const room = sandbox.conversations.between({ userId: 'kept', professionalId })
  return structuredClone([sandbox.users.get('kept'), room])
}

/** Takes back what control endpoints were asked for in good form. */
function reset(): void {
  sandbox.faults.clear()
  sandbox.contract.set({})
  sandbox.clock.clear()
  sandbox.professionals.clear()
  sandbox.users.set('u', { status: 2 })
}

async function send(endpoint: string, body: string, contentType = 'application/json'): Promise<number> {
  const [method = '', path = ''] = endpoint.split(' ')
  const sent = { method, headers: { ...headers, 'content-type': contentType }, body }
  const response = await fetch(sandbox.url + path, sent).catch((error: unknown) => {
    // A body that is refused for its size may be cut off while it is being sent.
    if (Buffer.byteLength(body) > BODY_LIMIT) return null
    throw error
  })
  await response?.text()
  return response?.status ?? 413
}

describe('any JSON', () => {
  it.each(BODIES)('%s takes such a body', async (endpoint, sample) => {
    expect([200, 201, 404, 409]).toContain(await send(endpoint, JSON.stringify(sample)))
    // 404 and 409 are about who is there, not about the endpoint.
    sandbox.users.delete('new')
  })

  it.each(BODIES)('%s survives whatever it is sent', async (endpoint, sample) => {
    const types = fc.constantFrom(...['application/json', 'application/json', 'text/plain', 'a/b;;;='])
    await fc.assert(
      fc.asyncProperty(fc.oneof(spoilt(sample), hostileJson), types, async (body, type) => {
        expect(await send(endpoint, body, type)).toBeLessThan(500)
        reset()
      }),
      { numRuns: runs(60) },
    )
  })
})

describe('any address', () => {
  const heads = fc.constantFrom(
    ...['GET /s2s/v1/users/', 'PATCH /s2s/v1/users/', 'GET /chat/message?room=1&', 'GET /chat/message'],
    ...['GET /chat/professionals', 'GET /_sandbox/journal?after=', 'GET /_sandbox/', 'POST /_sandbox/rooms/'],
    ...['GET ', 'OPTIONS /', 'HEAD /', 'DELETE /s2s/v1/users/', 'PROPFIND /', 'CONNECT /'],
  )
  it('is answered, in its path and in its query', async () => {
    await fc.assert(
      fc.asyncProperty(heads, tail, async (head, rest) => {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
        const request = [`${head}${rest} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, 'Connection: close', '', '']
        const answer = await exchange(sandbox.url, Buffer.from(request.join('\r\n'), 'latin1'), false)
        for (const status of statusesIn(answer)) expect(status, answer).toBeLessThan(500)
        if (!head.startsWith('CONNECT')) expect(statusesIn(answer)).toHaveLength(1)
      }),
      { numRuns: runs(200), examples: [['GET /s2s/v1/users/', '#%zz']] },
    )
  })
})

describe('any bytes', () => {
  const headers =
    'Host: 127.0.0.1\r\nApi-Key: api\r\nSecret-Key: secret\r\nContent-Type: application/json\r\n'
  const post = `POST /s2s/v1/users HTTP/1.1\r\n${headers}`
  const heads = fc.constantFrom(
    ...['', `GET /s2s/v1/users/u HTTP/1.1\r\n${headers}`, `${post}Content-Length: 20\r\n\r\n{"user_id":"n"`],
    ...[`${post}Content-Length: -1\r\n\r\n`, `${post}Transfer-Encoding: chunked\r\n\r\n5\r\n{"user_id"`],
    ...['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\x16\x03\x01\x02', 'GET /\r\n', 'GET / HTTP/9.9\r\n\r\n'],
  )
  const rest = fc.constantFrom('\r\n', '\r\n\r\n', '\n\n', '\0', ':', '0\r\n\r\n', 'ffffffffffffffff\r\n')
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), rest.map(Buffer.from))

  it('are answered with a refusal or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(heads, fc.array(bytes, { maxLength: 4 }), async (head, more) => {
        const answer = await exchange(sandbox.url, Buffer.concat([Buffer.from(head, 'latin1'), ...more]))
        for (const status of statusesIn(answer)) expect(status, answer).toBeLessThan(500)
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('any header', () => {
  it.each(['Host', 'Origin', 'Sandbox-Token', 'Content-Type', 'Accept', 'Range'])(
    '%s may hold anything',
    async (name) => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary-ascii', maxLength: 40 }), async (any) => {
          const value = any.replace(/[\r\n]/g, '')
          const head = `GET /_sandbox/users HTTP/1.1\r\n${name === 'Host' ? '' : 'Host: 127.0.0.1\r\n'}`
          const answer = await exchange(sandbox.url, `${head}${name}: ${value}\r\nConnection: close\r\n\r\n`)
          expect(statusesIn(answer)).toEqual([expect.toSatisfy((status: number) => status < 500)])
        }),
        { numRuns: runs(40) },
      )
    },
  )
})
