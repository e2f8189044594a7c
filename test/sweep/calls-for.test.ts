import { expect, test } from 'vitest'
import { NO_RECORD } from '../../src/ledger/record.ts'
import { makeThrottle, pageFor } from '../../src/sweep/forecast.ts'
import type { PlannedCustomer } from '../../src/sweep/verdict.ts'
import { makeDigester } from '../../src/sync/digest.ts'
import { KEEP, plan, UNASKED, user } from '../support/plan-scene.ts'

const digester = makeDigester('a digest key of thirty-two chars!')

/** So many who need calls: one each with access, two (a sweep, and a registration) without. */
function planned(customers: number, status: 0 | 2): readonly PlannedCustomer[] {
  const mapped = user(status)
  const found = {
    ...{ known: false, owed: false, claimed: false, replanAtMs: null, asItWas: false, comparable: true },
    ...({ gone: false, state: 'idle', otherUser: false, validUntilMs: null } as const),
    plan: plan({ mapped, memory: UNASKED }),
  }
  const made = { found, memory: UNASKED, mapped, record: NO_RECORD, claimants: [] }
  return Array.from({ length: customers }, (_, n) => ({
    key: `k${n}`,
    verdict: 'differs',
    owed: false,
    made,
  }))
}

test('waits for as long as the calls of a page take, and not for the time that has passed anyway', async () => {
  let time = 0
  const slept: number[] = []
  const sleep = async (ms: number) => {
    slept.push(ms)
    time += Math.max(0, ms)
  }
  const throttle = makeThrottle({ rate: 10, policy: KEEP, digester, now: () => time, sleep })
  const LONG = 60_000
  await throttle(planned(10, 2), LONG)
  await throttle(planned(10, 0), LONG)
  time += 600
  await throttle(planned(10, 2), LONG)
  expect(await throttle([], LONG)).toBe(0)
  expect(slept).toEqual([1000, 2000, 1000, 0])
  // The caller waits for the rest.
  expect(await throttle(planned(10, 0), 500)).toBe(slept[1] === undefined ? 0 : slept[1] - 500)
})

test('a page has the calls of one second, and never none', () => {
  expect([0.2, 1, 7.9, 1000, 5000].map(pageFor)).toEqual([1, 1, 7, 1000, 1000])
})
