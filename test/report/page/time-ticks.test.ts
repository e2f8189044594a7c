import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timeTicks } from '../../../src/report/page/time-ticks.ts'

const at = (iso: string) => Date.parse(`2026-11-${iso}Z`)
const labels = (from: number, to: number) => timeTicks(from, to).map(({ label }) => label)

test('runs of one day are told apart by their time, under the day', () => {
  expect(labels(at('22T09:03'), at('22T11:40'))).toEqual([['10:00', '2026-11-22'], ['11:00']])
})

test('whatever the runs are, there are marks, all between them, rising, and no more than a phone has room for', () => {
  const times = fc.integer({ min: 0, max: at('22T00:00') })
  fc.assert(
    fc.property(times, fc.nat(20 * 365 * 86_400_000), (from, length) => {
      const values = timeTicks(from, from + length).map(({ value }) => value)
      expect(values.length).toBeGreaterThan(0)
      expect(values.length).toBeLessThanOrEqual(5)
      expect(
        values.every((value, n) => value >= from && value <= from + length && value > (values[n - 1] ?? -1)),
      ).toBe(true)
    }),
  )
})
