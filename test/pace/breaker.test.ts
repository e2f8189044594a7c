import { describe, expect, it } from 'vitest'
import { type Breaker, CLOSED, hear, intervalMs, isClosedFor } from '../../src/pace/breaker.ts'
import type { Sign } from '../../src/pace/pace.ts'
import { probed } from '../../src/pace/probed.ts'
import { MOST_CUSTOMERS } from '../../src/pace/tally.ts'

const NOW = 1_000_000
const OURS = 'ours'

/** `3t 1w`: three troubles of customers 1, 2, 3 and so on, then a good call. */
function toldAfter(
  breaker: Breaker,
  calls: string,
  { customers = 1000, credentials = OURS, now = NOW, epoch = '0' } = {},
) {
  const signs: Record<string, Sign> = { t: 'trouble', w: 'well', d: 'denied', n: 'neutral' }
  let heard = breaker
  let customer = 0
  for (const [, count, letter = ''] of calls.matchAll(/(\d+)([a-z])/g)) {
    for (let n = 0; n < Number(count); n++) {
      const sign = signs[letter]
      if (!sign) throw new Error(`no sign: ${letter}`)
      const id = String((customer++ % customers) + 1)
      heard = hear(heard, { id, epoch, sign }, { credentials, now })
    }
  }
  return heard
}

function answer(breaker: Breaker, sign: Sign, { credentials = OURS, now = NOW, random = 0 } = {}) {
  return probed(breaker, { sign, credentials, now, random })
}

const OUTAGE = toldAfter(CLOSED, '10t')
const TRYING = answer(OUTAGE, 'well')
const ASKING = toldAfter(CLOSED, '3d')
const HALTED = answer(ASKING, 'denied')

describe('it opens for an outage', () => {
  it.each([
    ['10t', 5, true],
    ['9t', 9, false],
    ['10t', 4, false],
    ['1000t', 4, false],
    ['1000t', 1, false],
    ['9t 1w 9t', 1000, false],
    ['9t 5n 1t', 1000, true],
    ['9t 1d 1t', 1000, true],
    ['10w 10t', 1000, true],
    ['100n', 1000, false],
  ])('after %s of %d customers: %s', (calls, customers, opens) => {
    const breaker = toldAfter(CLOSED, calls, { customers })
    expect(breaker.state).toBe(opens ? 'open' : 'closed')
    expect(isClosedFor(breaker, OURS)).toBe(opens)
    expect(isClosedFor(breaker, 'others')).toBe(opens)
  })

  it('and whoever failed by it is remembered, also who was under way, but no more than a limit', () => {
    const late = toldAfter(OUTAGE, '3t 2w 2n', { now: NOW + 100 })
    expect(late).toMatchObject({ ...OUTAGE, burnt: { 1: 2, 2: 2, 3: 2, 4: 1, 10: 1 } })
    expect(Object.keys(toldAfter(OUTAGE, '900t').burnt)).toHaveLength(MOST_CUSTOMERS)
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
    expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000])
    expect(breaker).toMatchObject({ state: 'open', cause: 'outage', failed: 6, openedAt: NOW })
    expect([intervalMs(0, 1), intervalMs(1, 0.5), intervalMs(1000, 1)]).toEqual([5500, 10_500, 60_000])
  })

  it.each(['well', 'neutral'] as const)('that is answered "%s" lets calls be tried', (sign) => {
    expect(answer(OUTAGE, sign)).toMatchObject({ state: 'trying', cause: null, probeAt: null, openedAt: NOW })
  })

  it('that is denied stops those with these credentials only, from then on', () => {
    const breaker = answer(OUTAGE, 'denied', { now: NOW + 60_000 })
    expect(breaker).toMatchObject({ state: 'open', cause: 'credentials', refused: [OURS], failed: 1 })
    expect(breaker.openedAt).toBe(NOW + 60_000)
    expect([isClosedFor(breaker, OURS), isClosedFor(breaker, 'others')]).toEqual([true, false])
  })
})

describe('while it is trying', () => {
  it.each([
    ['9w', 1000, 'trying'],
    ['10w', 1000, 'closed'],
    ['9w 1n 1d 1w', 1000, 'closed'],
    ['9w 1t 9w', 1000, 'trying'],
    ['3t', 2, 'open'],
    ['2t', 2, 'trying'],
    ['100t', 1, 'trying'],
    ['2t 1w 2t', 1000, 'trying'],
  ])('%s of %d customers make it %s', (calls, customers, state) => {
    expect(toldAfter(TRYING, calls, { customers }).state).toBe(state)
  })

  it('it opens anew with the interval growing on, and begins again once it had closed', () => {
    const worn = answer(answer(answer(OUTAGE, 'trouble'), 'trouble'), 'well')
    const again = toldAfter(worn, '3t', { now: NOW + 1 })
    expect(again).toMatchObject({ openedAt: NOW, failed: 2, probeAt: NOW + 1 + 40_000 })
    expect(toldAfter(toldAfter(worn, '10w'), '10t')).toMatchObject({ failed: 0, probeAt: NOW + 5000 })
  })

  it('calls that were begun before the outage say nothing of how it is now', () => {
    const trying = { ...TRYING, from: 5 }
    expect(toldAfter(trying, '20t 20d', { epoch: '4' })).toBe(trying)
    expect(toldAfter(trying, '20w', { epoch: '4' })).toBe(trying)
    expect(toldAfter(trying, '3t', { epoch: '5' }).state).toBe('open')
  })
})

