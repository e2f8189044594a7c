import { expect, test } from 'vitest'
import {
  addCall,
  addCaptured,
  beginPhase,
  latencyOf,
  type MeteredCall,
  startMeter,
  totals,
} from '../../src/demo/meter.ts'

const CALLED: MeteredCall = {
  at: 0,
  key: 'C-0001',
  kind: 'patch',
  about: 'email',
  answer: '200, done',
  good: true,
  latencyMs: 20,
}
const NO_CALLS = { create: 0, replace: 0, patch: 0, revoke: 0, lookup: 0 }
const PHASE = { says: '', look: '', transactions: [] }

test('changes and calls are counted for the current phase and in total', () => {
  const meter = startMeter(0)
  beginPhase(meter, { ...PHASE, name: 'first' }, 2)
  addCaptured(meter, 3)
  addCall(meter, { ...CALLED, kind: 'create' })
  beginPhase(meter, { ...PHASE, name: 'second' }, 2)
  addCaptured(meter, 1)
  addCall(meter, { ...CALLED, kind: 'lookup', latencyMs: null })
  addCall(meter, CALLED)
  expect(meter.phases).toEqual([
    { name: 'first', captured: 3, calls: { ...NO_CALLS, create: 1 }, latencies: [20] },
    { name: 'second', captured: 1, calls: { ...NO_CALLS, patch: 1, lookup: 1 }, latencies: [20] },
  ])
  expect(totals(meter)).toEqual({
    captured: 4,
    calls: { ...NO_CALLS, create: 1, patch: 1, lookup: 1 },
    latencies: [20, 20],
  })
})

test('only the last calls are kept, and all are counted', () => {
  const meter = startMeter(0)
  beginPhase(meter, { ...PHASE, name: 'first' }, 1)
  for (let at = 0; at < 2000; at += 1) addCall(meter, { ...CALLED, at })
  expect(totals(meter).calls.patch).toBe(2000)
  expect(meter.recent.length).toBeLessThan(1000)
  expect(meter.recent.at(-1)?.at).toBe(1999)
})

test('quantiles are values that occurred', () => {
  expect(latencyOf([])).toEqual({ medianMs: null, p95Ms: null })
  expect(latencyOf([9, 1, 5])).toEqual({ medianMs: 5, p95Ms: 9 })
})
