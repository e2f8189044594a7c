import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'
import { openOps, type WorkerOps } from '../../src/worker/ops.ts'
import { buildHouse, type House, timed } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'
import { makeRelay } from '../support/relay.ts'
import { until } from '../support/until.ts'

type Measured = WorkerOps &
  AsyncDisposable & {
    /** Lets what is known of the tables grow old. */
    later(ms: number): void
  }

async function measure({ db }: House, databaseUrl = db.url): Promise<Measured> {
  let ahead = 0
  const ops = await openOps({
    address: { host: '127.0.0.1', port: 0, byDefault: false },
    databaseUrl,
    periodMs: null,
    log: pino({ level: 'silent' }),
    now: () => performance.now() + ahead,
  })
  return { ...ops, later: (ms) => (ahead += ms), [Symbol.asyncDispose]: ops.close }
}

async function scrape(measured: Measured): Promise<string> {
  measured.later(6000)
  const answer = await fetch(`${measured.url}/metrics`)
  expect(answer.status).toBe(200)
  return answer.text()
}

/** Sum of all series of a metric whose labels hold these. */
function sum(text: string, name: string, labels = ''): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`rollcall_${name}{`) || line.startsWith(`rollcall_${name} `))
    .filter((line) => line.includes(labels))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

const FAULTS: FaultInput['action'][] = [
  { kind: 'drop-after' },
  { kind: 'status', status: 500, stored: true },
  { kind: 'status', status: 422 },
  { kind: 'status', status: 403, body: 'html' },
  { kind: 'status', status: 200, body: 'html', stored: true },
]

const insert = ({ db }: House, id: string) =>
  db.sql(`INSERT INTO clientes (id, plan) VALUES ($1, 'premium')`, [id])

eachLane('metrics of a worker', (lane) => {
  test('count what happened under faults', async () => {
    await using house = await buildHouse(lane, {
      config: timed({ retryMinMs: 20, retryMaxMs: 200, gapMs: 10 }),
    })
    await using measured = await measure(house)
    await house.startWorker(measured.observers)
    house.sandbox.faults.set([
      ...FAULTS.map((action, at) => ({ times: 3, match: { userId: `c${at}` }, action })),
      { match: { userId: 'broken' }, action: { kind: 'status', status: 503 } },
    ])
    for (let at = 0; at < 8; at += 1) await insert(house, `c${at}`)
    await house.settled()
    await insert(house, 'broken')
    await until(() => house.calls('broken').length > 1)

    const text = await until(async () => {
      const reported = await scrape(measured)
      return sum(reported, 'customers', 'failing') === 1 && reported
    })
    const { sandbox } = house
    const made = sandbox.journal.list().length
    // Counted as they end: the one who fails may be called at this very moment.
    expect(sum(await scrape(measured), 'calls_total')).toBeGreaterThanOrEqual(made - 1)
    expect(sum(text, 'calls_total', 'status="5xx"')).toBeGreaterThan(0)
    expect(sum(text, 'calls_total', 'status="none"')).toBeGreaterThan(0)
    expect(sum(text, 'calls_total', 'meaning="refused"')).toBeGreaterThan(0)
    expect(sum(text, 'call_duration_seconds_count')).toBe(sum(text, 'calls_total'))
    expect(sum(text, 'endings_total', 'kind="settled",reason="none"')).toBeGreaterThanOrEqual(8)
    expect(sum(text, 'endings_total', 'kind="unknown"')).toBeGreaterThan(0)
    expect(sum(text, 'captured_changes_total')).toBe(9)
    expect(sum(text, 'tables_up')).toBe(1)
    expect(sum(text, 'customers')).toBe(9)
    expect(sum(text, 'owed')).toBe(1)
    expect(sum(text, 'pace_ceiling')).toBe(500)
    for (const none of ['breaker_open', 'held_customers', 'brake_tripped']) expect(sum(text, none)).toBe(0)
    expect(sum(text, 'oldest_owed_age_seconds')).toBeGreaterThan(0)
  })

  test('a database that answers no more: counts of the process still come, and soon', async () => {
    await using house = await buildHouse(lane)
    await using wire = await makeRelay(house.db.url)
    await wire.open()
    await using measured = await measure(house, wire.url)
    await house.startWorker(measured.observers)
    measured.runs({ queue: { count: async () => 0 }, isActive: () => true })
    await insert(house, 'c')
    await house.settled()
    expect(sum(await scrape(measured), 'tables_up')).toBe(1)
    expect((await fetch(`${measured.url}/readyz`)).status).toBe(200)

    wire.hush()
    // Late enough for what was read, and too soon to miss a step of the dispatch.
    measured.later(40_000)
    const started = performance.now()
    const [text, ready, alive] = await Promise.all([
      scrape(measured),
      fetch(`${measured.url}/readyz`),
      fetch(`${measured.url}/healthz`),
    ])
    expect(performance.now() - started).toBeLessThan(6000)
    expect(sum(text, 'tables_up')).toBe(0)
    expect(sum(text, 'calls_total')).toBe(1)
    expect(text).not.toMatch(/^rollcall_(customers|owed|outbox_rows)/m)
    const missing = [{ part: 'postgres', what: 'Postgres at DATABASE_URL does not answer' }]
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, missing }])
    expect(alive.status).toBe(200)

    await wire.shut()
    measured.later(60_000)
    expect(sum(await scrape(measured), 'tables_up')).toBe(0)
  })
})
