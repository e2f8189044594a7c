import { expect, test } from 'vitest'
import type { CallEntry } from '../../src/ledger/calls.ts'
import type { Called } from '../../src/sync/call.ts'
import { callEntry } from '../../src/sync/call.ts'
import type { Plan } from '../../src/sync/plan.ts'
import { logCalls } from '../../src/worker/log.ts'

const CREATE: Plan = {
  kind: 'create',
  body: { user_id: 'secret-1', status: 2, email: 'secret-2@example.com' },
  fields: ['email'],
}
const CALLED: Called = {
  method: 'POST',
  meaning: 'done',
  outcome: { kind: 'reply', status: 201, body: 'readable', retryAfterMs: 5 },
  observed: null,
  named: ['email'],
  conflict: false,
  shape: '{user_id: string}',
  durationMs: 12.7,
}

const answered = (plan: Plan, called = CALLED) => ({ step: 'answered', plan, called }) as const
const entryOf = (plan: Plan, called = CALLED) => callEntry({ key: 'c1', ...answered(plan, called) })

test('an entry holds names, codes and times of a call, and nothing of its bodies', () => {
  const entry = entryOf(CREATE)
  expect(entry).toEqual({
    ...{
      key: 'c1',
      atMs: expect.any(Number),
      plan: 'create',
      method: 'POST',
      status: 201,
      error: null,
      meaning: 'done',
    },
    ...{ ms: 12.7, fields: ['status', 'email'], body: 'readable', shape: '{user_id: string}' },
  })
  expect(JSON.stringify(entry)).not.toContain('secret')
  expect(entryOf({ kind: 'lookup', why: 'unknown' }).fields).toEqual([])
  expect(entryOf({ kind: 'revoke', body: { status: 0 } }).fields).toEqual(['status'])
})

test('a call without an answer has an error in place of a status', () => {
  const outcome = { kind: 'error', error: 'timeout', reached: 'maybe' } as const
  expect(entryOf(CREATE, { ...CALLED, outcome })).toMatchObject({
    status: null,
    error: 'timeout',
    body: null,
  })
})

test('of all steps only calls are logged', () => {
  const entries: CallEntry[] = []
  const log = logCalls({ add: (entry) => entries.push(entry) })
  log('c1', { step: 'planned', plan: CREATE })
  log('c1', { step: 'ended', end: { kind: 'settle', state: 'idle', reason: null } })
  log('c1', answered(CREATE))
  expect(entries).toMatchObject([{ key: 'c1', plan: 'create' }])
})
