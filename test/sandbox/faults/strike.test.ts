import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { drip, refuseFor } from '../../../src/sandbox/faults/strike.ts'
import { runs } from '../../support/size.ts'
import { countTimers } from '../../support/timers.ts'
import { startServing } from '../serving.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})

/** What a caller gets: a status, or the code of the error. */
const codeOf = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    (error: { cause?: { code?: string } }) => error.cause?.code,
  )
const CUT = /UND_ERR_SOCKET|ECONNRESET/

describe('the fault refuse', () => {
  async function start(...parts: Parameters<typeof startServing>) {
    const serving = await startServing(...parts)
    cleanups.push(serving.stop)
    return serving
  }

  it('cuts the call that it strikes, which is not carried out, and the next find nobody', async () => {
    const { url, done, notes } = await start(['refuse=10m times=1'])
    expect(await codeOf(url)).toMatch(CUT)
    expect(await codeOf(url)).toBe('ECONNREFUSED')
    expect(await codeOf(url)).toBe('ECONNREFUSED')
    expect(done.times).toBe(0)
    expect(notes).toHaveLength(1)
  })

  it('is over after its time, and then all is as before', async () => {
    const { url, live, done } = await start(['refuse=20ms times=1'])
    expect(await codeOf(url)).toMatch(CUT)
    await expect.poll(() => codeOf(url)).toBe(200)
    expect(live.list()).toMatchObject([{ struck: 1, spent: true }])
    expect(done.times).toBe(1)
  })

  it('cuts other calls that are under way, carried out or not', async () => {
    const { url, done } = await start(['/hang hang-after', '/out refuse=100ms'])
    const hanging = codeOf(`${url}/hang`)
    await expect.poll(() => done.times).toBe(1)
    await codeOf(`${url}/out`)
    expect(await hanging).toMatch(CUT)
  })

  it('ends at once with the sandbox, and leaves the port free', async () => {
    const { url, stop, port } = await start(['refuse=10m'])
    await codeOf(url)
    await stop()
    const other = net.createServer()
    other.listen(port, '127.0.0.1')
    await once(other, 'listening')
    other.close()
    await once(other, 'close')
    expect(await codeOf(url)).toBe('ECONNREFUSED')
  })
})

describe('nobody there', () => {
  async function listen() {
    const server = http.createServer((_request, response) => void response.end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    const { port } = server.address() as AddressInfo
    return { server, port, url: `http://127.0.0.1:${port}` }
  }

  /** Time that passes when the test says so. */
  function makeTime() {
    const waits: (() => void)[] = []
    const wait = () => new Promise<void>((resolve) => void waits.push(resolve))
    /** Waits are numbered from 0. */
    const begun = (number: number) => expect.poll(() => waits.length).toBeGreaterThan(number)
    const pass = async (number: number) => {
      await begun(number)
      waits[number]?.()
    }
    return { wait, begun, pass }
  }

  const stopping = new AbortController().signal

  it('two at a time are one, and it can happen again', async () => {
    const { server, url } = await listen()
    for (let round = 0; round < 3; round += 1) {
      expect(await codeOf(url)).toBe(200)
      const { wait, pass } = makeTime()
      const first = refuseFor(server, { durationMs: 1, stopping, wait })
      await refuseFor(server, { durationMs: 1, stopping, wait })
      expect(await codeOf(url)).toBe('ECONNREFUSED')
      await pass(0)
      await first
    }
    expect(await codeOf(url)).toBe(200)
  })

  it('a port that somebody took meanwhile is tried until it is free', async () => {
    const { server, url, port } = await listen()
    const { wait, begun, pass } = makeTime()
    const outage = refuseFor(server, { durationMs: 1, stopping, wait })
    const other = net.createServer((socket) => socket.destroy())
    other.listen(port, '127.0.0.1')
    await once(other, 'listening')
    // Each wait but the first comes after an attempt that failed.
    for (const number of [0, 1]) await pass(number)
    await begun(2)
    other.close()
    await once(other, 'close')
    await pass(2)
    await outage
    expect(await codeOf(url)).toBe(200)
  })
})

async function collect(...sent: Parameters<typeof drip>): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  for await (const piece of drip(...sent)) pieces.push(piece as Buffer)
  return pieces
}

describe('a body that drips', () => {
  it('is the same bytes in at least two pieces, whatever it is and however long it takes', async () => {
    const bytes = fc.uint8Array({ minLength: 2, maxLength: 300 })
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 0, max: 30 }), async (any, durationMs) => {
        const pieces = await collect(Buffer.from(any), durationMs)
        expect(Buffer.concat(pieces)).toEqual(Buffer.from(any))
        expect(pieces.length).toBeGreaterThanOrEqual(2)
      }),
      { numRuns: runs(40) },
    )
  })

  it('waits for no piece that is late', async () => {
    let now = 0
    const clock = () => {
      now += 60_000
      return now
    }
    // In time, every one of them would be waited for longer than the test may take.
    expect(await collect(Buffer.alloc(30, 'x'), 600_000, clock)).toHaveLength(30)
  })

  it.each([0, 1])('ends when there is no second piece to wait for: %i bytes', async (length) => {
    expect(Buffer.concat(await collect(Buffer.alloc(length, 'x'), 600_000))).toHaveLength(length)
  })

  it('leaves no timer when it is destroyed in the middle', async () => {
    using timers = countTimers()
    const streams = Array.from({ length: 100 }, () => drip(Buffer.alloc(10, 'x'), 600_000))
    await Promise.all(streams.map((stream) => once(stream, 'data')))
    expect(timers.count()).toBeGreaterThanOrEqual(100)
    for (const stream of streams) stream.destroy()
    await expect.poll(timers.count).toBeLessThan(50)
  })
})
