import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { MAX_ANSWER_BYTES, makeHttp } from '../../src/service/http.ts'
import { expectCallError, makeClient } from './pair.ts'

type Raw = { readonly url: string; readonly requests: string[]; readonly sockets: Socket[] }

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

/** A server without any HTTP of its own: `onRequest` gets the socket whenever a request has come in. */
async function rawServer(onRequest: (socket: Socket, count: number) => void): Promise<Raw> {
  const requests: string[] = []
  const sockets: Socket[] = []
  const server = net.createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => socket.destroy())
    socket.on('data', (data) => {
      requests.push(data.toString())
      onRequest(socket, requests.length)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, sockets }
}

function clientOf(url: string, timeoutMs = 3000, concurrency = 10) {
  const client = makeClient({ origin: url, timeoutMs, concurrency })
  open.push(() => void client.close())
  return client
}

const answer = (head: string, body: string | Buffer = ''): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${head}\r\n\r\n`), Buffer.from(body)])
const withLength = (body: string | Buffer, head = '200 OK') =>
  answer(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}`, body)

it('a process that was suspended before its request had a socket sends nothing', async () => {
  const { url, requests } = await rawServer((socket) => void socket.write(withLength('{}')))
  let clock = 0
  const options = { origin: url, apiKey: 'key', allowPlainHttp: false, headers: {} }
  const http = makeHttp({ ...options, timeoutMs: 3000, concurrency: 1, now: () => clock })
  open.push(() => void http.close())
  // The first request comes at the start of the call; every later one finds that an hour has passed.
  const call = http.call({ method: 'PATCH', path: '/', body: {} })
  clock = 3_600_000
  await expectCallError(call, 'connect-timeout', 'no')
  expect(requests).toEqual([])
  clock = 0
  expect((await http.call({ method: 'PATCH', path: '/', body: {} })).status).toBe(200)
})

describe('where no server answers', () => {
  it('a closed port: refused, nothing sent', async () => {
    const { url } = await rawServer(() => {})
    for (const close of open.splice(0)) close()
    await expectCallError(clientOf(url).retrieveUser('u'), 'refused', 'no')
  })

  it('a name that does not exist: dns, nothing sent', async () => {
    // No resolver takes a label of more than 63 characters (RFC 1035, 2.3.4), so none is asked.
    const client = clientOf(`https://${'x'.repeat(64)}.example`)
    await expectCallError(client.retrieveUser('u'), 'dns', 'no')
  })

  it('a TLS handshake that never ends: connect-timeout, nothing sent', async () => {
    const { url, requests } = await rawServer(() => {})
    const client = clientOf(url.replace('http:', 'https:'), 200)
    await expectCallError(client.updateUser('u', { status: 0 }), 'connect-timeout', 'no')
    expect(requests.join('')).not.toContain('PATCH')
  })

  it('a server that speaks no TLS: tls, nothing sent', async () => {
    const { url } = await rawServer((socket) => void socket.end(withLength('{}')))
    await expectCallError(clientOf(url.replace('http:', 'https:')).retrieveUser('u'), 'tls', 'no')
  })
})

