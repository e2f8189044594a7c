// What a round counts, whatever its looks say and wherever it is stopped.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterBatch, type Counting, clearedUp, type Noted } from '../../src/drift/counting.ts'
import { EMPTY_TALLY, tallyOf } from '../../src/drift/tally.ts'
import type { Round } from '../../src/drift/window.ts'
import type { DriftVerdict, Verdict, Verified } from '../../src/drift/words.ts'

const AGREES: Verdict = { kind: 'agrees' }
const MISSING: DriftVerdict = { kind: 'missing', fields: [], cause: 'edited-at-service', access: 'lost' }
const OWED: Verdict = { kind: 'skipped', why: 'owed' }
const SILENT: Verdict = { kind: 'no-answer', why: 'trouble' }

type Standing = Verified['standing']

function looked(key: string, verdict: Verdict, standing: Standing = null): Verified {
  const none = { userId: key, findingId: null, resolved: null, lookAgainInMs: null }
  return { key, verdict, standing, ...none, more: false, repairing: false, shown: [] }
}

type Counted = Round & Counting
const BEGUN: Counted = {
  ...{ startedAt: 0, ended: false, population: 9, pass: 1, taken: 0, after: null },
  ...{ tally: EMPTY_TALLY, before: {}, doubted: false },
}
const AT = { nowMs: 1, periodMs: 1000 }

/** Of keys that a batch has found: an `upTo` of null ends the pass. */
function batch(
  verified: readonly Verified[],
  upTo: string | null = null,
  keys = verified.map(({ key }) => key),
) {
  return { found: { keys, upTo }, verified, notes: new Map<string, Noted>(), ...AT }
}

const SUSPECTED: Noted = { counted: false, as: null }
const COUNTED: Noted = { counted: true, as: null }
const countedAs = (as: DriftVerdict): Noted => ({ ...COUNTED, as })

test('whoever comes again counts by what is said then, and is not in two figures meanwhile', () => {
  const first = afterBatch(
    BEGUN,
    batch([looked('a', OWED), looked('b', SILENT), looked('c', SILENT), looked('d', AGREES)]),
  )
  expect(first).toMatchObject({
    pass: 2,
    tally: { checked: 1, skipped: { owed: 1 }, noAnswer: { trouble: 2 } },
  })
  const half = afterBatch(first, batch([looked('a', OWED), looked('b', AGREES)], 'b'))
  expect(half.tally).toMatchObject({ checked: 2, skipped: { owed: 1 }, noAnswer: { trouble: 1 } })
  const second = afterBatch(half, batch([looked('c', SILENT)]))
  expect(second).toMatchObject({ pass: 3, tally: half.tally })
  // A sync has seen both meanwhile.
  const third = afterBatch(second, batch([]))
  expect(third).toMatchObject({ ended: true })
  expect(third.tally).toEqual(tallyOf([AGREES, AGREES]))
})

test('of whoever is held meanwhile a round tells no access, which nobody would take back', () => {
  const held: Verdict = { kind: 'skipped', why: 'held', access: 'undue' }
  const { tally } = afterBatch(BEGUN, batch([looked('a', held), looked('b', AGREES)]))
  expect(tally).toMatchObject({ skipped: { held: 1 }, access: {}, heldAccess: {} })
})

test('a suspicion counts once it has ended, however often it is looked at', () => {
  const notes = new Map([
    ['a', SUSPECTED],
    ['b', SUSPECTED],
  ])
  const taken = [looked('a', MISSING, 'suspected'), looked('b', OWED), looked('c', OWED)]
  const { marks, ...round } = afterBatch(BEGUN, { ...batch(taken), notes: new Map([['b', SUSPECTED]]) })
  expect(round.tally).toEqual(tallyOf([OWED]))
  expect(marks).toEqual({ taken: ['a'], counted: [] })
  const open = [looked('a', MISSING, 'suspected'), looked('b', SILENT)]
  expect(clearedUp(round, open, notes)).toEqual({ ...round, marks: { taken: [], counted: [] } })
  const ended = [looked('a', MISSING, 'found'), looked('b', AGREES)]
  const counted = [
    { key: 'a', as: MISSING },
    { key: 'b', as: null },
  ]
  expect(clearedUp(round, ended, notes)).toEqual({
    ...round,
    ...{ tally: tallyOf([OWED, MISSING, AGREES]), marks: { taken: ['a', 'b'], counted } },
  })
})

test('whoever has counted counts no second time, whatever is found of it between two turns', () => {
  const before = { ...BEGUN, tally: tallyOf([AGREES, MISSING]) }
  const further = [looked('a', MISSING, 'found'), looked('b', AGREES), looked('c', MISSING, 'found')]
  const notes = new Map([
    ['a', COUNTED],
    ['b', countedAs(MISSING)],
  ])
  // The turn of c has not come.
  expect(clearedUp(before, further, notes)).toEqual({ ...before, marks: { taken: [], counted: [] } })
  expect(afterBatch(before, { ...batch(further), notes })).toMatchObject({
    tally: tallyOf([AGREES, MISSING, MISSING]),
    marks: { taken: ['a', 'b', 'c'], counted: [{ key: 'c', as: MISSING }] },
  })
})

