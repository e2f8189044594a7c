import { expect, test } from 'vitest'
import type { Outcome } from '../../src/sync/classify.ts'
import { signOf } from '../../src/sync/sign.ts'
import type { Call } from '../../src/sync/turn.ts'

const GET: Call = { method: 'GET' }
const ACCESS: Call = { method: 'POST', body: { user_id: 'u', status: 2 } }
const FIELDS: Call = { method: 'PATCH', body: { status: 2, description: 'x' } }

const reply = (status: number) => ({ kind: 'reply', status, body: 'error' }) as Outcome
const lost: Outcome = { kind: 'error', error: 'timeout' } as Outcome

test.each([
  ['500 to a GET', reply(500), GET, 'trouble'],
  ['500 to access alone', reply(500), ACCESS, 'trouble'],
  ['500 to a write with fields', reply(500), FIELDS, 'neutral'],
  ['502 to a write with fields', reply(502), FIELDS, 'neutral'],
  ['503 to a write with fields', reply(503), FIELDS, 'trouble'],
  ['no answer to a write with fields', lost, FIELDS, 'trouble'],
  ['401 to a write with fields', reply(401), FIELDS, 'denied'],
] as const)('%s says of the service: %4$s', (_, outcome, call, sign) => {
  expect(signOf(outcome, call.method === 'GET' ? 'failed' : 'unknown', call)).toBe(sign)
})
