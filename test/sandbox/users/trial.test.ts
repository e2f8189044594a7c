import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accessOf, shownStatus, type Trial, trialAfter } from '../../../src/sandbox/users/users.ts'

const CONTRACT = { trialMs: 1000, trialEnd: 'flips', trialAgain: 'continues' } as const

describe('section 2.6: status 0 no access, 2 full access, 4 a free trial of a configured duration', () => {
  it.each<[string, Partial<Trial>, string, number]>([
    ['0', { status: 0 }, 'none', 0],
    ['2', { status: 2 }, 'full', 2],
    ['2 after a trial that is over', { status: 2, trialStart: 0, now: 5000 }, 'full', 2],
    ['4 at its start', { trialStart: 100, now: 100 }, 'trial', 4],
    ['4 up to the last millisecond', { trialStart: 100, now: 1099 }, 'trial', 4],
    ['4 when it is over', { trialStart: 100, now: 1100 }, 'trial-over', 0],
    [
      '4 when it is over and the status stays',
      { trialStart: 100, now: 1100, contract: { ...CONTRACT, trialEnd: 'stays' } },
      'trial-over',
      4,
    ],
    ['4 when the clock was set back before its start', { trialStart: 5000, now: 0 }, 'trial', 4],
  ])('%s', (_name, part, access, shown) => {
    const trial = { status: 4, trialStart: null, now: 0, contract: CONTRACT, ...part }
    expect([accessOf(trial), shownStatus(trial)]).toEqual([access, shown])
  })
})

const writes = fc.array(fc.tuple(fc.constantFrom(0, 2, 4), fc.nat(5000)), { minLength: 1 })

describe('a user has one trial', () => {
  it('it begins with the first 4 and ends by the clock, whatever is written, when 4 again continues it', () => {
    fc.assert(
      fc.property(writes, (statuses) => {
        let now = 0
        let trialStart: number | null = null
        let first: number | null = null
        for (const [status, wait] of statuses) {
          now += wait
          if (status === 4) first ??= now
          trialStart = trialAfter({ status, trialStart, now, contract: CONTRACT })
          expect(trialStart).toBe(first)
          const over = status === 4 && first !== null && now >= first + CONTRACT.trialMs
          expect(accessOf({ status, trialStart, now, contract: CONTRACT }) === 'trial-over').toBe(over)
        }
      }),
    )
  })

  it('that lies ahead, because the clock was set back, begins with the next 4', () => {
    const trial = { trialStart: 5000, now: 100, contract: CONTRACT }
    expect(trialAfter({ ...trial, status: 4 })).toBe(100)
    expect(trialAfter({ ...trial, status: 2 })).toBe(5000)
    expect(trialAfter({ ...trial, now: 5000, status: 4 })).toBe(5000)
  })

  it('every 4 starts it anew when the contract says so', () => {
    const contract = { ...CONTRACT, trialAgain: 'restarts' } as const
    fc.assert(
      fc.property(writes, (statuses) => {
        let now = 0
        let trialStart: number | null = null
        for (const [status, wait] of statuses) {
          now += wait
          const before: number | null = trialStart
          trialStart = trialAfter({ status, trialStart, now, contract })
          expect(trialStart).toBe(status === 4 ? now : before)
        }
      }),
    )
  })
})
