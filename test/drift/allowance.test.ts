import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Circumstances, refill, speedOfTicks, standstill } from '../../src/drift/allowance.ts'

const GOOD: Circumstances = { rate: 50, liveWaits: false, current: true, swept: true, gap: false }

describe('verification stands back', () => {
  test.each<[Partial<Circumstances>, ReturnType<typeof standstill>]>([
    [{}, null],
    [{ rate: 0.1 }, null],
    [{ rate: 0 }, 'stopped'],
    [{ liveWaits: true }, 'live'],
    [{ current: false }, 'mapping'],
    [{ swept: false }, 'mapping'],
    [{ gap: true }, 'gap'],
    [{ rate: 0, liveWaits: true, current: false }, 'mapping'],
  ])('%j: %j', (over, why) => {
    expect(standstill({ ...GOOD, ...over })).toBe(why)
  })
})

describe('what it may take of the pace', () => {
  test('is a quarter, gathered for half a second at most', () => {
    expect(refill({ left: 0, at: 0 }, speedOfTicks(80), 100).left).toBe(2)
    expect(refill({ left: 0, at: 0 }, speedOfTicks(80), 60_000).left).toBe(10)
  })

  test('is a call now and then at a low rate', () => {
    let allowance = { left: 0, at: 0 }
    let made = 0
    for (let now = 0; now <= 60_000; now += 250) {
      allowance = refill(allowance, speedOfTicks(0.4), now)
      if (allowance.left < 1) continue
      allowance = { ...allowance, left: allowance.left - 1 }
      made++
    }
    expect(made).toBe(6)
  })

  test('is never more than a quarter over any time, but for what one moment gathers', () => {
    const step = fc.record({
      wait: fc.integer({ min: -50, max: 2000 }),
      wants: fc.integer({ min: 0, max: 30 }),
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.array(step, { maxLength: 60 }), (rate, steps) => {
        let allowance = { left: 0, at: 0 }
        let [now, passed, made] = [0, 0, 0]
        for (const { wait, wants } of steps) {
          now += wait
          passed += Math.max(0, wait)
          allowance = refill(allowance, speedOfTicks(rate), now)
          const calls = Math.min(wants, Math.floor(allowance.left))
          allowance = { ...allowance, left: allowance.left - calls }
          made += calls
        }
        expect(made).toBeLessThanOrEqual((passed / 1000) * rate * 0.25 + 1)
      }),
    )
  })
})
