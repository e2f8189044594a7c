import { expect, test } from 'vitest'
import {
  advance,
  type Called,
  type Observed,
  quantile,
  startMeter,
  totalCalls,
} from '../../src/demo/meter.ts'

const CALLED: Called = {
  at: 0,
  key: 'C-0001',
  kind: 'patch',
  about: 'email',
  answer: '200, done',
  good: true,
  latencyMs: 20,
}

function phase(number: number): Observed {
  return { what: 'phase', phase: { number, of: 2, name: `phase ${number}`, says: '', look: '' } }
}

function after(...seen: readonly Observed[]) {
  return seen.reduce(advance, startMeter(0))
}

test('changes and calls are counted altogether and for the phase that is going on', () => {
  const meter = after(
    phase(1),
    { what: 'captured', changes: 3 },
    { what: 'called', called: { ...CALLED, kind: 'create' } },
    phase(2),
    { what: 'captured', changes: 1 },
    { what: 'called', called: { ...CALLED, kind: 'lookup', latencyMs: null } },
    { what: 'called', called: CALLED },
  )
  expect(meter.captured).toBe(4)
  expect(totalCalls(meter.calls)).toBe(3)
  expect(meter.phases).toEqual([
    {
      name: 'phase 1',
      captured: 3,
      calls: { create: 1, replace: 0, patch: 0, revoke: 0, lookup: 0 },
      latencies: [20],
    },
    {
      name: 'phase 2',
      captured: 1,
      calls: { create: 0, replace: 0, patch: 1, revoke: 0, lookup: 1 },
      latencies: [20],
    },
  ])
})

test('what is said before and after the story is no phase of it', () => {
  expect(after(phase(0)).phases).toEqual([])
})

test('the last calls are kept, however many there were', () => {
  const calls = Array.from(
    { length: 2000 },
    (_, at): Observed => ({
      what: 'called',
      called: { ...CALLED, at },
    }),
  )
  const { recent, calls: counts } = after(...calls)
  expect(counts.patch).toBe(2000)
  expect(recent.length).toBeLessThan(1000)
  expect(recent.at(-1)?.at).toBe(1999)
})

test('quantiles are values that occurred', () => {
  expect(quantile([], 0.5)).toBeNull()
  expect(quantile([5], 0.95)).toBe(5)
  expect(quantile([9, 1, 5], 0.5)).toBe(5)
  expect(quantile([1, 2, 3, 4], 0.95)).toBe(4)
})
