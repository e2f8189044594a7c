import { expect, test } from 'vitest'
import type { Outcome } from '../../src/sync/classify.ts'
import { healthOf } from '../../src/sync/classify.ts'

const reply = (status: number) => ({ kind: 'reply', status, body: 'error' }) as Outcome
const lost: Outcome = { kind: 'error', error: 'timeout' } as Outcome

test.each([
  ['500 to a GET', reply(500), 'failed', 'trouble'],
  ['500 to a write', reply(500), 'unknown', 'trouble'],
  ['no answer to a write', lost, 'unknown', 'trouble'],
  ['401 to a write', reply(401), 'denied', 'denied'],
  ['422 to a write', reply(422), 'refused', 'well'],
  ['429 to a write', reply(429), 'later', 'neutral'],
] as const)('%s says of the service: %4$s', (_, outcome, meaning, health) => {
  expect(healthOf({ outcome, meaning })).toBe(health)
})
