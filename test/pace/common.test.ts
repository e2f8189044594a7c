import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CLOSED, isCounting, isProbeDue, MOST_CUSTOMERS } from '../../src/pace/breaker.ts'
import { afterCalls, afterProbe, type CommonPace, LONGEST_HOLD_MS } from '../../src/pace/common.ts'
import { eventsOf } from '../../src/pace/events.ts'
import type { CallOutcome, ServiceHealth as Health } from '../../src/pace/pace.ts'
import { readTrouble, writeTrouble } from '../../src/pace/stored.ts'
import { runs } from '../support/size.ts'

const NOW = 1_000_000
const START: CommonPace = {
  ceiling: 160,
  rate: 160,
  raisedAt: 0,
  epoch: 0,
  notBefore: null,
  busy: {},
  held: {},
  breaker: CLOSED,
}

const call = (id: number, health: Health, more: Partial<CallOutcome> = {}): CallOutcome => ({
  id: String(id),
  epoch: '0',
  health,
  busy: false,
  holdMs: 0,
  ...more,
})
const calls = (count: number, health: Health, more: Partial<CallOutcome> = {}) =>
  Array.from({ length: count }, (_, n) => call(n + 1, health, more))

const probe = (health: Health) => ({ health, now: NOW, random: 0 })
const OPEN = afterCalls(START, calls(10, 'trouble'), NOW)

describe('busy answers', () => {
  it('for one customer again and again hold every process once for long', () => {
    const asks = (id: number, pace: CommonPace) =>
      afterCalls(
        pace,
        [call(id, 'neutral', { busy: true, holdMs: 3_600_000, epoch: String(pace.epoch) })],
        NOW,
      )
    const once = asks(1, START)
    expect(once.notBefore).toBe(NOW + 3_600_000)
    const again = asks(1, { ...once, notBefore: NOW })
    expect(again.notBefore).toBe(NOW + 10_000)
    expect(asks(2, again).notBefore).toBe(NOW + 60_000)
    expect(asks(1, { ...again, notBefore: null, held: { 1: NOW - 7_200_001 } }).notBefore).toBe(
      NOW + 3_600_000,
    )
    // Others who are busy meanwhile push it out of no list.
    const others = calls(50, 'neutral', { busy: true }).map((each, n) => ({
      ...each,
      id: String(n + 100),
      epoch: String(n),
    }))
    const later = afterCalls({ ...again, epoch: 0, notBefore: null }, others, NOW)
    expect(asks(1, later).notBefore).toBe(NOW + 10_000)
  })

  it('for one customer after another hold every process for long once', () => {
    const asks = (id: number, pace: CommonPace, now: number) =>
      afterCalls(pace, [call(id, 'neutral', { busy: true, holdMs: 600_000 })], now)
    const good = (pace: CommonPace, now: number) => afterCalls(pace, calls(3, 'well'), now)
    const first = asks(1, START, NOW)
    // Calls that were under way when it began prove nothing.
    expect(good(first, NOW + 599_999)).toBe(first)
    const later = NOW + 600_001
    expect(asks(2, first, later).notBefore).toBe(later + 60_000)
    const second = asks(2, good(first, later), later)
    expect(second.notBefore).toBe(later + 10_000)
    expect(asks(3, second, later + 10_001).notBefore).toBe(later + 70_001)
    expect(asks(3, good(second, later + 10_000), later + 10_001).notBefore).toBe(later + 20_001)
    // A time of a clock that was set back stops no call, and goes with the next good call.
    expect(good({ ...first, notBefore: later + 86_400_000 }, later).notBefore).toBeNull()
    // And long after all that it is the service again that asks.
    const tomorrow = NOW + 86_400_000
    expect(asks(4, good(second, later + 10_000), tomorrow).notBefore).toBe(tomorrow + 600_000)
  })

  it('of one epoch halve the rate once, those of the next once more', () => {
    const once = afterCalls(START, calls(50, 'neutral', { busy: true }), NOW)
    expect(once).toMatchObject({ rate: 80, epoch: 1, raisedAt: NOW })
    expect(afterCalls(once, calls(50, 'neutral', { busy: true }), NOW)).toBe(once)
    const twice = afterCalls(once, calls(50, 'neutral', { busy: true, epoch: '1' }), NOW)
    expect(twice).toMatchObject({ rate: 40, epoch: 2 })
  })

  it('for one customer again and again lower the rate once', () => {
    const busy = (id: number, epoch: string) => call(id, 'neutral', { busy: true, epoch })
    const often = [busy(1, '0'), busy(1, '1'), busy(1, '2'), busy(1, '3')]
    expect(afterCalls(START, often, NOW)).toMatchObject({ rate: 80, epoch: 1 })
    expect(afterCalls(START, [...often, busy(2, '1')], NOW)).toMatchObject({ rate: 40, epoch: 2 })
  })

  it('are failures as well, whatever their epoch', () => {
    expect(afterCalls(START, calls(10, 'trouble', { busy: true }), NOW).breaker.state).toBe('open')
  })

  it('bind every process to the longest wait that was asked for, of at most an hour', () => {
    const held = afterCalls(
      START,
      [call(1, 'neutral', { holdMs: 9000 }), call(2, 'neutral', { holdMs: 4000 })],
      NOW,
    )
    expect(held.notBefore).toBe(NOW + 9000)
    expect(afterCalls(held, [call(1, 'neutral', { holdMs: 100 })], NOW).notBefore).toBe(NOW + 9000)
    const day = afterCalls(START, [call(1, 'neutral', { holdMs: 86_400_000 })], NOW)
    expect(day.notBefore).toBe(NOW + LONGEST_HOLD_MS)
    expect(eventsOf(START, day, NOW)).toEqual([{ kind: 'held', forMs: LONGEST_HOLD_MS }])
  })
})

