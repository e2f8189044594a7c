import { describe, expect, it } from 'vitest'
import {
  type Breaker,
  CLOSED,
  countForBreaker,
  intervalMs,
  MOST_CUSTOMERS,
  probed,
} from '../../src/pace/breaker.ts'
import type { ServiceHealth } from '../../src/pace/pace.ts'

const NOW = 1_000_000

/** `3t 1w`: three troubles of customers 1, 2, 3 and so on, then a good call. */
function reportedAfter(breaker: Breaker, calls: string, { customers = 1000, now = NOW, epoch = '0' } = {}) {
  const healths: Record<string, ServiceHealth> = { t: 'trouble', w: 'well', d: 'denied', n: 'neutral' }
  let after = breaker
  let customer = 0
  for (const [, count, letter = ''] of calls.matchAll(/(\d+)([a-z])/g)) {
    for (let n = 0; n < Number(count); n++) {
      const health = healths[letter]
      if (!health) throw new Error(`no health: ${letter}`)
      const id = String((customer++ % customers) + 1)
      after = countForBreaker(after, { id, epoch, health }, now)
    }
  }
  return after
}

const answer = (breaker: Breaker, health: ServiceHealth) => probed(breaker, { health, now: NOW, random: 0 })

const OUTAGE = reportedAfter(CLOSED, '10t')
const TRYING = answer(answer(OUTAGE, 'trouble'), 'well')

describe('it opens for an outage', () => {
  it.each([
    ['10t', 10, true],
    ['9t', 9, false],
    ['1000t', 9, false],
    ['1000t', 1, false],
    ['9t 1w 9t', 1000, false],
    ['9t 5n 1t', 1000, true],
    ['9t 1d 1t', 1000, true],
    ['10w 10t', 1000, true],
    ['100n', 1000, false],
    ['100d', 1000, false],
  ])('after %s of %d customers: %s', (calls, customers, opens) => {
    expect(reportedAfter(CLOSED, calls, { customers }).state).toBe(opens ? 'open' : 'closed')
  })

  it('with a probe at once, after which all goes on as before where it does well', () => {
    expect(OUTAGE).toMatchObject({ openedAt: NOW, probeAt: NOW })
    expect(answer(OUTAGE, 'well')).toEqual(CLOSED)
    expect(answer(OUTAGE, 'denied').state).toBe('trying')
  })

  it('and a customer that failed by it is remembered, also who was under way, but no more than a limit', () => {
    const late = reportedAfter(OUTAGE, '3t 2w 2n 1d', { now: NOW + 100 })
    expect(late).toMatchObject({ ...OUTAGE, forgiven: { 1: 2, 2: 2, 3: 2, 4: 1, 10: 1 } })
    expect(Object.keys(reportedAfter(OUTAGE, '900t').forgiven)).toHaveLength(MOST_CUSTOMERS)
  })
})

describe('a probe of an outage', () => {
  it('that fails puts off the next one, twice as long each time and up to a minute', () => {
    let breaker = OUTAGE
    const waits: number[] = []
    for (let n = 0; n < 6; n++) {
      breaker = answer(breaker, 'trouble')
      waits.push((breaker.probeAt ?? 0) - NOW)
    }
    expect(waits).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000])
    expect(breaker).toMatchObject({ state: 'open', failed: 6, openedAt: NOW })
    expect([intervalMs(0, 1), intervalMs(1, 0.5), intervalMs(1000, 1)]).toEqual([5500, 10_500, 60_000])
  })

  it.each(['well', 'neutral', 'denied'] as const)('that is answered "%s" lets calls be tried', (health) => {
    const out = answer(OUTAGE, 'trouble')
    expect(answer(out, health)).toMatchObject({ state: 'trying', probeAt: null, openedAt: NOW })
  })
})

describe('while it is trying', () => {
  it.each([
    ['9w', 1000, 'trying'],
    ['10w', 1000, 'closed'],
    ['9w 1n 1d 1w', 1000, 'closed'],
    ['9w 1t 9w', 1000, 'trying'],
    ['10t', 10, 'open'],
    ['9t', 9, 'trying'],
    ['100t', 9, 'trying'],
    ['9t 1w 9t', 1000, 'trying'],
  ])('%s of %d customers make it %s', (calls, customers, state) => {
    expect(reportedAfter(TRYING, calls, { customers }).state).toBe(state)
  })

  it('it opens anew, as the same outage', () => {
    const worn = answer(answer(answer(OUTAGE, 'trouble'), 'trouble'), 'well')
    const again = reportedAfter(worn, '10t', { now: NOW + 1 })
    expect(again).toMatchObject({ openedAt: NOW, failed: 2, probeAt: NOW + 1, forgiven: {} })
  })

  it('calls that were begun before the outage say nothing of how it is now', () => {
    const trying = { ...TRYING, from: 5 }
    expect(reportedAfter(trying, '20t 20d', { epoch: '4' })).toBe(trying)
    expect(reportedAfter(trying, '20w', { epoch: '4' })).toBe(trying)
    expect(reportedAfter(trying, '10t', { epoch: '5' }).state).toBe('open')
  })
})
