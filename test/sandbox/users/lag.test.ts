import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MOST, shownUser, type Versions, written, writtenAtOnce } from '../../../src/sandbox/users/users.ts'
import { runs } from '../../support/size.ts'

describe('what a GET shows while writes are on their way', () => {
  it('is for every moment what was held that long before', () => {
    const steps = fc.array(fc.tuple(fc.nat(60), fc.nat(60)), { maxLength: MOST - 1 })
    fc.assert(
      fc.property(fc.nat(200), steps, (lagMs, waits) => {
        let now = 0
        let versions: Versions<number> = []
        const history: { at: number; held: number }[] = []
        for (const [held, [wait, look]] of waits.entries()) {
          now += wait
          versions = written(versions, held, { now, lagMs })
          history.push({ at: now, held })
          now += look
          const shown = history.findLast(({ at }) => at + lagMs <= now)?.held
          expect(shownUser(versions, { now, lagMs })).toBe(shown)
        }
      }),
    )
  })

  it('keeps nothing that nobody will be shown, and never more than twenty states', () => {
    let versions: Versions<number> = []
    for (let held = 0; held < 500; held += 1) {
      versions = written(versions, held, { now: held, lagMs: 0 })
      expect(versions).toHaveLength(1)
    }
    for (let held = 500; held < 1500; held += 1) {
      versions = written(versions, held, { now: 500, lagMs: 60_000 })
      // What was there before goes on being shown until the time has come.
      expect(shownUser(versions, { now: 500, lagMs: 60_000 })).toBe(499)
    }
    expect(versions).toHaveLength(20)
    expect(shownUser(versions, { now: 60_500, lagMs: 60_000 })).toBe(1499)
  })

  it('goes on from state to state however fast they are written: none too early, none a ninth of the lag too late', () => {
    const steps = fc.array(fc.nat(30), { minLength: 200, maxLength: 400 })
    fc.assert(
      fc.property(fc.integer({ min: 90, max: 2000 }), steps, (lagMs, waits) => {
        let now = 0
        let versions: Versions<number> = []
        const times: number[] = []
        for (const [held, wait] of waits.entries()) {
          now += wait
          versions = written(versions, held, { now, lagMs })
          times.push(now)
          const due = times.findLastIndex((at) => at + lagMs <= now)
          const shown = shownUser(versions, { now, lagMs }) ?? -1
          expect(shown).toBeLessThanOrEqual(due)
          if (due !== -1) expect((times[due] ?? 0) - (times[shown] ?? 0)).toBeLessThanOrEqual(lagMs / 9)
        }
      }),
      { numRuns: runs(40) },
    )
  })

  it('ends at once when the contract lags no more, and never begins for what was shown already', () => {
    const late = written(writtenAtOnce('a', 0), 'b', { now: 10, lagMs: 1000 })
    expect(shownUser(late, { now: 20, lagMs: 1000 })).toBe('a')
    expect(shownUser(late, { now: 20, lagMs: 0 })).toBe('b')
    const early = written([], 'a', { now: 10, lagMs: 0 })
    expect(shownUser(early, { now: 11, lagMs: 1000 })).toBe('a')
  })

  it('does not wait for a time that the clock was set back from', () => {
    const ahead = written([], 'a', { now: 1_000_000, lagMs: 1000 })
    expect(shownUser(ahead, { now: 0, lagMs: 1000 })).toBe('a')
  })
})