describe('the end of an outage', () => {
  it('is a slow start in an epoch of its own, and attempts are given back', () => {
    const out = afterProbe(OPEN, probe('trouble')).pace
    const { pace, giveBack } = afterProbe(out, probe('well'))
    expect(pace).toMatchObject({ rate: 10, epoch: 1, breaker: { state: 'trying', from: 1 } })
    expect(Object.keys(giveBack)).toHaveLength(10)
    expect(pace.breaker.forgiven).toEqual({})
    expect(eventsOf(out, pace, NOW)).toEqual([{ kind: 'trying', rate: 10, stoppedForMs: 0 }])
    expect(afterCalls(pace, calls(50, 'trouble', { busy: true }), NOW)).toBe(pace)
    const closed = afterCalls(pace, calls(10, 'well', { epoch: '1' }), NOW)
    expect(closed).toMatchObject({ rate: 10, breaker: { state: 'closed' } })
    expect(eventsOf(pace, closed, NOW)).toEqual([{ kind: 'closed' }])
  })

  it('gives nothing back while probes fail, nor where none has failed', () => {
    expect(afterProbe(OPEN, probe('trouble')).giveBack).toEqual({})
    expect(afterProbe(OPEN, probe('well')).giveBack).toEqual({})
    const trying = afterProbe(afterProbe(OPEN, probe('trouble')).pace, probe('well')).pace
    const again = afterCalls(trying, calls(10, 'trouble', { epoch: '1' }), NOW)
    expect(again.breaker.state).toBe('open')
    expect(afterProbe(again, probe('well'))).toMatchObject({
      pace: { breaker: { state: 'trying' } },
      giveBack: {},
    })
  })
})

it.each(['well', 'denied'] as const)('calls that are %s, of a service that works, change nothing', (health) =>
  expect(afterCalls(START, calls(100, health), NOW)).toBe(START),
)

// Anything that can be reported, in any order, at any times.
const healths = fc.constantFrom<Health>('well', 'trouble', 'denied', 'neutral')
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant('calls' as const),
      health: healths,
      count: fc.integer({ min: 1, max: 12 }),
      customers: fc.integer({ min: 1, max: 12 }),
      lateBy: fc.nat(3),
      busy: fc.boolean(),
      holdMs: fc.constantFrom(0, 0, 5000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('probe' as const), health: healths }) },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 400_000 }) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type Scene = { readonly pace: CommonPace; readonly now: number }

