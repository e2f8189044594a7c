import { once } from 'node:events'
import net from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseFault } from '../../src/sandbox/faults/faults.ts'
import { retryAfterHeader } from '../../src/sandbox/faults/strike.ts'
import { startServing } from './serving.ts'
import { sandboxOfTest } from './talk.ts'

async function start(...faults: readonly string[]) {
  const serving = await startServing(faults)
  onTestFinished(serving.stop)
  return serving
}

describe('which calls are struck', () => {
  it.each([
    ['/chat/professionals 503', '/chat/professionals', 503],
    ['/chat/professionals 503', '/chat/professionals?x=/chat', 503],
    ['/chat/professionals 503', '/chat/message?room=/chat/professionals', 200],
    ['/s2s/v1/users/ab 503', '/s2s/v1/users/%61%62%63?x=%zz', 503],
    ['/s2s/v1/users/ab 503', '/s2s/v1/users/a', 200],
    ['/ 503', '/', 503],
  ])('%s: %s gets %i', async (fault, path, status) => {
    const { url } = await start(fault)
    expect((await fetch(url + path)).status).toBe(status)
  })

  it('chat calls by the user of their token, and the journal says whose they were', async () => {
    const sandbox = await sandboxOfTest()
    const chat = async (id: string) => {
      sandbox.users.set(id, { status: 2 })
      const headers = { 'api-key': 'api', authorization: `Bearer ${await sandbox.issueToken(id)}` }
      return (await fetch(`${sandbox.url}/chat/professionals`, { headers })).status
    }
    sandbox.faults.set([parseFault('GET 503 user=u1')])
    expect([await chat('u1'), await chat('u2')]).toEqual([503, 200])
    expect(sandbox.journal.list()).toMatchObject([
      { userId: 'u1', faults: ['status'], status: 503 },
      { userId: 'u2', faults: [], status: 200 },
    ])
  })
})

describe('a slow body', () => {
  it('has status, length and first byte long before its end', async () => {
    const { url, done } = await start('slow-body=10m')
    const response = await fetch(url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('content-length')).toBe('17')
    expect(done.times).toBe(1)
    const body = response.body?.getReader()
    expect(await body?.read()).toEqual({ done: false, value: Uint8Array.from(Buffer.from('{')) })
    await body?.cancel()
  })

  it('comes in the end, all of it, after a latency', async () => {
    const { url, notes, done, goOn } = await start('latency=10m', 'slow-body=60')
    const answer = fetch(url)
    await expect.poll(() => notes).toMatchObject([{ faults: ['latency', 'slow-body'] }])
    expect(done.times).toBe(0)
    goOn()
    expect(await (await answer).text()).toBe('{"hello":"there"}')
    expect(done.times).toBe(1)
  })
})

const codeOf = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    (error: { cause?: { code?: string } }) => error.cause?.code,
  )
const CUT = /UND_ERR_SOCKET|ECONNRESET/

async function listenOn(port: number): Promise<net.Server> {
  const other = net.createServer((socket) => socket.destroy())
  other.listen(port, '127.0.0.1')
  await once(other, 'listening')
  return other
}

describe('the fault refuse', () => {
  it('cuts the call that it strikes, which is not carried out, and the next find nobody', async () => {
    const { url, done, notes } = await start('refuse=10m times=1')
    expect(await codeOf(url)).toMatch(CUT)
    expect(await codeOf(url)).toBe('ECONNREFUSED')
    expect(done.times).toBe(0)
    expect(notes).toHaveLength(1)
  })

  it('is over after its time, and then all is as before', async () => {
    const { url, live, done } = await start('refuse=20ms times=1')
    expect(await codeOf(url)).toMatch(CUT)
    await expect.poll(() => codeOf(url)).toBe(200)
    expect(live.list()).toMatchObject([{ struck: 1, spent: true }])
    expect(done.times).toBe(1)
  })

  it('cuts other calls that are under way, carried out or not', async () => {
    const { url, done } = await start('/hang hang-after', '/out refuse=100ms')
    const hanging = codeOf(`${url}/hang`)
    await expect.poll(() => done.times).toBe(1)
    await codeOf(`${url}/out`)
    expect(await hanging).toMatch(CUT)
  })

  it('ends at once with the sandbox, and leaves the port free', async () => {
    const { url, stop, port } = await start('refuse=10m')
    await codeOf(url)
    await stop()
    const other = await listenOn(port)
    other.close()
    await once(other, 'close')
    expect(await codeOf(url)).toBe('ECONNREFUSED')
  })
})

it('a date of Retry-After is never too early: it is rounded up to the second', () => {
  for (const now of [1001, 1500, 1999, 2000]) {
    expect(Date.parse(retryAfterHeader({ form: 'date', seconds: 2 }, now))).toBe(4000)
  }
})
