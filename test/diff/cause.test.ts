// Both decisions over everything that they can be asked: each combination is one case of a table.
import { expect, test } from 'vitest'
import {
  AS,
  type Cause,
  CURRENT,
  causeOf,
  type Facts,
  type FieldVerdict,
  HERE,
  type Here,
  LIKENESS,
  type Likeness,
  THERE,
  VERDICTS,
  verdictOf,
} from '../../src/diff/cause.ts'

const COMPARED: Readonly<Record<Likeness, FieldVerdict>> = {
  letters: 'same',
  form: 'spelling',
  none: 'differs',
}
const VERDICT_OF: Readonly<Record<Here, 'compared' | FieldVerdict>> = {
  set: 'compared',
  empty: 'compared',
  cleared: 'compared',
  refused: 'compared',
  unmanaged: 'not-ours',
  'left-out': 'left-out',
}

test('each of the 54 combinations has its verdict', () => {
  let cases = 0
  for (const here of HERE) {
    for (const there of THERE) {
      for (const likeness of LIKENESS) {
        const shown = there === 'not-shown' ? 'cannot-be-seen' : COMPARED[likeness]
        const row = VERDICT_OF[here]
        expect([here, there, likeness, verdictOf(here, there, likeness)]).toEqual([
          here,
          there,
          likeness,
          row === 'compared' ? shown : row,
        ])
        cases++
      }
    }
  }
  expect(cases).toBe(54)
})

type Pattern = { readonly [K in keyof Facts]?: Facts[K] | readonly Facts[K][] }

/** The first line that fits says it. */
const CAUSES: readonly (readonly [Pattern, Cause | null])[] = [
  [{ verdict: ['same', 'trial-ended', 'not-ours'] }, null],
  [{ verdict: 'left-out' }, 'left-out'],
  [{ verdict: 'spelling', current: 'yes' }, 'own-form'],
  [{ verdict: 'spelling', here: 'refused' }, null],
  [{ verdict: 'spelling', current: 'no', owed: true }, 'owed'],
  [{ verdict: 'spelling', current: 'no', owed: false }, 'changed-here'],
  [{ verdict: 'spelling' }, null],
  [{ here: 'refused' }, 'refused'],
  [{ verdict: 'differs', here: 'cleared' }, 'to-be-cleared'],
  [{ current: 'unknown' }, 'not-known'],
  [{ current: 'doubted' }, 'in-doubt'],
  [{ verdict: 'cannot-be-seen', current: 'yes' }, 'acknowledged'],
  [{ current: 'yes', unknown: true }, 'in-doubt'],
  [{ current: 'yes', fresh: true }, 'just-written'],
  [{ current: 'yes' }, 'changed-there'],
  [{ current: 'no', owed: true }, 'owed'],
  [{ current: 'no' }, 'changed-here'],
  [{ current: 'never', unknown: true }, 'in-doubt'],
  [{ current: 'never', asSeen: ['yes', 'no'] }, 'not-delivered-since'],
  [{ current: 'never' }, 'never-delivered'],
]

function fits(pattern: Pattern, facts: Facts): boolean {
  return Object.entries(pattern).every(([name, wanted]) => {
    const value = facts[name as keyof Facts]
    return Array.isArray(wanted) ? wanted.includes(value) : wanted === value
  })
}

function* everything(): Generator<Facts> {
  const both = [true, false]
  for (const here of HERE)
    for (const verdict of VERDICTS)
      for (const current of CURRENT)
        for (const asSeen of AS)
          for (const unknown of both)
            for (const owed of both)
              for (const fresh of both) yield { here, verdict, current, asSeen, unknown, owed, fresh }
}

test('each of the 6720 combinations of facts has its cause', () => {
  const used = new Set<number>()
  let cases = 0
  for (const facts of everything()) {
    const at = CAUSES.findIndex(([pattern]) => fits(pattern, facts))
    expect([facts, causeOf(facts)]).toEqual([facts, CAUSES[at]?.[1]])
    used.add(at)
    cases++
  }
  expect(cases).toBe(6720)
  expect(used.size).toBe(CAUSES.length)
})
