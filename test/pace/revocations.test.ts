import fc from 'fast-check'
import { expect, it } from 'vitest'
import { REVOCATIONS_PER_MINUTE, waitMs } from '../../src/pace/revocations.ts'

it('waits for the next free place', () => {
  expect(waitMs({ oldestMs: 15_000, waiting: 0, random: () => 0 })).toBe(45_000)
  expect(waitMs({ oldestMs: 15_000, waiting: 0, random: () => 1 })).toBe(51_000)
})

it('spreads those who wait over as many minutes as they need', () => {
  const minutes = 100
  const waiting = minutes * REVOCATIONS_PER_MINUTE
  expect(waitMs({ oldestMs: 60_000, waiting, random: () => 1 })).toBe((minutes + 0.1) * 60_000)
})

it('is never 0, which would mean that there is nothing to wait for', () => {
  fc.assert(
    fc.property(
      fc.nat(100_000),
      fc.nat(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (oldestMs, waiting, random) => {
        expect(waitMs({ oldestMs, waiting, random: () => random })).toBeGreaterThanOrEqual(1)
      },
    ),
  )
  expect(waitMs({ oldestMs: 60_001, waiting: 0, random: () => 0 })).toBe(1)
})