describe('denied calls', () => {
  it.each([
    ['3d', 3, true],
    ['2d', 2, false],
    ['300d', 2, false],
    ['2d 1w 2d', 1000, false],
    ['2d 1t 1n 1d', 1000, true],
  ])(
    '%s of %d customers: it is asked whether they or the credentials are refused: %s',
    (calls, customers, asks) => {
      const breaker = toldAfter(CLOSED, calls, { customers })
      expect(breaker).toMatchObject(
        asks ? { state: 'closed', cause: 'credentials', refused: [OURS], probeAt: NOW } : { cause: null },
      )
      expect([isClosedFor(breaker, OURS), isClosedFor(breaker, 'others')]).toEqual([asks, false])
    },
  )

  it('of one process are not ended by the good calls of another with other credentials', () => {
    const breaker = toldAfter(toldAfter(toldAfter(CLOSED, '2d 1t'), '5w', { credentials: 'others' }), '2n 1d')
    expect(breaker.refused).toEqual([OURS])
    expect(toldAfter(toldAfter(CLOSED, '2d'), '1w').denied).toEqual({})
  })

  it('when the probe is denied too: the credentials are refused', () => {
    expect(HALTED).toMatchObject({ state: 'open', cause: 'credentials', failed: 1, probeAt: NOW + 5000 })
    expect(HALTED.burnt).toEqual({ 1: 1, 2: 1, 3: 1 })
    expect(HALTED.denied).toEqual({})
  })

  it('when it is well: those customers are, and the next question comes later each time', () => {
    let breaker = CLOSED
    let now = NOW
    const waits: number[] = []
    for (let n = 0; n < 6; n++) {
      breaker = answer(toldAfter(breaker, '3d', { now }), 'well', { now })
      expect(breaker).toMatchObject({ state: 'closed', cause: null, refused: [], probeAt: null })
      expect([breaker.burnt, breaker.denied]).toEqual([{}, {}])
      const wait = (breaker.quietUntil ?? 0) - now
      waits.push(wait)
      expect(toldAfter(breaker, '100d', { now: now + wait - 1 }).cause).toBe(null)
      now += wait
      expect(toldAfter(breaker, '3d', { now }).cause).toBe('credentials')
    }
    expect(waits).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000])
    const later = now + 600_001
    expect(answer(toldAfter(breaker, '3d', { now: later }), 'well', { now: later }).quietUntil).toBe(
      later + 5000,
    )
  })

  it('when the probe fails: it is asked again', () => {
    expect(answer(ASKING, 'trouble')).toMatchObject({ cause: 'credentials', probeAt: NOW + 5000 })
    expect(answer(answer(ASKING, 'trouble'), 'trouble')).toMatchObject({ probeAt: NOW + 10_000 })
  })
})

describe('refused credentials', () => {
  it.each(['denied', 'trouble', 'neutral'] as const)('stay so after a probe that is "%s"', (sign) => {
    expect(answer(HALTED, sign)).toMatchObject({
      state: 'open',
      refused: [OURS],
      probeAt: NOW + 10_000,
      failed: 2,
    })
  })

  it('are taken again after one that is well', () => {
    expect(answer(HALTED, 'well')).toMatchObject({ state: 'trying', cause: null, refused: [] })
  })

  it('do not stop, and are not freed by, processes with others; an outage stops all', () => {
    expect(toldAfter(HALTED, '50w', { credentials: 'others' })).toMatchObject({
      state: 'open',
      refused: [OURS],
    })
    expect(answer(HALTED, 'well', { credentials: 'others' })).toBe(HALTED)
    const outage = toldAfter(HALTED, '10t', { credentials: 'others' })
    expect(outage).toMatchObject({ cause: 'outage', refused: [] })
  })

  it('of two processes are stopped and freed each by itself', () => {
    const both = toldAfter(HALTED, '3d', { credentials: 'others' })
    expect(both).toMatchObject({ state: 'open', refused: [OURS, 'others'], probeAt: NOW })
    const one = answer(both, 'well', { credentials: 'others' })
    expect(one).toMatchObject({ state: 'open', refused: [OURS] })
    expect(answer(one, 'well').state).toBe('trying')
  })
})
