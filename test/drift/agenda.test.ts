import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Agenda,
  afterChecks,
  closed,
  doneOf,
  dueOf,
  MOST_WAITING,
  NOTHING_YET,
  soFar,
  withNew,
} from '../../src/drift/agenda.ts'
import type { Met } from '../../src/drift/found.ts'
import { EMPTY_TALLY } from '../../src/drift/tally.ts'
import type { Checked, CheckVerdict, DriftVerdict } from '../../src/drift/words.ts'

const MISSING: DriftVerdict = { kind: 'missing', fields: [], cause: 'edited-at-service', access: 'lost' }
const AGREES: CheckVerdict = { kind: 'agrees' }

function said(key: string, verdict: CheckVerdict, more: Partial<Checked> = {}): Checked {
  const none = { findingState: null, findingId: null, resolved: null, nextInMs: null, shown: [] }
  return { key, verdict, ...none, more: false, repairable: false, repairing: false, ...more }
}
const SUSPECTED = { findingState: 'suspected' } as const
const suspected = (key: string, at = 50) => said(key, MISSING, { ...SUSPECTED, nextInMs: at })
const found = (key: string) => said(key, MISSING, { findingState: 'found', findingId: `f-${key}` })

function add(agenda: Agenda, checked: readonly Checked[], met: readonly (readonly [string, Met])[] = []) {
  const known = new Set(agenda.waiting.map(({ key }) => key))
  const fresh = checked.map(({ key }) => key).filter((key) => !known.has(key))
  return afterChecks(withNew(agenda, fresh, 0), { checked, met: new Map(met), nowMs: 0 })
}
/** The same customer, checked again and again. */
const repeatedly = (checked: Checked, times: number) =>
  Array.from({ length: times }).reduce<Agenda>((agenda) => add(agenda, [checked]), NOTHING_YET)