function play({ pace, now }: Scene, what: Step): Scene {
  switch (what.what) {
    case 'time':
      return { pace, now: now + what.ms }
    case 'probe': {
      if (!isProbeDue(pace.breaker, now)) return { pace, now }
      return { pace: stored(afterProbe(pace, { health: what.health, now, random: 0.5 }).pace), now }
    }
    case 'calls': {
      const { health, busy, holdMs, customers, lateBy } = what
      const epoch = String(Math.max(0, pace.epoch - lateBy))
      const outcomes = Array.from({ length: what.count }, (_, n) =>
        call(n % customers, health, { busy, holdMs, epoch }),
      )
      return { pace: stored(afterCalls(pace, outcomes, now)), now }
    }
    default:
      return what satisfies never
  }
}

/** Through the columns of the row and back. */
function stored(pace: CommonPace): CommonPace {
  const { state, openedAt, probeAt } = pace.breaker
  const trouble = JSON.parse(JSON.stringify(writeTrouble(pace)))
  const read = { ...pace, ...readTrouble({ state, openedAt, probeAt, trouble }) }
  expect(read).toEqual(pace)
  return read
}

const scenes = fc.array(step, { maxLength: 60 }).map((steps) => steps.reduce(play, { pace: START, now: NOW }))

it('whatever is reported, the row is one that the table allows', () => {
  fc.assert(
    fc.property(scenes, ({ pace: { rate, ceiling, breaker } }) => {
      expect(rate).toBeGreaterThanOrEqual(0.5)
      expect(rate).toBeLessThanOrEqual(ceiling)
      expect(breaker.probeAt === null).toBe(breaker.state !== 'open')
      expect(breaker.openedAt === null).toBe(breaker.state === 'closed')
      for (const tally of [breaker.forgiven, breaker.troubles])
        expect(Object.keys(tally).length).toBeLessThanOrEqual(MOST_CUSTOMERS)
    }),
    { numRuns: runs(2000) },
  )
})

it('wherever it stands, successful probes and then good calls close it for all processes', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      let { pace, now } = scene
      now = Math.max(now, pace.breaker.probeAt ?? now)
      expect(now - scene.now).toBeLessThanOrEqual(66_000)
      if (isProbeDue(pace.breaker, now)) pace = afterProbe(pace, { health: 'well', now, random: 1 }).pace
      const good = calls(10, 'well', { epoch: String(pace.epoch) })
      pace = afterCalls(pace, good, now)
      expect(pace.breaker).toMatchObject({ state: 'closed' })
      expect([pace.breaker.forgiven, pace.breaker.troubles]).toEqual([{}, {}])
      expect(isCounting(pace.breaker)).toBe(false)
    }),
    { numRuns: runs(2000) },
  )
})

it('the failures of a few customers open nothing, whatever the others do', () => {
  const others = fc.oneof(
    fc.array(fc.constantFrom<Health>('well', 'neutral'), { maxLength: 3 }),
    fc.constant<Health[]>([]),
  )
  const failing = fc.tuple(fc.constantFrom<Health>('trouble', 'denied'), fc.integer({ min: 1, max: 9 }))
  fc.assert(
    fc.property(fc.array(fc.tuple(failing, others), { maxLength: 60 }), fc.boolean(), (turns, trying) => {
      let pace = trying ? afterProbe(OPEN, probe('well')).pace : START
      for (const [[health, id], rest] of turns) {
        const outcomes = [call(id, health), ...rest.map((other, n) => call(n + 10, other))]
        const ofNow = outcomes.map((each) => ({ ...each, epoch: String(pace.epoch) }))
        pace = afterCalls(pace, ofNow, NOW)
        expect(pace.breaker.state).not.toBe('open')
      }
    }),
  )
})

it.each([null, 7, 'x', [], { troubles: 'x', successes: -1, forgiven: { 1: 1.5 } }])(
  'counts that read %j, which rollcall did not write, count nothing',
  (trouble) => {
    const row = { state: 'closed', openedAt: null, probeAt: null, trouble } as const
    expect(readTrouble(row)).toEqual({ breaker: CLOSED, busy: {}, held: {} })
  },
)
