import net from 'node:net'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { json, type SandboxAnswer } from '../../src/sandbox/answer.ts'
import { retryAfterHeader } from '../../src/sandbox/faults/strike.ts'
import { parseFault } from '../../src/sandbox/faults/text.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { countTimers } from '../support/timers.ts'
import { startServing } from './serving.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})

async function start(...parts: Parameters<typeof startServing>) {
  const serving = await startServing(...parts)
  cleanups.push(serving.stop)
  return serving
}

describe('which calls are struck', () => {
  it.each([
    ['/chat/professionals 503', '/chat/professionals', 503],
    ['/chat/professionals 503', '/chat/professionals?x=/chat', 503],
    ['/chat/professionals 503', '/chat/message?room=/chat/professionals', 200],
    ['/s2s/v1/users/a%20b 503', '/s2s/v1/users/a%20b', 503],
    ['/s2s/v1/users/a%20b 503', '/s2s/v1/users/%61%20%62%63', 503],
    ['/s2s/v1/users/a%20b 503', '/s2s/v1/users/a%20b?x=%zz', 503],
    ['/s2s/v1/users/a%20b 503', '/s2s/v1/users/a', 200],
    ['/chat/message%3Froom 503', '/chat/message?room=1', 200],
    ['/ 503', '/', 503],
  ])('%s: %s gets %i', async (fault, path, status) => {
    const { url } = await start([fault])
    expect((await fetch(url + path)).status).toBe(status)
  })

  it('by user: the one whom the group names', async () => {
    const { url } = await start(['user=u1 503'])
    expect((await fetch(url, { headers: { 'x-user': 'u1' } })).status).toBe(503)
    expect((await fetch(url, { headers: { 'x-user': 'u2' } })).status).toBe(200)
  })
})

describe('a slow body', () => {
  it('has status, length and first byte long before its end', async () => {
    const { url, done } = await start(['slow-body=10m'])
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('content-length')).toBe('17')
    expect(done.times).toBe(1)
    const body = response.body?.getReader()
    expect(await body?.read()).toEqual({ done: false, value: Uint8Array.from(Buffer.from('{')) })
    await body?.cancel()
  })

  it('comes in the end, all of it', async () => {
    const { url, done } = await start(['slow-body=100ms'])
    expect(await (await fetch(url)).text()).toBe('{"hello":"there"}')
    expect(done.times).toBe(1)
  })

  it('comes after a latency', async () => {
    const { url, notes, done, goOn } = await start(['latency=10m', 'slow-body=60'])
    const answer = fetch(url)
    await expect.poll(() => notes).toMatchObject([{ faults: ['latency', 'slow-body'] }])
    expect(done.times).toBe(0)
    goOn()
    expect(await (await answer).json()).toEqual({ hello: 'there' })
  })

  it('is that of a refusal as well', async () => {
    const { url } = await start(['slow-body=60'])
    const response = await fetch(url, { headers: { 'x-bad': 'yes' } })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } })
  })

  it.each<[string, SandboxAnswer, number, string, string]>([
    ['none', { status: 204, body: { kind: 'none' }, stored: true }, 600_000, '', ''],
    [
      'HTML',
      { status: 400, body: { kind: 'html', title: 'ñ' }, stored: false },
      60,
      'text/html',
      'ñ</title>',
    ],
    ['null', json(200, null), 60, 'application/json; charset=utf-8', 'null'],
  ])('a body that is %s', async (_name, answer, durationMs, type, end) => {
    const { url } = await start([{ action: { kind: 'slow-body', durationMs } }], answer)
    const response = await fetch(url)
    expect(response.status).toBe(answer.status)
    expect(response.headers.get('content-type') ?? '').toContain(type)
    expect((await response.text()).endsWith(end)).toBe(true)
  })

  it('ends with its caller, and with the sandbox', async () => {
    const { url, stop } = await start(['slow-body=10m'])
    using timers = countTimers()
    const leaving = new AbortController()
    const left = await Promise.all(Array.from({ length: 60 }, () => fetch(url, { signal: leaving.signal })))
    await expect.poll(timers.count).toBeGreaterThanOrEqual(60)
    leaving.abort()
    await Promise.all(left.map((response) => expect(response.text()).rejects.toThrow()))
    await expect.poll(timers.count).toBeLessThan(30)
    const stayed = await Promise.all(Array.from({ length: 60 }, () => fetch(url)))
    await expect.poll(timers.count).toBeGreaterThanOrEqual(60)
    await stop()
    await Promise.all(stayed.map((response) => expect(response.text()).rejects.toThrow()))
    await expect.poll(timers.count).toBeLessThan(30)
  })

  it('for callers who have gone before it begins: carried out, and nothing leaks', async () => {
    const { port, server, done, notes, goOn } = await start(['latency=10m', 'slow-body=10m'])
    using timers = countTimers()
    const sockets = Array.from({ length: 60 }, () => net.connect(port, '127.0.0.1'))
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await expect.poll(() => notes.length).toBe(60)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => promisify(server.getConnections).call(server)).toBe(0)
    goOn()
    await expect.poll(() => done.times).toBe(60)
    await expect.poll(timers.count).toBeLessThan(30)
  })
})

