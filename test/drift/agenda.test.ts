// Who counts, and who is looked at again, in a run.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Agenda,
  afterLooks,
  closed,
  doneOf,
  dueOf,
  MOST_WAITING,
  NOTHING_YET,
  nextAt,
  soFar,
} from '../../src/drift/agenda.ts'
import { EMPTY_TALLY } from '../../src/drift/tally.ts'
import type { CheckVerdict, Verified } from '../../src/drift/words.ts'

const MISSING: CheckVerdict = { kind: 'missing', fields: [], cause: 'edited-at-service', access: 'lost' }
const AGREES: CheckVerdict = { kind: 'agrees' }

function looked(key: string, verdict: CheckVerdict, more: Partial<Verified> = {}): Verified {
  const none = { standing: null, findingId: null, resolved: null, lookAgainInMs: null }
  return { key, verdict, ...none, more: false, repairing: false, shown: [], ...more }
}
const suspected = (key: string, at = 50) => looked(key, MISSING, { standing: 'suspected', lookAgainInMs: at })
const found = (key: string) => looked(key, MISSING, { standing: 'found', findingId: `f-${key}` })

const NOBODY = new Map()

function told(agenda: Agenda, ...verified: readonly Verified[]): Agenda {
  const known = new Set(agenda.waiting.map(({ key }) => key))
  const fresh = verified.map(({ key }) => key).filter((key) => !known.has(key))
  return afterLooks(agenda, { verified, fresh, met: NOBODY, nowMs: 0 })
}

