import { expect, test } from 'vitest'
import { type DemoSnapshot, type MeteredCall, startMeter } from '../../src/demo/meter.ts'
import { NEXT_STEPS, renderSummary, summarize } from '../../src/demo/summary.ts'
import { type Paint, renderView } from '../../src/demo/view.ts'

const reason = {
  state: 'failing' as const,
  code: 'failed',
  fields: null,
  named: null,
  keys: null,
  misfits: null,
}
const SNAPSHOT: DemoSnapshot = {
  ...{ target: null, customers: 243, users: 240, unknown: 4 },
  owed: {
    ...{ due: 2, queued: 3, active: 4, waiting: 5, oldestAgeMs: null, waitsForWorkerMs: null },
    ...{ deletion: 0, change: 14, repair: 0, backfill: 0 },
  },
  states: { idle: 229, owed: 0, rejected: 0, failing: 7, held: 0, released: 0, discarded: 0 },
  reasons: [
    { ...reason, status: 503, error: null, customers: 5 },
    { ...reason, code: 'unknown', status: null, error: null, customers: 2 },
  ],
  fieldIssues: [{ field: 'nid_number', code: 'invalid', customers: 2, example: '7' }],
  outbox: { rows: 0, bytes: 0, oldestAgeMs: null },
}
const CALLED: MeteredCall = {
  ...{ at: 12_000, key: 'C-0107', kind: 'patch', about: 'email', answer: '200, done' },
  ...{ good: true, latencyMs: 38 },
}
const UNKNOWN = { about: 'x, '.repeat(60), answer: 'connection lost, unknown', good: false, latencyMs: null }
const paint: Paint = (_tone, text) => text

function playedMeter(more = 0) {
  const meter = startMeter(0)
  meter.target = 'http://127.0.0.1:40123 (demo, on this machine)'
  meter.ceiling = 60
  meter.shown = { place: '8/10', says: 'The service is in trouble', hint: 'It waits for a GET.' }
  meter.snapshot = SNAPSHOT
  const others = Array.from({ length: more }, (_, i) => ({ ...CALLED, key: `C-${i}` }))
  const calls = [...others, CALLED, { ...CALLED, ...UNKNOWN, key: 'C-0001' }]
  meter.phases.push({ name: 'service in trouble', captured: 1200, calls })
  return meter
}

function lines({ columns = 80, rows = 24, more = 0 } = {}): readonly string[] {
  return renderView(playedMeter(more), { columns, rows, now: 12_400, paint })
}

test('it stays within its terminal', () => {
  for (const [columns, rows] of [
    [80, 24],
    [200, 60],
  ] as const) {
    const shown = lines({ columns, rows, more: 100 })
    expect(Math.max(...shown.map((text) => text.length))).toBeLessThan(columns)
    expect(shown.length).toBeLessThan(rows)
  }
})

function summary(differences: { key: string; differs: string[] }[]) {
  return summarize(playedMeter(), { customers: 243, former: 4, differences }, 30_040)
}

test('the summary has a row for each phase, says that all agree, and fits into 80 columns', () => {
  expect(summary([])).toMatchObject({ agree: true, seconds: 30, captured: 1200, arrival: { medianMs: 38 } })
  const text = renderSummary(summary([]), paint)
  expect([...text, ...NEXT_STEPS].filter((line) => line.length > 78)).toEqual([])
  expect(text[1]).toMatch(/service in trouble +1200 +· +· +2 +· +· +38 ms +38 ms/)
  expect(text.join('\n')).toMatch(/All 243 .*agree/)
})
