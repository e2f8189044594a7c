import { connect } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { explain, RollcallError } from '../../src/model/errors.ts'
import type { Health, Readiness } from '../../src/ops/health.ts'
import { type OpsOptions, opsAddress, startOps } from '../../src/ops/server.ts'

const WELL: Health = { ok: true, stuck: [] }
const READY: Readiness = { ready: true, missing: [] }

type Ops = Awaited<ReturnType<typeof startOps>>
type Listening = Ops & AsyncDisposable & { readonly lines: readonly Record<string, unknown>[] }

async function listen(options: Partial<OpsOptions> = {}): Promise<Listening> {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  const ops = await startOps({
    host: '127.0.0.1',
    port: 0,
    health: () => WELL,
    readiness: async () => READY,
    metrics: async () => 'rollcall_x 1\n',
    log,
    ...options,
  })
  return { ...ops, lines, [Symbol.asyncDispose]: ops.close }
}

/** Sends bytes that no HTTP client would send. */
async function talk({ url }: Ops, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => socket.destroy())
  socket.write(bytes)
  return readAll(socket).catch(() => '')
}

test('answers 200 while all is well, and 503 with what is wrong; metrics are Prometheus text', async () => {
  let [health, ready] = [WELL, READY]
  await using ops = await listen({ health: () => health, readiness: async () => ready })
  const ask = async (path: string) => {
    const answer = await fetch(ops.url + path)
    return [answer.status, await answer.json()]
  }
  expect([await ask('/healthz'), await ask('/readyz')]).toEqual([
    [200, WELL],
    [200, READY],
  ])
  health = { ok: false, stuck: [{ loop: 'dispatch', silentSeconds: 75 }] }
  ready = { ready: false, missing: [{ part: 'queue', what: 'it does not answer' }] }
  expect([await ask('/healthz'), await ask('/readyz')]).toEqual([
    [503, health],
    [503, ready],
  ])
  const metrics = await fetch(`${ops.url}/metrics`)
  expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await metrics.text()).toBe('rollcall_x 1\n')
})

test('has no other route, and repeats nothing of what was asked', async () => {
  await using ops = await listen()
  const asked = [
    'GET /',
    'GET /metrics/secreto',
    'POST /metrics',
    'DELETE /healthz?secreto',
    'OPTIONS /readyz',
  ]
  for (const [method = '', path] of asked.map((line) => line.split(' '))) {
    const answer = await fetch(ops.url + path, { method, ...(method === 'POST' ? { body: 'secreto' } : {}) })
    expect([answer.status, (await answer.text()).includes('secreto')], path).toEqual([404, false])
  }
  const unreadable = await fetch(`${ops.url}/%zz-secreto`)
  expect(unreadable.status).toBe(400)
  expect(await unreadable.text()).not.toContain('secreto')
})

test('an answer that fails says nothing of why', async () => {
  const metrics = async () => {
    throw new Error('password secreto')
  }
  await using ops = await listen({ metrics })
  const answer = await fetch(`${ops.url}/metrics`)
  expect(answer.status).toBe(500)
  expect((await answer.text()) + JSON.stringify(ops.lines)).not.toMatch(/secreto|at .*\.ts/)
})

test('a client that asks for long, or slowly, is cut off', async () => {
  await using ops = await listen()
  const [large, slow] = await Promise.all([
    talk(ops, `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    talk(ops, 'GET /healthz HTTP/1.1\r\nHost: a\r\n'),
  ])
  expect(large).toMatch(/^HTTP\/1.1 431 /)
  expect(slow).toMatch(/^HTTP\/1.1 408 /)
})

test('closes in time, also while a client still waits for an answer', async () => {
  let arrived = () => {}
  const arrival = new Promise<void>((resolve) => (arrived = resolve))
  const metrics = () => {
    arrived()
    return new Promise<string>(() => {})
  }
  await using ops = await listen({ metrics })
  const asked = fetch(`${ops.url}/metrics`).then(
    () => 'answered',
    () => 'cut off',
  )
  await arrival
  const started = performance.now()
  await ops.close()
  expect(performance.now() - started).toBeLessThan(4000)
  expect(await asked).toBe('cut off')
  await expect(fetch(`${ops.url}/healthz`)).rejects.toThrow('fetch failed')
})

test('a port that is taken is reported in a sentence that says how to go on', async () => {
  await using first = await listen()
  const port = Number(new URL(first.url).port)
  const error = await listen({ port }).catch((caught: unknown) => caught)
  if (!(error instanceof RollcallError)) throw error
  expect([error.code, error.exitCode]).toEqual(['OPS_PORT_TAKEN', 1])
  expect(explain(error)).toContain(`127.0.0.1:${port}: something listens`)
  expect(explain(error)).toContain('OPS_PORT=0')
})

test('warns when others can reach it, and only then', async () => {
  await using alone = await listen()
  expect(alone.lines.map(({ level }) => level)).toEqual([30])
  // Loopback in truth, but in a form that is not known for it.
  await using seen = await listen({ host: '127.1' })
  expect(seen.lines).toContainEqual(
    expect.objectContaining({ level: 40, msg: expect.stringContaining('other machines') }),
  )
})

test('listens on loopback unless told otherwise, and not at all when it is off', () => {
  expect(opsAddress({})).toEqual({ host: '127.0.0.1', port: 10_464, byDefault: true })
  expect(opsAddress({ OPS_HOST: '::', OPS_PORT: '0' })).toEqual({ host: '::', port: 0, byDefault: false })
  expect(opsAddress({ OPS_PORT: 'off' })).toBeNull()
})
