import { expect, test } from 'vitest'
import { startMeter } from '../../src/demo/meter.ts'
import { describeAnswer, describePlan, observeWorker } from '../../src/demo/observe.ts'
import type { Claim } from '../../src/ledger/claim.ts'
import { makeJournal } from '../../src/sandbox/journal.ts'
import type { SyncStep } from '../../src/sync/context.ts'
import type { Plan } from '../../src/sync/plan.ts'

const PATCH: Plan = {
  kind: 'patch',
  body: { status: 2, email: 'x@example.com' },
  fields: ['email'],
  carried: false,
}
const SETTLED: SyncStep = { step: 'ended', end: { kind: 'settle', state: 'idle', reason: null } }

function claim(changedAtMs: number): Claim {
  return {
    id: '1',
    token: '1',
    key: 'C-1',
    version: '1',
    unknown: false,
    blind: false,
    statusDoubted: false,
    attempts: 0,
    changedAtMs,
    nowMs: 0,
    replanInMs: null,
    generation: '1',
  }
}

function answered(meaning: string): SyncStep {
  const outcome = { kind: 'reply', status: meaning === 'done' ? 200 : 503, body: 'user' } as const
  return {
    step: 'answered',
    plan: PATCH,
    called: {
      method: 'PATCH',
      outcome,
      remote: null,
      named: [],
      conflict: false,
      shape: null,
      durationMs: 5,
    },
    meaning,
  }
}

function watch() {
  const journal = makeJournal(10)
  const meter = startMeter(0)
  const observers = observeWorker({ sandbox: { journal }, now: () => 1100, meter })
  return { journal, meter, observers }
}

test('the latency of an acknowledged call is from the change to its arrival', () => {
  const { journal, meter, observers } = watch()
  journal.open({ method: 'PATCH', path: '/', arrivedAt: 1040 })({ userId: 'C-1' })
  observers.onStep('C-1', answered('done'), claim(1000))
  expect(meter.recent).toMatchObject([{ kind: 'patch', latencyMs: 40, good: true }])
})

test('a call that was not acknowledged has no latency', () => {
  const { journal, meter, observers } = watch()
  journal.open({ method: 'PATCH', path: '/', arrivedAt: 1040 })({ userId: 'C-1' })
  observers.onStep('C-1', answered('unknown'), claim(1000))
  expect(meter.recent).toMatchObject([{ latencyMs: null, good: false, answer: '503, unknown' }])
})

test('a claim that settles without a call is counted apart', () => {
  const { meter, observers } = watch()
  const [first, second] = [claim(1), claim(2)]
  observers.onStep('C-1', SETTLED, first)
  observers.onStep('C-1', answered('done'), second)
  observers.onStep('C-1', SETTLED, second)
  expect(meter.spared).toBe(1)
  expect(meter.recent).toHaveLength(1)
})

test('a status is named when it is another than the last one acknowledged', () => {
  expect(describePlan(PATCH, 2)).toBe('email')
  expect(describePlan(PATCH, 0)).toBe('status 2, email')
  expect(describePlan({ kind: 'revoke', body: { status: 0 } }, 0)).toBe('status 0')
})

test('no field value is ever shown', () => {
  const create: Plan = {
    kind: 'create',
    body: { user_id: 'C-1', status: 2, email: 'secret@example.com' },
    fields: ['email'],
  }
  expect(describePlan(create, undefined)).toBe('status 2, 1 field')
})

test('a call without an answer says how it failed', () => {
  const outcome = { kind: 'error', error: 'connection-lost', reached: 'maybe' } as const
  expect(describeAnswer(outcome, 'unknown')).toBe('connection lost, unknown')
})
