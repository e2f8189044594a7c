import { expect, test } from 'vitest'
import { fitLine, paintLine, textOf } from '../../src/demo/line.ts'
import { advance, type Called, type Observed, startMeter } from '../../src/demo/meter.ts'
import type { Standing } from '../../src/demo/standing.ts'
import { view } from '../../src/demo/view.ts'

const STANDING: Standing = {
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

const PHASE: Observed = {
  what: 'phase',
  phase: {
    number: 8,
    of: 10,
    name: 'trouble',
    says: 'The service is in trouble',
    look: 'It waits for a GET.',
  },
}

function called(change: Partial<Called>): Observed {
  const call: Called = {
    at: 12_000,
    key: 'C-0107',
    kind: 'patch',
    about: 'email',
    answer: '200, done',
    good: true,
    latencyMs: 38,
  }
  return { what: 'called', called: { ...call, ...change } }
}

const SEEN: readonly Observed[] = [
  { what: 'opened', target: 'http://127.0.0.1:40123 (demo, on this machine)' },
  PHASE,
  { what: 'captured', changes: 512 },
  { what: 'standing', standing: STANDING },
  called({}),
  called({ kind: 'lookup', about: 'was it stored?', answer: '404, not there', latencyMs: null }),
  called({ key: 'C-0001', about: 'x, '.repeat(60), answer: '503, unknown', good: false, latencyMs: null }),
]

type Size = { readonly columns?: number; readonly rows?: number }

function lines({ columns = 80, rows = 24 }: Size = {}, seen = SEEN): string[] {
  return view(seen.reduce(advance, startMeter(0)), { columns, rows, now: 12_400 }).map(textOf)
}

function line(label: string): string {
  return lines().find((text) => text.trim().startsWith(label)) ?? ''
}

test('what happens, what is owed, what is retried and what was left out is told in words', () => {
  expect(lines()[0]).toMatch(
    /rollcall demo {3}http:\/\/127.0.0.1:40123 \(demo, on this machine\) +12\.4 s {3}8\/10$/,
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

test('the latest call comes first, with its answer and how soon it arrived', () => {
  const shown = lines().slice(-3)
  expect(shown[0]).toMatch(/C-0001 +patch +x, x.*… +503, unknown/)
  expect(shown[1]).toMatch(/lookup +was it stored\? +404, not there/)
  expect(shown[2]).toMatch(/12\.00 C-0107 +patch +email +200, done +38 ms/)
})

test.each([
  [80, 24],
  [120, 40],
  [40, 12],
  [200, 60],
])('it stays within a terminal of %i columns and %i lines', (columns, rows) => {
  const many = Array.from({ length: 100 }, (_, i) => called({ key: `C-${i}` }))
  const shown = lines({ columns, rows }, [...SEEN, ...many])
  expect(Math.max(...shown.map((text) => text.length))).toBeLessThan(columns)
  if (rows >= 24) expect(shown.length).toBeLessThan(rows)
})

test('before anything stands it says what is being started', () => {
  const starting: Observed = {
    what: 'phase',
    phase: { number: 0, of: 0, name: '', says: 'Starting an embedded Postgres', look: '' },
  }
  expect(lines({}, [starting]).join('\n')).toContain('Starting an embedded Postgres')
})

test('a line that is too long is cut with its tones kept', () => {
  const cut = fitLine(['abc', { text: 'defghij', tone: 'good' }, 'klm'], 8)
  expect(textOf(cut)).toBe('abcdefg…')
  expect(paintLine(cut, (tone, text) => `<${tone}>${text}</>`)).toBe('abc<good>defg…</>')
})
