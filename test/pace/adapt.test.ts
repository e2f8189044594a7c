import { expect, it } from 'vitest'
import { halved } from '../../src/pace/common.ts'

it.each([
  [50, 50, 25],
  [50, 0.8, 0.5],
  [50, 0.5, 0.5],
  [0.2, 0.2, 0.2],
  [10, 50, 5],
])('with a ceiling of %d, %d calls/s are halved to %d', (ceiling, rate, after) => {
  expect(halved({ ceiling, rate })).toBe(after)
})