it.each<[string, (socket: Socket) => void]>([
  ['a head that drips', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX: ', 'y')],
  ['a body that drips', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', 'y')],
  ['informational answers without end', (socket) => drip(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n')],
])(
  'the whole call is bound: %s: timeout after the whole time, although something arrives all the while',
  async (_name, serve) => {
    const { url } = await rawServer(serve)
    const startedAt = performance.now()
    await expectCallError(clientOf(url, 250).updateUser('u', { status: 0 }), 'timeout', 'maybe')
    expect(performance.now() - startedAt).toBeLessThan(6000)
  },
)

it.each<[string, Buffer, 'connection-lost' | 'broken-response']>([
  ['the connection closed without a byte', Buffer.alloc(0), 'connection-lost'],
  ['half a head', Buffer.from('HTTP/1.1 200 OK\r\nContent-'), 'connection-lost'],
  ['less than its Content-Length', answer('200 OK\r\nContent-Length: 10', '{}'), 'connection-lost'],
  ['a chunk cut short', answer('200 OK\r\nTransfer-Encoding: chunked', '5\r\n{'), 'connection-lost'],
  ['no HTTP', Buffer.from('220 smtp.example ESMTP\r\n'), 'broken-response'],
  ['a head without end', answer(`200 OK\r\nX: ${'x'.repeat(100_000)}`), 'broken-response'],
  ['two lengths', answer('200 OK\r\nContent-Length: 2\r\nContent-Length: 3', '{} '), 'connection-lost'],
  ['an upgrade', answer('101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x'), 'connection-lost'],
])('answers that are none: %s', async (_name, bytes, kind) => {
  const { url, requests } = await rawServer((socket) => void socket.end(bytes))
  await expectCallError(clientOf(url).updateUser('u', { status: 0 }), kind, 'maybe')
  expect(requests).toHaveLength(1)
})

describe('the size of an answer', () => {
  it('a length above it is enough to stop', async () => {
    const { url, sockets } = await rawServer((socket) => {
      socket.write(answer(`200 OK\r\nContent-Length: ${MAX_ANSWER_BYTES + 1}`, '{'))
    })
    await expectCallError(clientOf(url).retrieveUser('u'), 'too-large', 'maybe')
    await expect.poll(() => sockets[0]?.destroyed).toBe(true)
  })

  it('an answer without length and without end is stopped while it is read', async () => {
    const { url, sockets } = await rawServer((socket) => {
      socket.write(answer('200 OK'))
      const block = Buffer.alloc(64 * 1024, 'x')
      const more = () => {
        while (!socket.destroyed && socket.write(block));
      }
      socket.on('drain', more)
      more()
    })
    await expectCallError(clientOf(url, 5000).retrieveUser('u'), 'too-large', 'maybe')
    await expect.poll(() => sockets[0]?.destroyed).toBe(true)
    expect(sockets[0]?.bytesWritten ?? 0).toBeLessThan(20 * MAX_ANSWER_BYTES)
  })

  it('a small answer that would unpack to a huge one is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * MAX_ANSWER_BYTES, '['))
    const { url } = await rawServer((socket) => {
      socket.write(withLength(bomb, '200 OK\r\nContent-Encoding: gzip'))
    })
    expect((await clientOf(url).retrieveUser('u')).body).toEqual({ kind: 'unreadable' })
  })
})

it('a redirect is not followed: the keys go to no other address', async () => {
  const { url, requests } = await rawServer((socket) => {
    socket.write(withLength('', '307 Temporary Redirect\r\nLocation: /elsewhere'))
  })
  expect((await clientOf(url).updateUser('u', { status: 2 })).status).toBe(307)
  expect(requests).toHaveLength(1)
})

it('Retry-After as a date is measured from the Date of the answer', async () => {
  const { url } = await rawServer((socket) => {
    const dates = 'Date: Sun, 10 May 2026 12:00:00 GMT\r\nRetry-After: Sun, 10 May 2026 12:00:07 GMT'
    // A proxy may add its own headers.
    socket.write(withLength('', `503 Service Unavailable\r\n${dates}\r\n${dates}`))
  })
  expect(await clientOf(url).retrieveUser('u')).toMatchObject({ status: 503, retryAfterMs: 7000 })
})

it('a call that is stopped while it waits for a socket is never sent', async () => {
  const { url, requests, sockets } = await rawServer((socket, count) => {
    if (count > 1) socket.write(withLength('{}'))
  })
  const client = clientOf(url, 30_000, 1)
  const running = client.retrieveUser('first')
  await expect.poll(() => requests).toHaveLength(1)
  const signal = AbortSignal.timeout(10)
  await expectCallError(client.updateUser('second', { status: 0 }, { signal }), 'aborted', 'no')
  sockets[0]?.write(withLength('{}'))
  await running
  await client.retrieveUser('third')
  expect(requests.join('')).not.toContain('second')
})

describe('a socket that is kept', () => {
  it('and was closed by the server meanwhile is not used again', async () => {
    const { url, sockets } = await rawServer((socket) => void socket.write(withLength('{}')))
    const client = clientOf(url)
    await client.retrieveUser('u')
    sockets[0]?.destroy()
    await expect.poll(async () => (await client.retrieveUser('u')).status).toBe(200)
    expect(sockets.length).toBeGreaterThan(1)
  })

  it('and dies just as it is used: connection-lost, maybe, and never sent again', async () => {
    const { url, requests } = await rawServer((socket, count) => {
      if (count === 1) socket.write(withLength('{}'))
      else socket.destroy()
    })
    const client = clientOf(url)
    await client.retrieveUser('u')
    await expectCallError(client.updateUser('u', { status: 0 }), 'connection-lost', 'maybe')
    expect(requests).toHaveLength(2)
  })
})

function drip(socket: Socket, head: string, drop: string): void {
  socket.write(head)
  const timer = setInterval(() => socket.write(drop), 20)
  socket.on('close', () => clearInterval(timer))
}