describe('in the sandbox', () => {
  const KEYS = { apiKey: 'api', secretKey: 'secret' }

  async function startHeld() {
    const sandbox = await startSandbox(KEYS)
    cleanups.push(() => sandbox.stop())
    const users: Record<string, Record<string, string>> = {}
    for (const id of ['u1', 'u2']) {
      sandbox.users.set(id, { status: 2 })
      users[id] = { 'api-key': 'api', authorization: `Bearer ${await sandbox.issueToken(id)}` }
    }
    const chat = async (id: string, path = '/chat/professionals') =>
      (await fetch(sandbox.url + path, { headers: users[id] ?? {} })).status
    return { sandbox, chat }
  }

  it('chat calls are struck by the user of their token, and the journal says whose they were', async () => {
    const { sandbox, chat } = await startHeld()
    sandbox.faults.set([parseFault('GET 503 user=u1')])
    expect([await chat('u1'), await chat('u2')]).toEqual([503, 200])
    expect(sandbox.journal.list()).toMatchObject([
      { userId: 'u1', faults: ['status'], status: 503 },
      { userId: 'u2', faults: [], status: 200 },
    ])
  })

  it('one endpoint can be struck and the others not', async () => {
    const { sandbox, chat } = await startHeld()
    sandbox.faults.set([parseFault('/chat/professionals 503')])
    expect([await chat('u1'), await chat('u1', '/chat/message')]).toEqual([503, 400])
    const headers = { 'api-key': 'api', 'secret-key': 'secret' }
    expect((await fetch(`${sandbox.url}/s2s/v1/users/u1`, { headers })).status).toBe(200)
  })

  it('every fault can be asked for at the control endpoint, as an object or as text', async () => {
    const { sandbox } = await startHeld()
    const texts = [
      ...[
        'latency=5..10',
        'PATCH 503 rate=0.3',
        '429 retry-after=2',
        '503 retry-after=date:2',
        'drop-before',
      ],
      ...[
        'drop-after',
        'hang-after',
        '/chat slow-body=2s',
        '502 html',
        'error-200',
        'down for=30s',
        'refuse=1s',
      ],
    ]
    const put = async (list: readonly unknown[]) => {
      const sent = { method: 'PUT', body: JSON.stringify(list) }
      const response = await fetch(`${sandbox.url}/_sandbox/faults`, sent)
      return { status: response.status, json: (await response.json()) as { faults: object[] } }
    }
    const byText = await put(texts)
    expect(byText.status).toBe(200)
    expect(byText.json.faults).toHaveLength(texts.length)
    const byObject = await put(texts.map(parseFault))
    expect(byObject.json).toEqual(byText.json)
  })
})

it('a date of Retry-After is never too early: it is rounded up to the second', () => {
  for (const now of [1001, 1500, 1999, 2000]) {
    expect(Date.parse(retryAfterHeader({ form: 'date', seconds: 2 }, now))).toBe(4000)
  }
})
