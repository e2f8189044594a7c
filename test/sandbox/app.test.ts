// What is no request is refused in the form of all errors, after what came before it on its connection.
import { once } from 'node:events'
import http from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeApp, makeMalformed, refusalOf } from '../../src/sandbox/app.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { KEYS } from './talk.ts'
import { collect, connect, exchange, statusesIn } from './wire.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox(KEYS)
})
afterAll(() => sandbox.stop())
afterEach(() => {
  sandbox.faults.clear()
  sandbox.users.clear()
})

const HEAD = 'Host: x\r\nApi-Key: api\r\nSecret-Key: secret\r\nContent-Type: application/json\r\n'
const GET = `GET /s2s/v1/users/u HTTP/1.1\r\n${HEAD}\r\n`
const CHUNKED = `POST /s2s/v1/users HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`

/** The last answer: its body, and whether its head says what is so. */
function lastOf(answer: string) {
  const [, status = '', head = '', body = ''] =
    /^HTTP\/1\.1 (\d{3})[^\r]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(
      answer.slice(answer.lastIndexOf('HTTP/1.1 ')),
    ) ?? []
  return {
    status: Number(status),
    json: JSON.parse(body) as unknown,
    typed: /^content-type: application\/json; charset=utf-8$/im.test(head),
    closes: /^connection: close$/im.test(head),
    length: Number(/^content-length: (\d+)$/im.exec(head)?.[1]) === Buffer.byteLength(body),
  }
}

function urlOf(server: http.Server): string {
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

const refused = (status: number, code: string, message: string) => ({
  status,
  json: { error: { code, message, fields: {} } },
  typed: true,
  closes: true,
  length: true,
})
const UNREADABLE = refused(400, 'bad_request', 'The request cannot be read.')

describe('what is no request', () => {
  it.each([
    ['no HTTP', 'NONSENSE\r\n\r\n', UNREADABLE],
    ['the beginning of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', UNREADABLE],
    ['a method that there is not', GET.replace('GET', 'GOT'), UNREADABLE],
    ['two lengths', GET.replace(HEAD, `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n`), UNREADABLE],
    [
      'a head without Host',
      GET.replace('Host: x', 'Connection: close'),
      refused(400, 'bad_request', 'The header Host is missing.'),
    ],
    ['a chunk of no length', `${CHUNKED}zz\r\n`, UNREADABLE],
    [
      'a head beyond all bounds',
      GET.replace(HEAD, `${HEAD}X: ${'x'.repeat(20_000)}\r\n`),
      refused(431, 'too_large', 'The head of the request is too large.'),
    ],
    [
      'chunks with endless extensions',
      `${CHUNKED}1;${'x'.repeat(20_000)}`,
      refused(413, 'too_large', 'The body is too large.'),
    ],
  ])('%s', async (_name, bytes, expected) => {
    const answer = await exchange(sandbox.url, Buffer.from(bytes, 'latin1'), false)
    expect(statusesIn(answer)).toEqual([expected.status])
    expect(lastOf(answer)).toEqual(expected)
  })

  it('is refused once, whatever comes after it', async () => {
    const socket = await connect(sandbox.url)
    const answer = collect(socket)
    // Unanswered, so that the connection stays open and more of it is read.
    sandbox.faults.set([{ action: { kind: 'latency', minMs: 50, maxMs: 50 } }])
    for (const bytes of [GET, 'NONSENSE\r\n\r\n', 'NONSENSE\r\n\r\n', GET]) {
      socket.write(bytes)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await once(socket, 'close')
    expect(statusesIn(answer())).toEqual([404, 400])
  })

  it('gathers nothing up behind a call that hangs, however much of it comes', async () => {
    const malformed = makeMalformed()
    const hanging: http.ServerResponse[] = []
    let errors = 0
    const server = http.createServer((_request, response) => void hanging.push(response))
    server.on('request', malformed.onRequest).on('clientError', malformed.onClientError)
    server.on('clientError', () => {
      errors += 1
    })
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const socket = await connect(urlOf(server))
    onTestFinished(() => void socket.destroy())
    socket.write(GET)
    await expect.poll(() => hanging.length).toBe(1)
    const listeners = () => hanging[0]?.listenerCount('close') ?? 0
    const before = listeners()
    for (let round = 1; round <= 5; round += 1) {
      socket.write('NONSENSE\r\n\r\n')
      await expect.poll(() => errors).toBe(round)
    }
    expect(listeners()).toBe(before + 1)
  })

  it('that never comes to its end is refused when the time is over', async () => {
    // As in the sandbox, with less patience.
    const malformed = makeMalformed()
    const server = http.createServer({
      requestTimeout: 50,
      headersTimeout: 50,
      connectionsCheckingInterval: 10,
    })
    server.on('request', malformed.onRequest).on('clientError', malformed.onClientError)
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = urlOf(server)
    const late = refused(408, 'bad_request', 'The request did not arrive in time.')
    expect(lastOf(await exchange(url, GET.slice(0, 40), false)), 'a head').toEqual(late)
    expect(lastOf(await exchange(url, `${CHUNKED}1c\r\n{`, false)), 'a body').toEqual(late)
  })

  it('is not waited for without end by the sandbox either', async () => {
    const app = makeApp()
    expect(app.server.requestTimeout).toBe(60_000)
    await app.close()
  })

  it('is refused in some way whatever Node says of it', () => {
    for (const code of [undefined, '', 'HPE_INVALID_METHOD', 'ERR_HTTP_REQUEST_TIMEOUT', 'constructor']) {
      expect(refusalOf(code).status).toBeLessThan(500)
    }
  })
})

describe('calls that came whole before it', () => {
  const create = (userId: string) => {
    const body = JSON.stringify({ user_id: userId, status: 2 })
    return `POST /s2s/v1/users HTTP/1.1\r\n${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`
  }

  it('are carried out and answered first, however long that takes', async () => {
    sandbox.faults.set([
      { action: { kind: 'latency', minMs: 20, maxMs: 40 } },
      { match: { userId: 'b' }, action: { kind: 'slow-body', durationMs: 60 } },
    ])
    const answer = await exchange(sandbox.url, `${create('a')}${create('b')}NONSENSE\r\n\r\n`, false)
    expect(statusesIn(answer)).toEqual([201, 201, 400])
    expect([...answer.matchAll(/"user_id":"(\w)"/g)].map(([, id]) => id)).toEqual(['a', 'b'])
    expect(lastOf(answer)).toEqual(UNREADABLE)
    expect(sandbox.users.size).toBe(2)
  })

  it('are not waited for when they are cut', async () => {
    sandbox.faults.set([{ action: { kind: 'drop-after' } }])
    expect(await exchange(sandbox.url, `${create('a')}NONSENSE\r\n\r\n`, false)).toBe('')
    expect(sandbox.users.size).toBe(1)
  })
})