describe('a run', () => {
  test('looks again at somebody who was found before and differs in more by now', () => {
    const more = { standing: 'found', findingId: 'f-a', more: true, lookAgainInMs: 50 } as const
    const first = told(NOTHING_YET, looked('a', MISSING, more))
    expect(first).toMatchObject({ tally: { checked: 0 }, found: [], waiting: [{ key: 'a', at: 50 }] })
    expect(told(first, found('a'))).toMatchObject({ tally: { checked: 1 }, found: ['f-a'], waiting: [] })
    // One who differs in other ways at each look counts by what is known of it.
    const ever = Array.from({ length: 6 }).reduce<Agenda>(
      (one) => told(one, looked('a', MISSING, more)),
      NOTHING_YET,
    )
    expect(ever).toMatchObject({ suspects: EMPTY_TALLY, found: ['f-a'], waiting: [] })
  })

  test('counts a difference once a second look has found it, and not by the first', () => {
    const first = told(NOTHING_YET, suspected('a'), looked('b', AGREES))
    expect(first).toMatchObject({ tally: { checked: 1, agrees: 1 }, found: [] })
    expect(nextAt(first)).toBe(50)
    expect(dueOf(first, 49, 10)).toEqual({ due: [], newOnes: 10 })
    expect(dueOf(first, 50, 10)).toMatchObject({ due: [{ key: 'a' }], newOnes: 9 })
    const second = told(first, found('a'))
    expect(second).toMatchObject({
      waiting: [],
      tally: { checked: 2, kinds: { missing: 1 } },
      found: ['f-a'],
    })
  })

  test('takes back what a second look does not show', () => {
    const end = told(told(NOTHING_YET, suspected('a')), looked('a', AGREES))
    expect(end).toMatchObject({ waiting: [], tally: { agrees: 1, kinds: {} }, suspects: EMPTY_TALLY })
  })

  test('tries again whoever changes or is not answered, and not for ever', () => {
    for (const verdict of [
      { kind: 'skipped', why: 'owed' },
      { kind: 'no-answer', why: 'trouble' },
    ] as const) {
      let agenda = NOTHING_YET
      let looks = 0
      do {
        agenda = told(agenda, looked('a', verdict))
        looks++
      } while (agenda.waiting.length > 0)
      expect(looks).toBe(3)
      expect(doneOf(agenda)).toBe(1)
    }
    expect(told(NOTHING_YET, looked('a', { kind: 'skipped', why: 'not-ours' })).waiting).toEqual([])
  })

  test('says of a difference that no second look was able to confirm just that', () => {
    let agenda = NOTHING_YET
    for (let looks = 0; looks < 6; looks++) agenda = told(agenda, suspected('a'))
    expect(agenda).toMatchObject({
      waiting: [],
      suspects: { checked: 1, vanished: 1 },
      found: [],
      tally: { checked: 0 },
    })
  })

  test('counts the access of whoever is held, once, also where others have found something else', () => {
    const held = looked('a', { kind: 'skipped', why: 'held', access: 'undue' })
    const alone = told(NOTHING_YET, held)
    expect(alone).toMatchObject({ waiting: [], tally: { access: { undue: 1 }, heldAccess: { undue: 1 } } })
    const verdict = { kind: 'differs', fields: ['email'], cause: 'edited-at-service', access: null } as const
    const met = new Map([['a', { findingId: 'f-other', verdict }]])
    const both = afterLooks(NOTHING_YET, { verified: [held], fresh: ['a'], met, nowMs: 0 })
    expect(both.tally).toMatchObject({ checked: 1, access: { undue: 1 }, skipped: {} })
  })

  test('counts what others have found meanwhile, whatever its own look says by then, once and at once', () => {
    const undue = {
      kind: 'unexpected-access',
      fields: [],
      cause: 'edited-at-service',
      access: 'undue',
    } as const
    const met = new Map([['a', { findingId: 'f-other', verdict: undue }]])
    const looks: readonly Verified[] = [
      looked('a', AGREES, { resolved: 'repaired', findingId: 'f-other' }),
      looked('a', { kind: 'skipped', why: 'owed' }),
      looked('a', { kind: 'no-answer', why: 'busy' }),
    ]
    for (const look of looks) {
      const end = afterLooks(NOTHING_YET, {
        verified: [look, looked('b', AGREES)],
        fresh: ['a', 'b'],
        met,
        nowMs: 0,
      })
      expect(end).toMatchObject({ waiting: [], found: ['f-other'], suspects: EMPTY_TALLY })
      expect(end.tally).toMatchObject({
        checked: 2,
        agrees: 1,
        kinds: { 'unexpected-access': 1 },
        access: { undue: 1 },
      })
    }
    // What it has found itself is told as that; and what it suspects by now is looked at again.
    const own = afterLooks(NOTHING_YET, { verified: [found('a')], fresh: ['a'], met, nowMs: 0 })
    expect(own).toMatchObject({ found: ['f-a'], tally: { checked: 1, kinds: { missing: 1 } } })
    const other = afterLooks(NOTHING_YET, { verified: [suspected('a')], fresh: ['a'], met, nowMs: 0 })
    expect(other).toMatchObject({ waiting: [{ key: 'a' }], found: [], tally: { checked: 0 } })
  })

  test('takes nobody new while too many wait for their second look', () => {
    const many = Array.from({ length: MOST_WAITING }, (_, n) => suspected(`k${n}`))
    expect(dueOf(told(NOTHING_YET, ...many), 0, 50)).toEqual({ due: [], newOnes: 0 })
  })

  test('that ends early counts what the last looks said, and suspects nobody of more', () => {
    const agenda = told(
      NOTHING_YET,
      suspected('a'),
      looked('b', { kind: 'no-answer', why: 'trouble' }),
      looked('c', AGREES),
    )
    expect(soFar(agenda)).toMatchObject({ checked: 2, kinds: { missing: 1 }, noAnswer: { trouble: 1 } })
    expect(closed(agenda)).toMatchObject({
      waiting: [],
      suspects: { checked: 1 },
      tally: { checked: 1, kinds: {}, noAnswer: { trouble: 1 } },
    })
  })

  test('keeps whoever a stop came before', () => {
    const agenda = afterLooks(NOTHING_YET, {
      verified: [looked('a', AGREES)],
      fresh: ['a', 'b'],
      met: NOBODY,
      nowMs: 7,
    })
    expect(agenda.waiting).toEqual([{ key: 'b', at: 7, looks: 0, last: null }])
    expect(closed(agenda).tally).toMatchObject({ checked: 1, skipped: {} })
  })
})

test('whatever the looks say, each customer counts once, and found are just those whom a look called so', () => {
  const verdicts: readonly ((key: string) => Verified)[] = [
    suspected,
    found,
    (key) => looked(key, AGREES),
    (key) => looked(key, { kind: 'skipped', why: 'moved' }),
    (key) => looked(key, { kind: 'skipped', why: 'rejected' }),
    (key) => looked(key, { kind: 'no-answer', why: 'busy' }),
  ]
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.nat(verdicts.length - 1), { minLength: 6 }), { maxLength: 8 }),
      (said) => {
        let agenda = NOTHING_YET
        let called = 0
        for (let round = 0; round === 0 || agenda.waiting.length > 0; round++) {
          const keys = round === 0 ? said.map((_, n) => String(n)) : agenda.waiting.map(({ key }) => key)
          const verified = keys.map((key) => verdicts[said[Number(key)]?.[round] ?? 0]?.(key) ?? found(key))
          called += verified.filter(({ standing }) => standing === 'found').length
          agenda = told(agenda, ...verified)
          expect(doneOf(agenda) + agenda.waiting.length).toBe(said.length)
        }
        expect(agenda.found).toHaveLength(called)
      },
    ),
  )
})
