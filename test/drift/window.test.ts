import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterTaking, countedForMs, type Round, tickMs, turnOf } from '../../src/drift/window.ts'
import { runs } from '../support/size.ts'

const WEEK = 604_800_000
const START = 1_800_000_000_000
const round = (over: Partial<Round> = {}): Round => ({
  ...{ startedAt: START, ended: false, population: 1000, pass: 1, taken: 0, after: null },
  ...over,
})
const at = (share: number, over: Partial<Round> = {}, room = 10) =>
  turnOf(round(over), { nowMs: START + WEEK * share, periodMs: WEEK, room })

describe('whom a round takes now', () => {
  test.each<[string, number, Partial<Round>, ReturnType<typeof turnOf>]>([
    ['nobody as it begins', 0, {}, { kind: 'rest' }],
    ['one of a thousand, a thousandth of the way', 0.00082, {}, { kind: 'take', count: 1 }],
    ['as many as are due', 0.405, { taken: 497 }, { kind: 'take', count: 3 }],
    ['no more than there is room for', 0.405, { taken: 100 }, { kind: 'take', count: 10 }],
    ['nobody too early', 0.4, { taken: 500 }, { kind: 'rest' }],
    ['whoever is left at the end of its first pass', 0.82, { taken: 1000 }, { kind: 'take', count: 10 }],
    ['nobody again before the second pass opens', 0.5, { pass: 2 }, { kind: 'rest' }],
    ['whoever was passed over, in the second pass', 0.82, { pass: 2 }, { kind: 'take', count: 10 }],
    ['nobody before the third pass opens', 0.84, { pass: 3 }, { kind: 'rest' }],
    ['whoever is still left, in the third', 0.86, { pass: 3 }, { kind: 'take', count: 10 }],
    ['whoever is left, when it is late', 1.7, { taken: 400 }, { kind: 'take', count: 10 }],
    ['nobody once it has ended', 0.89, { ended: true }, { kind: 'rest' }],
    ['a new one begins within the period', 0.91, { ended: true }, { kind: 'begin' }],
    ['a new one begins when the clock was set back', -0.1, {}, { kind: 'begin' }],
  ])('%s', (_, share, over, turn) => {
    expect(at(share, over)).toEqual(turn)
  })

  test('there is none yet', () => {
    expect(turnOf(null, { nowMs: START, periodMs: WEEK, room: 10 })).toEqual({ kind: 'begin' })
  })

  test('without room nobody is taken', () => {
    expect(at(2, {}, 0)).toEqual({ kind: 'rest' })
    expect(at(2, {}, 0.9)).toEqual({ kind: 'rest' })
  })
})

describe('after taking', () => {
  const at = { nowMs: START + 1, periodMs: WEEK }
  const late = { ...at, nowMs: START + WEEK }

  test.each<[string, Partial<Round>, Parameters<typeof afterTaking>[1], Partial<Round>]>([
    ['it goes on', {}, { ...at, found: { keys: ['a', 'b'], upTo: 'b' } }, { taken: 2, after: 'b' }],
    ['it goes on where nobody was found', {}, { ...at, found: { keys: [], upTo: 'z' } }, { after: 'z' }],
    [
      'a pass ends',
      { after: 'b', taken: 2 },
      { ...at, found: { keys: ['c'], upTo: null } },
      { taken: 3, pass: 2 },
    ],
    [
      'only the first counts',
      { pass: 2 },
      { ...at, found: { keys: ['a'], upTo: 'a' } },
      { pass: 2, after: 'a' },
    ],
    [
      'the third is the last',
      { pass: 3 },
      { ...at, found: { keys: ['c'], upTo: null } },
      { pass: 3, ended: true },
    ],
    ['a late one has one', {}, { ...late, found: { keys: [], upTo: null } }, { ended: true }],
  ])('%s', (_, before, taken, after) => {
    expect(afterTaking(round(before), taken)).toEqual(round(after))
  })
})

/** The service of a tick: takes what it is told to, until the round rests. */
function walk(options: {
  population: number
  ticks: readonly number[]
  room: number
  deaf: ReadonlySet<number>
}) {
  const { population, ticks, room, deaf } = options
  const period = 1_000_000
  const seen = new Map<string, number[]>()
  let current: Round | null = null
  let now = START
  const unseen = (since: number, after: string | null) =>
    Array.from({ length: population }, (_, index) => `k${String(index).padStart(4, '0')}`).filter(
      (key) => (after === null || key > after) && (seen.get(key)?.at(-1) ?? -1) < since,
    )
  for (const [index, wait] of ticks.entries()) {
    now += wait
    for (let beats = 0; beats < 4; beats++) {
      const turn = turnOf(current, { nowMs: now, periodMs: period, room })
      if (turn.kind === 'begin') {
        current = round({ startedAt: now, population })
        continue
      }
      if (turn.kind === 'rest' || !current) break
      const keys = unseen(current.startedAt, current.after).slice(0, turn.count)
      if (!deaf.has(index)) for (const key of keys) seen.set(key, [...(seen.get(key) ?? []), now])
      const upTo = keys.length < turn.count ? null : (keys.at(-1) ?? null)
      current = afterTaking(current, { nowMs: now, periodMs: period, found: { keys, upTo } })
    }
  }
  return { seen, period, end: now }
}

describe('round after round', () => {
  test('everybody is seen within the period, however many there are, while ticks come and are heard', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 120 }),
        fc.array(fc.integer({ min: 1000, max: 9000 }), { minLength: 500, maxLength: 700 }),
        (population, ticks) => {
          const { seen, period, end } = walk({ population, ticks, room: 5, deaf: new Set() })
          expect(seen.size).toBe(population)
          for (const times of seen.values()) {
            for (const [index, time] of [...times, end].entries())
              expect(time - (index === 0 ? START : (times[index - 1] ?? 0))).toBeLessThanOrEqual(period)
          }
        },
      ),
      { numRuns: runs(60) },
    )
  })

  test('who could not be verified comes again in the same round', () => {
    const ticks = Array.from({ length: 88 }, () => 10_000)
    const deaf = new Set(Array.from({ length: 80 }, (_, index) => index).filter((index) => index % 2 === 0))
    const { seen } = walk({ population: 40, ticks, room: 5, deaf })
    expect(seen.size).toBe(40)
  })

  test('it catches up after a standstill, at the pace that there is room for', () => {
    const ticks = [
      0,
      ...Array.from({ length: 30 }, () => 1000),
      600_000,
      ...Array.from({ length: 60 }, () => 1000),
    ]
    const { seen } = walk({ population: 100, ticks, room: 1, deaf: new Set() })
    expect(seen.size).toBeGreaterThanOrEqual(75)
  })
})

test('a tick comes every five seconds, and more often for a short period', () => {
  expect([WEEK, 250_000, 100_000, 2000].map(tickMs)).toEqual([5000, 5000, 2000, 250])
})

test('everybody is counted anew every ten minutes, and more often for a short period', () => {
  expect([WEEK, 100_000].map(countedForMs)).toEqual([600_000, 2000])
})