describe('a run', () => {
  test('checks a customer again that was found before and differs in more by now', () => {
    const more = { findingState: 'found', findingId: 'f-a', more: true, nextInMs: 50 } as const
    const first = add(NOTHING_YET, [said('a', MISSING, more)])
    expect(first).toMatchObject({ tally: { checked: 0 }, found: [], waiting: [{ key: 'a', at: 50 }] })
    expect(add(first, [found('a')])).toMatchObject({ tally: { checked: 1 }, found: ['f-a'], waiting: [] })
    // One that differs in other ways at each check counts by what is known of it.
    const ever = repeatedly(said('a', MISSING, more), 6)
    expect(ever).toMatchObject({ suspects: EMPTY_TALLY, found: ['f-a'], waiting: [] })
    const movedAt = (n: number) =>
      repeatedly(said('a', { kind: 'skipped', why: 'changed' }), n).waiting[0]?.at
    expect([1, 2, 3].map(movedAt)).toEqual([2000, 35_000, undefined])
  })

  test('counts a difference once a second check has found it, and takes back what that does not show', () => {
    const first = add(NOTHING_YET, [suspected('a'), said('b', AGREES)])
    expect(first).toMatchObject({ tally: { checked: 1, agrees: 1 }, found: [] })
    expect(dueOf(first, { nowMs: 49, room: 10 })).toEqual({ due: [], newOnes: 10, next: 50 })
    expect(dueOf(first, { nowMs: 50, room: 10 })).toMatchObject({ due: [{ key: 'a' }], newOnes: 9 })
    const counted = { waiting: [], tally: { checked: 2, kinds: { missing: 1 } }, found: ['f-a'] }
    expect(add(first, [found('a')])).toMatchObject(counted)
    const none = { waiting: [], tally: { agrees: 2, kinds: {} }, suspects: EMPTY_TALLY }
    expect(add(first, [said('a', AGREES)])).toMatchObject(none)
  })

  test('says of a difference that no second check was able to confirm just that', () => {
    expect(repeatedly(suspected('a'), 5).waiting).toHaveLength(1)
    expect(repeatedly(suspected('a'), 6)).toMatchObject({
      ...{ waiting: [], found: [], suspects: { checked: 1, vanished: 1 }, tally: { checked: 0 } },
    })
  })

  test.each<CheckVerdict>([
    { kind: 'skipped', why: 'owed' },
    { kind: 'no-answer', why: 'trouble' },
  ])('tries a customer again that changes or has no answer, and not for ever: %j', (verdict) => {
    expect(repeatedly(said('a', verdict), 2).waiting).toHaveLength(1)
    const agenda = repeatedly(said('a', verdict), 3)
    expect([agenda.waiting.length, doneOf(agenda)]).toEqual([0, 1])
    expect(add(NOTHING_YET, [said('a', { kind: 'skipped', why: 'not-ours' })]).waiting).toEqual([])
  })

  test('counts the access of a customer that is held, once, also where others have found something else', () => {
    const held = said('a', { kind: 'skipped', why: 'held', access: 'undue' })
    const alone = add(NOTHING_YET, [held])
    expect(alone).toMatchObject({ waiting: [], tally: { access: { undue: 1 }, heldAccess: { undue: 1 } } })
    const verdict = { kind: 'differs', fields: ['email'], cause: 'edited-at-service', access: null } as const
    const both = add(NOTHING_YET, [held], [['a', { findingId: 'f-other', verdict }]])
    expect(both.tally).toMatchObject({ checked: 1, access: { undue: 1 }, skipped: {} })
  })

  const verdict: DriftVerdict = { ...MISSING, kind: 'unexpected-access', access: 'undue' }
  const met = [['a', { findingId: 'f-other', verdict }]] as const

  test('counts what others have found meanwhile, whatever its own check says by then, once and at once', () => {
    for (const next of [
      said('a', AGREES, { resolved: 'repaired', findingId: 'f-other' }),
      said('a', { kind: 'skipped', why: 'owed' }),
      said('a', { kind: 'no-answer', why: 'busy' }),
    ]) {
      const end = add(NOTHING_YET, [next, said('b', AGREES)], met)
      expect(end).toMatchObject({ waiting: [], found: ['f-other'], suspects: EMPTY_TALLY })
      const counted = { checked: 2, agrees: 1, kinds: { 'unexpected-access': 1 }, access: { undue: 1 } }
      expect(end.tally).toMatchObject(counted)
    }
  })

  test('tells what it has found itself as that, and checks again what it suspects by now', () => {
    const own = add(NOTHING_YET, [found('a')], met)
    expect(own).toMatchObject({ found: ['f-a'], tally: { checked: 1, kinds: { missing: 1 } } })
    const other = add(NOTHING_YET, [suspected('a')], met)
    expect(other).toMatchObject({ waiting: [{ key: 'a' }], found: [], tally: { checked: 0 } })
  })

  test('takes no new customer while too many wait for their second check', () => {
    const many = Array.from({ length: MOST_WAITING }, (_, n) => suspected(`k${n}`))
    expect(dueOf(add(NOTHING_YET, many), { nowMs: 0, room: 50 })).toMatchObject({ due: [], newOnes: 0 })
  })

  test('that ends early counts what the last checks said, suspects no customer of more, and keeps who is left', () => {
    const silent = said('b', { kind: 'no-answer', why: 'trouble' })
    const agenda = add(NOTHING_YET, [suspected('a'), silent, said('c', AGREES)])
    expect(soFar(agenda)).toMatchObject({ checked: 2, kinds: { missing: 1 }, noAnswer: { trouble: 1 } })
    const tally = { checked: 1, kinds: {}, noAnswer: { trouble: 1 } }
    expect(closed(agenda)).toMatchObject({ waiting: [], suspects: { checked: 1 }, tally })
    const stopped = afterChecks(withNew(NOTHING_YET, ['d'], 7), { checked: [], met: new Map(), nowMs: 9 })
    expect(stopped.waiting).toEqual([{ key: 'd', at: 7, checks: 0, last: null }])
  })
})

test('whatever the checks say, each customer counts once, and only customers that a check called found are found', () => {
  const verdicts: readonly ((key: string) => Checked)[] = [
    suspected,
    found,
    (key) => said(key, AGREES),
    (key) => said(key, { kind: 'skipped', why: 'changed' }),
    (key) => said(key, { kind: 'skipped', why: 'rejected' }),
    (key) => said(key, { kind: 'no-answer', why: 'busy' }),
  ]
  const checks = fc.array(fc.array(fc.nat(verdicts.length - 1), { minLength: 6 }), { maxLength: 8 })
  const run = fc.property(checks, (said) => {
    let agenda = NOTHING_YET
    let called = 0
    for (let round = 0; round === 0 || agenda.waiting.length > 0; round++) {
      const keys = round === 0 ? said.map((_, n) => String(n)) : agenda.waiting.map(({ key }) => key)
      const checked = keys.map((key) => verdicts[said[Number(key)]?.[round] ?? 0]?.(key) ?? found(key))
      called += checked.filter(({ findingState }) => findingState === 'found').length
      agenda = add(agenda, checked)
      expect(doneOf(agenda) + agenda.waiting.length).toBe(said.length)
    }
    expect(agenda.found).toHaveLength(called)
  })
  fc.assert(run)
})
