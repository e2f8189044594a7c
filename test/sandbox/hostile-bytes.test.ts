// Connections that do not behave: bodies that lie about their length or stop, requests in a heap, connections that
// say nothing or hardly anything.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { runs } from '../support/size.ts'
import { collect, connect, exchange, statusesIn } from './wire.ts'

const KEYS = { apiKey: 'api', secretKey: 'secret' }
const HEAD =
  'Host: 127.0.0.1\r\nApi-Key: api\r\nSecret-Key: secret\r\nContent-Type: application/json\r\nAccept: application/json\r\n'
const BODY = '{"user_id":"new","status":2}'
const GET = `GET /s2s/v1/users/kept HTTP/1.1\r\n${HEAD}\r\n`
const create = (lines: string, body: string) => `POST /s2s/v1/users HTTP/1.1\r\n${HEAD}${lines}\r\n${body}`
const CHUNKED = create('Transfer-Encoding: chunked\r\n', '')
const withLength = (length: number, body = BODY) => create(`Content-Length: ${length}\r\n`, body)

let sandbox: Sandbox
const sockets: Socket[] = []
beforeAll(async () => {
  sandbox = await startSandbox(KEYS)
})
afterAll(async () => {
  await sandbox.stop()
})
beforeEach(() => {
  sandbox.users.clear()
  sandbox.journal.clear()
  sandbox.users.set('kept', { status: 2 })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  expect(await answered()).toBe(200)
  expect(sandbox.users.get('kept')?.status).toBe(2)
})

/** A call that has nothing to do with the others. */
async function answered(): Promise<number> {
  const headers = { 'api-key': 'api', 'secret-key': 'secret' }
  return (await fetch(`${sandbox.url}/s2s/v1/users/kept`, { headers })).status
}

async function open(bytes: string): Promise<{ socket: Socket; answer: () => string }> {
  const socket = await connect(sandbox.url)
  sockets.push(socket)
  const answer = collect(socket)
  socket.write(bytes)
  return { socket, answer }
}

describe('any bytes', () => {
  const start = fc.constantFrom(
    ...['', GET, GET.slice(0, -2), GET.slice(0, 40), withLength(20, ''), withLength(9), CHUNKED],
    ...['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'GET /\r\n'],
    ...['GET / HTTP/9.9\r\n\r\n', `PUT http://evil/s2s/v1/users/kept HTTP/1.1\r\n${HEAD}`, '\r\n\r\n\r\n'],
    ...['CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n', 'GET /_sandbox/users HTTP/1.0\r\n\r\n'],
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .constantFrom('\r\n', '\r\n\r\n', '\n\n', '\0', ' ', ':', '0\r\n\r\n', 'ffffffffffffffff\r\n', GET)
      .map(Buffer.from),
  )

  it('are answered with a refusal or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(start, fc.array(bytes, { maxLength: 4 }), async (head, rest) => {
        const answer = await exchange(sandbox.url, Buffer.concat([Buffer.from(head, 'latin1'), ...rest]))
        for (const status of statusesIn(answer)) expect(status, answer).toBeLessThan(500)
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('bodies that lie', () => {
  it.each([
    ['less than its length, and then nothing', withLength(BODY.length + 1)],
    ['less than its length, cut in the middle', withLength(BODY.length, BODY.slice(0, 10))],
    ['chunks that stop in the middle', `${CHUNKED}1c\r\n${BODY.slice(0, 10)}`],
    ['chunks without an end', `${CHUNKED}1c\r\n${BODY}\r\n`],
    ['a chunk of another length', `${CHUNKED}5\r\n${BODY}\r\n0\r\n\r\n`],
    ['a chunk of no length', `${CHUNKED}zz\r\n${BODY}\r\n0\r\n\r\n`],
    [
      'chunks and a length',
      create('Content-Length: 28\r\nTransfer-Encoding: chunked\r\n', `1c\r\n${BODY}\r\n0\r\n\r\n`),
    ],
    ['two lengths', create(`Content-Length: 28\r\nContent-Length: 2\r\n`, BODY)],
    ['a negative length', withLength(-1)],
  ])('%s: nothing is stored', async (_name, bytes) => {
    const answer = await exchange(sandbox.url, bytes)
    for (const status of statusesIn(answer)) expect([400, 413]).toContain(status)
    expect(sandbox.users.get('new')).toBeUndefined()
    expect(sandbox.journal.list().some(({ stored }) => stored)).toBe(false)
  })

  it('more than its length: the rest is no part of it, and no request', async () => {
    const answer = await exchange(sandbox.url, withLength(BODY.length, `${BODY}garbage\r\n\r\n`), false)
    expect(statusesIn(answer)).toContain(400)
    expect(sandbox.journal.list()).toMatchObject([{ raw: BODY }])
  })

  it('a length beyond the limit is refused before the body is sent', async () => {
    const { answer } = await open(withLength(10_000_000_000, ''))
    await expect.poll(() => statusesIn(answer())).toEqual([413])
  })
})

it('nothing after a broken request is carried out', async () => {
  const answer = await exchange(sandbox.url, `${GET}NONSENSE\r\n\r\n${withLength(BODY.length)}`, false)
  expect(statusesIn(answer)).toContain(400)
  expect(sandbox.users.get('new')).toBeUndefined()
})

describe('connections that hold on', () => {
  it('callers who never read what they asked for fill no memory', async () => {
    // The socket is never resumed: answers pile up in the two kernels, and then the sandbox has to stop reading.
    const socket = await connect(sandbox.url)
    sockets.push(socket)
    socket.pause()
    sandbox.journal.clear()
    const heap = GET.repeat(1000)
    let sent = 0
    while (sent < 200 && socket.write(heap)) sent += 1
    for (; sent < 200 && (await drained(socket)); sent += 1) socket.write(heap)
    expect(sandbox.journal.list().length).toBeLessThan(100_000)
  })
})

/** Whether the other side took what it was sent, within a while. */
async function drained(socket: Socket): Promise<boolean> {
  return Promise.race([
    once(socket, 'drain').then(() => true),
    new Promise<false>((resolve) => setTimeout(() => resolve(false), 500)),
  ])
}