describe('of drift that a round has counted by answers that nobody believed', () => {
  const EMPTIED = { ...BEGUN, tally: tallyOf([MISSING, MISSING, AGREES]), doubted: true }
  const notes = new Map([
    ['a', countedAs(MISSING)],
    ['b', countedAs(MISSING)],
    ['c', COUNTED],
  ])
  const differs: DriftVerdict = {
    ...{ kind: 'differs', fields: ['email'], cause: 'edited-at-service', access: null },
  }

  test.each<[what: string, Verified, readonly Verdict[]]>([
    ['a suspicion leaves it', looked('a', MISSING, 'suspected'), [MISSING, MISSING, AGREES]],
    ['silence leaves it', looked('a', SILENT), [MISSING, MISSING, AGREES]],
    ['the same counts no second time', looked('b', MISSING, 'found'), [MISSING, MISSING, AGREES]],
    ['what agrees takes its place', looked('a', AGREES), [MISSING, AGREES, AGREES]],
    ['another drift takes its place', looked('a', differs, 'found'), [MISSING, differs, AGREES]],
    ['whoever agreed has counted', looked('c', MISSING, 'found'), [MISSING, MISSING, AGREES]],
  ])('%s', (_, each, left) => {
    const tally = tallyOf(left)
    expect(clearedUp(EMPTIED, [each], notes).tally).toEqual(tally)
    expect(afterBatch({ ...EMPTIED, pass: 2 }, { ...batch([each], 'z'), notes }).tally).toEqual(tally)
  })

  test('it is one that was to be doubted, also once it no longer is', () => {
    const many = Array.from({ length: 9 }, (_, n) => `k${n}`)
    const missing = many.map((key) => looked(key, MISSING, 'found'))
    const emptied = afterBatch(BEGUN, batch(missing, 'k8'))
    expect(emptied.doubted).toBe(true)
    const counted = new Map(many.map((key) => [key, countedAs(MISSING)]))
    const filled = many.map((key) => looked(key, AGREES))
    expect(clearedUp(emptied, filled, counted)).toMatchObject({
      doubted: true,
      tally: { agrees: 9, kinds: {} },
    })
  })
})

test('one that is stopped goes on with the first who was not looked at, and counts nobody again', () => {
  const keys = ['a', 'b', 'c', 'd', 'e']
  const some = [looked('a', SILENT), looked('b', AGREES), looked('d', SILENT), looked('e', AGREES)]
  const stopped = afterBatch(BEGUN, batch(some, 'e', keys))
  expect(stopped).toMatchObject({ after: 'b', taken: 2, tally: { checked: 2, noAnswer: { trouble: 1 } } })
  expect(stopped.marks.counted).toEqual([
    { key: 'b', as: null },
    { key: 'e', as: null },
  ])
  const left = batch([looked('c', AGREES), looked('d', AGREES), looked('e', AGREES)])
  const next = afterBatch(stopped, { ...left, notes: new Map([['e', COUNTED]]) })
  expect(next).toMatchObject({ pass: 2, tally: { checked: 4, agrees: 4, noAnswer: { trouble: 1 } } })
  expect(afterBatch(BEGUN, batch([], 'e', keys))).toMatchObject(BEGUN)
})

test('at the end of each pass every customer counts once, by its last word', () => {
  const word = fc.constantFrom(AGREES, MISSING, OWED, SILENT)
  const customer = fc.record({ words: fc.tuple(word, word, word), joins: fc.constantFrom(1, 1, 1, 2, 3) })
  fc.assert(
    fc.property(fc.array(customer, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (customers, most) => {
      let round: Counted = BEGUN
      const last = new Map<string, Verdict>()
      for (let pass = 1; pass <= 3; pass++) {
        const due = customers
          .map(({ words, joins }, n) => ({
            key: String.fromCharCode(97 + n),
            joins,
            said: words[pass - 1] ?? OWED,
          }))
          .filter(({ key, joins }) => joins <= pass && !isClear(last.get(key)))
        for (let from = 0; from === 0 || from < due.length; from += most) {
          const some = due.slice(from, from + most)
          for (const { key, said } of some) last.set(key, said)
          const verified = some.map(({ key, said }) => looked(key, said, said === MISSING ? 'found' : null))
          round = afterBatch(
            round,
            batch(verified, from + most < due.length ? (some.at(-1)?.key ?? '') : null),
          )
          expect(countOf(round)).toBeLessThanOrEqual(last.size)
        }
        expect(round.tally).toEqual(tallyOf([...last.values()]))
      }
      expect(round.ended).toBe(true)
    }),
  )
})

const isClear = (verdict: Verdict | undefined) => verdict === AGREES || verdict === MISSING

function countOf({ tally: { checked, skipped, noAnswer } }: Counted): number {
  return [...Object.values(skipped), ...Object.values(noAnswer)].reduce((sum, count) => sum + count, checked)
}
