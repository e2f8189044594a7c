import { expect, test } from 'vitest'
import { type MeteredCall, measure, observeWorker, startMeter } from '../../src/demo/meter.ts'
import type { Claim } from '../../src/ledger/claim.ts'
import type { WriteMeaning } from '../../src/sync/classify.ts'
import type { SyncStep } from '../../src/sync/context.ts'
import type { Plan } from '../../src/sync/plan.ts'

const CALLED: MeteredCall = {
  ...{ at: 0, key: 'C-0001', kind: 'patch', about: 'email', answer: '200, done', good: true, latencyMs: 20 },
}
const NO_CALLS = { create: 0, replace: 0, patch: 0, revoke: 0, lookup: 0 }
const PATCH: Plan = {
  ...{
    kind: 'patch',
    body: { status: 2, email: 'secret@example.com' },
    fields: ['email'],
    keepsStatus: false,
  },
}
const SETTLED: SyncStep = { step: 'ended', end: { kind: 'settle', state: 'idle', reason: null } }

function claim(changedAtMs: number): Claim {
  return {
    ...{
      id: '1',
      token: '1',
      key: 'C-1',
      version: '1',
      generation: '1',
      unknown: false,
      hiddenUnknown: false,
    },
    ...{ statusUnknown: false, mayHaveWritten: false, attempts: 0, changedAtMs, nowMs: 0, replanInMs: null },
  }
}

function answered(meaning: WriteMeaning, plan = PATCH, status = 200): SyncStep {
  const outcome = { kind: 'reply', status, body: 'user' } as const
  const nothing = { observed: null, named: [], conflict: false, shape: null }
  return {
    step: 'answered',
    plan,
    called: { method: 'PATCH', meaning, outcome, ...nothing, durationMs: 60.3 },
  }
}

test('changes and calls are counted for the current phase and in total', () => {
  const meter = startMeter(0)
  const { onCaptured } = observeWorker(meter, () => 0)
  const lookup: MeteredCall = { ...CALLED, kind: 'lookup', latencyMs: null }
  meter.phases.push({ name: 'first', captured: 0, calls: [{ ...CALLED, kind: 'create', latencyMs: 60 }] })
  onCaptured(3)
  meter.phases.push({ name: 'second', captured: 0, calls: [lookup, CALLED] })
  onCaptured(1)
  const [first, second] = meter.phases.map((phase) => measure([phase]))
  expect(first).toMatchObject({ captured: 3, calls: { ...NO_CALLS, create: 1 } })
  expect(second).toMatchObject({ captured: 1, calls: { ...NO_CALLS, patch: 1, lookup: 1 } })
  const calls = { ...NO_CALLS, create: 1, patch: 1, lookup: 1 }
  expect(measure(meter.phases)).toEqual({ captured: 4, calls, arrival: { medianMs: 60, p95Ms: 60 } })
})

test('a call that was acknowledged has a latency, and a claim without a call is counted apart', () => {
  const meter = startMeter(0)
  meter.phases.push({ name: 'first', captured: 0, calls: [] })
  const { onStep } = observeWorker(meter, () => 1100)
  const [spared, made] = [claim(1), claim(1000)]
  onStep('C-1', SETTLED, spared)
  onStep('C-1', answered('unknown', PATCH, 503), made)
  onStep('C-1', answered('done'), made)
  onStep('C-1', SETTLED, made)
  expect(meter.phases[0]?.calls).toMatchObject([
    { latencyMs: null, good: false, answer: '503, unknown' },
    { kind: 'patch', latencyMs: 40, good: true, about: 'email' },
  ])
  expect(meter.spared).toBe(1)
  expect(JSON.stringify(meter)).not.toContain('secret')
})
