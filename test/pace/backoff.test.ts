import fc from 'fast-check'
import { expect, it } from 'vitest'
import { backoffMs } from '../../src/pace/pace.ts'

const HOUR = { retryMinMs: 1000, retryMaxMs: 3_600_000 }

it.each([
  [0, 1000],
  [1, 2000],
  [11, 2_048_000],
  [12, 3_600_000],
  [1_000_000, 3_600_000],
])('after %i failures it is anything up to %i ms', (attempts, bound) => {
  expect(backoffMs(attempts, HOUR, () => 0)).toBe(0)
  expect(backoffMs(attempts, HOUR, () => 0.5)).toBe(bound / 2)
  expect(backoffMs(attempts, HOUR, () => 1)).toBe(bound)
})

it('is a whole number of milliseconds within the configured maximum, whatever comes', () => {
  const whole = fc.integer({ min: 1, max: 2_147_483_647 })
  fc.assert(
    fc.property(
      fc.nat(),
      whole,
      whole,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, a, b, random) => {
        const backoff = { retryMinMs: Math.min(a, b), retryMaxMs: Math.max(a, b) }
        const wait = backoffMs(attempts, backoff, () => random)
        expect(Number.isInteger(wait) && wait >= 0 && wait <= backoff.retryMaxMs).toBe(true)
      },
    ),
  )
})
