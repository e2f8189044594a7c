import { expect, test } from 'vitest'
import { addCall, addCaptured, beginPhase, type MeteredCall, startMeter } from '../../src/demo/meter.ts'
import type { DemoSnapshot } from '../../src/demo/snapshot.ts'
import { renderView } from '../../src/demo/view.ts'

const SNAPSHOT: DemoSnapshot = {
  at: 0,
  ceiling: 60,
  customers: 243,
  users: 240,
  owed: { due: 2, queued: 3, active: 4, waiting: 5 },
  outbox: 0,
  unknown: 4,
  leftOut: [{ field: 'nid_number', customers: 2 }],
  failing: [
    { why: '503', customers: 5 },
    { why: 'no answer', customers: 2 },
  ],
}

const CALLED: MeteredCall = {
  at: 12_000,
  key: 'C-0107',
  kind: 'patch',
  about: 'email',
  answer: '200, done',
  good: true,
  latencyMs: 38,
}
const TROUBLE = {
  name: 'trouble',
  says: 'The service is in trouble',
  look: 'It waits for a GET.',
  transactions: [],
}
const UNKNOWN = { about: 'x, '.repeat(60), answer: 'connection lost, unknown', good: false, latencyMs: null }

type Size = { readonly columns?: number; readonly rows?: number; readonly more?: number }

function lines({ columns = 80, rows = 24, more = 0 }: Size = {}): readonly string[] {
  const meter = startMeter(0)
  meter.target = 'http://127.0.0.1:40123 (demo, on this machine)'
  beginPhase(meter, TROUBLE, 10)
  addCaptured(meter, 512)
  meter.snapshot = SNAPSHOT
  for (let i = 0; i < more; i += 1) addCall(meter, { ...CALLED, key: `C-${i}` })
  addCall(meter, CALLED)
  addCall(meter, {
    ...CALLED,
    kind: 'lookup',
    about: 'was it stored?',
    answer: '404, not there',
    latencyMs: null,
  })
  addCall(meter, { ...CALLED, ...UNKNOWN, key: 'C-0001' })
  return renderView(meter, { columns, rows, now: 12_400, paint: (_tone, text) => text })
}

function line(label: string): string {
  return lines().find((text) => text.trim().startsWith(label)) ?? ''
}

test('the view names the phase, the debts, the retries and the fields left out', () => {
  expect(lines()[0]).toMatch(
    /rollcall demo {3}http:\/\/127.0.0.1:40123 \(demo, on this machine\) +12\.4 s {3}1\/10$/,
  )
  expect(lines()[2]).toMatch(/trouble/)
  expect(line('tables')).toMatch(/243 .*Postgres, 240 .*service/)
  expect(line('captured')).toContain('512 changes')
  expect(line('calls')).toMatch(/create 0 .*patch 2 .*lookup 1/)
  expect(line('owed')).toContain('14 customers: 2 due, 3 queued, 4 active, 5 waiting')
  expect(line('retrying')).toContain('5 × 503, 2 × no answer; 4 outcomes unknown')
  expect(line('left out')).toContain('2 × nid_number')
  expect(line('arrival')).toContain('median 38 ms, p95 38 ms')
})

test('the latest call comes first, with its answer and its latency', () => {
  const shown = lines().slice(-3)
  expect(shown[0]).toMatch(/C-0001 +patch +x, x.*… +connection lost, unknown/)
  expect(shown[1]).toMatch(/lookup +was it stored\? +404, not there/)
  expect(shown[2]).toMatch(/12\.00 C-0107 +patch +email +200, done +38 ms/)
})

test.each([
  [80, 24],
  [120, 40],
  [200, 60],
])('it stays within a terminal of %i columns and %i lines', (columns, rows) => {
  const shown = lines({ columns, rows, more: 100 })
  expect(Math.max(...shown.map((text) => text.length))).toBeLessThan(columns)
  expect(shown.length).toBeLessThan(rows)
})

test('before the servers run, the view names the server that starts', () => {
  const meter = startMeter(0)
  meter.shown = { place: '', says: 'Starting an embedded Postgres', look: '' }
  const shown = renderView(meter, { columns: 80, rows: 24, now: 0, paint: (_tone, text) => text })
  expect(shown.join('\n')).toContain('Starting an embedded Postgres')
})
