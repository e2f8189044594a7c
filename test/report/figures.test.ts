import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromTo, lasting, percent } from '../../src/report/figures.ts'

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]

describe('a length of time', () => {
  test.each([
    [500, '500 milliseconds'],
    [1000, '1 second'],
    [20 * MINUTE, '20 minutes'],
    [90 * MINUTE, '90 minutes'],
    [HOUR, '1 hour'],
    [DAY, '1 day'],
    [2.5 * DAY, '2.5 days'],
  ])('%d ms is %s', (ms, said) => {
    expect(lasting(ms)).toBe(said)
  })

  const SIZES: Record<string, number> = {
    ...{ millisecond: 1, second: SECOND, minute: MINUTE, hour: HOUR, day: DAY },
  }

  test('is never printed as none, nor by more than a fortieth too long or too short', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 * DAY }), (ms) => {
        const [many = '', unit = ''] = lasting(ms).split(' ')
        const reported = Number(many.replaceAll(',', '')) * (SIZES[unit.replace(/s$/, '')] ?? 0)
        expect(Math.abs(reported - ms) / ms).toBeLessThanOrEqual(1 / 40)
      }),
    )
  })
})

test.each([
  ['2026-11-22T02:00:00.000Z', '2026-11-22T02:00:59.000Z', '2026-11-22 02:00 UTC'],
  ['2026-11-22T02:00:00.000Z', '2026-11-22T02:41:10.000Z', '2026-11-22 02:00 to 02:41 UTC'],
  ['2026-11-21T23:50:00.000Z', '2026-11-22T02:41:10.000Z', '2026-11-21 23:50 UTC to 2026-11-22 02:41 UTC'],
])('from %s to %s is printed as %s', (from, to, said) => {
  expect(fromTo(from, to)).toBe(said)
})

test.each([
  [0, '0 %'],
  [0.00001, '< 0.01 %'],
  [0.00021, '0.02 %'],
  [0.0384, '3.8 %'],
  [0.9949, '99.49 %'],
  [0.999999, '> 99.99 %'],
  [1, '100 %'],
])('a share of %d is %s', (share, said) => {
  expect(percent(share)).toBe(said)
})
