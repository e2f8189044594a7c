import fc from 'fast-check'
import { expect, it } from 'vitest'
import { halved, raised } from '../../src/pace/adapt.ts'

it.each([
  // From, after so many milliseconds, to.
  [50, 10, 0, 10],
  [50, 10, 600, 11],
  [50, 10, 1200, 12],
  [50, 49.5, 1000, 50],
  [50, 50, 1000, 50],
  [300, 0.5, 1000, 10.5],
  // A low ceiling is reached by half a call each second.
  [6, 1, 1000, 1.5],
  [0.2, 0.1, 1000, 0.2],
  // Time in which nobody asked counts for two seconds at most, and one that ran backwards for none.
  [300, 100, 3_600_000, 120],
  [300, 100, -5000, 100],
  // A rate above the ceiling comes down to it.
  [10, 50, 0, 10],
])('with a ceiling of %d, %d calls/s are after %d ms %d', (ceiling, rate, elapsedMs, after) => {
  expect(raised({ ceiling, rate }, elapsedMs)).toBeCloseTo(after, 9)
})

it.each([
  [50, 50, 25],
  [50, 0.8, 0.5],
  [50, 0.5, 0.5],
  [0.2, 0.2, 0.2],
  [10, 50, 5],
])('with a ceiling of %d, %d calls/s are halved to %d', (ceiling, rate, after) => {
  expect(halved({ ceiling, rate })).toBe(after)
})

const ceilings = fc.double({ min: 0.001, max: 10_000, noNaN: true })

it('never leaves what is between the least rate and the ceiling, and goes from nothing to the ceiling in half a minute', () => {
  fc.assert(
    fc.property(
      ceilings,
      fc.array(fc.oneof(fc.constant('busy'), fc.integer({ min: -1000, max: 9000 }))),
      (ceiling, steps) => {
        let rate = ceiling
        for (const step of steps) {
          const before = rate
          rate = step === 'busy' ? halved({ ceiling, rate }) : raised({ ceiling, rate }, Number(step))
          expect(rate).toBeLessThanOrEqual(ceiling)
          expect(rate).toBeGreaterThanOrEqual(Math.min(ceiling, 0.5))
          if (step !== 'busy') expect(rate).toBeGreaterThanOrEqual(before)
        }
        for (let second = 0; second <= 30; second++) rate = raised({ ceiling, rate }, 1000)
        expect(rate).toBe(ceiling)
      },
    ),
  )
})
