// How much of the pace is left to checks.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { makeAllowance, SHARE } from '../../src/drift/preconditions.ts'

describe('what scheduled runs may take of the pace', () => {
  test('is a quarter, gathered for half a second at most, and a call now and then at a low rate', () => {
    const taken = (rate: number, afterMs: number) => {
      const times = [0, afterMs]
      const allowance = makeAllowance(() => times.shift() ?? Number.NaN)
      allowance.spend(1)
      return allowance.refill(rate * SHARE.schedule)
    }
    expect([taken(80, 100), taken(80, 60_000), taken(0.4, 60_000)]).toEqual([2, 10, 1])
  })

  test('is never more than a quarter over any time, but for what one moment gathers', () => {
    const step = fc.record({
      wait: fc.integer({ min: -50, max: 2000 }),
      wants: fc.integer({ min: 0, max: 30 }),
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.array(step, { maxLength: 60 }), (rate, steps) => {
        let [now, passed, made] = [0, 0, 0]
        const allowance = makeAllowance(() => now)
        for (const { wait, wants } of steps) {
          now += wait
          passed += Math.max(0, wait)
          const calls = Math.min(wants, allowance.refill(rate * SHARE.schedule))
          allowance.spend(calls)
          made += calls
        }
        expect(made).toBeLessThanOrEqual((passed / 1000) * rate * 0.25 + 1)
      }),
    )
  })
})
