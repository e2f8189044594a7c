import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type StoredFinding, stepFor } from '../../src/drift/step.ts'
import {
  DRIFT_KINDS,
  type DriftField,
  type DriftKind,
  SKIPPED,
  type Skipped,
  type WrongAccess,
} from '../../src/drift/words.ts'
import { runs } from '../support/size.ts'

type CheckResult = Parameters<typeof stepFor>[1]

const step = (open: StoredFinding | null, result: CheckResult) =>
  stepFor(open, result, { consistencyDelayMs: 5000 })

const OPEN: StoredFinding = {
  ...{ id: '1', kind: 'differs', fields: ['email'], pending: [], cause: 'never-delivered', access: null },
  ...{ checks: 1, nextInMs: -1, repairs: 0, desiredDigest: 'd' },
  ...{ writtenSinceRepair: false, writtenSinceSeen: false },
}
const FOUND: StoredFinding = { ...OPEN, checks: 2 }

function seen(
  kind: DriftKind,
  fields: readonly DriftField[],
  access: WrongAccess | null = null,
): CheckResult {
  const verdict = { kind, fields, cause: 'edited-at-service', access } as const
  return of(verdict)
}
const of = (verdict: CheckResult['verdict']): CheckResult => ({ verdict, ownForms: [], desiredDigest: 'd' })
const skipped = (why: Skipped) => of({ kind: 'skipped', why } as CheckResult['verdict'])
const differs = (fields: readonly DriftField[]) => seen('differs', fields)
const statusDiffers = (access: WrongAccess | null, fields: readonly DriftField[] = ['status']) =>
  seen('differs', fields, access)
const agrees = (desiredDigest = 'd', ownForms: readonly DriftField[] = []): CheckResult => ({
  ...{ verdict: { kind: 'agrees' }, ownForms, desiredDigest },
})

test('a first check suspects, a second one confirms, and the cause is that of the first', () => {
  const drift = { fields: ['email'], pending: [], cause: 'never-delivered' }
  expect(step(null, differs(['email']))).toMatchObject({ do: 'suspect', ends: null })
  expect(step(OPEN, differs(['email']))).toMatchObject({ do: 'confirm', drift })
  expect(step(FOUND, differs(['email']))).toMatchObject({ do: 'keep' })
  // Another kind is another suspicion.
  const missing: StoredFinding = { ...FOUND, kind: 'missing', fields: [] }
  expect(step(missing, differs(['email']))).toMatchObject({ do: 'suspect', ends: 'otherwise' })
})

test('each field has to be shown twice', () => {
  expect(step(OPEN, differs(['email', 'gender']))).toMatchObject({
    ...{ do: 'confirm', drift: { fields: ['email'], pending: ['gender'] } },
  })
  const pending: StoredFinding = { ...FOUND, pending: ['gender'] }
  expect(step(pending, differs(['email', 'gender']))).toMatchObject({
    ...{ do: 'keep', drift: { fields: ['email', 'gender'], pending: [] } },
  })
  expect(step(OPEN, differs(['gender']))).toMatchObject({
    do: 'suspect',
    drift: { fields: ['gender'] },
    ends: null,
  })
  expect(step(FOUND, differs(['gender']))).toMatchObject({ do: 'suspect', ends: 'by-itself' })
})

test('that access is lost or undue has to be shown twice, as a field has', () => {
  const kept = (open: Partial<StoredFinding>, result: CheckResult) => {
    const made = step({ ...FOUND, ...open }, result)
    return 'drift' in made ? [made.do, made.drift.fields, made.drift.pending, made.drift.access] : made
  }
  const status = { fields: ['status'], access: 'lost' } as const
  expect(kept(status, statusDiffers('lost'))).toEqual(['keep', ['status'], [], 'lost'])
  // From another trial to no access: the status differed before, and the loss is news.
  expect(kept({ fields: ['status'] }, statusDiffers('lost'))).toEqual(['suspect', ['status'], [], 'lost'])
  expect(
    kept({ ...status, fields: ['status', 'email'] }, statusDiffers('undue', ['status', 'email'])),
  ).toEqual([...['keep', ['email'], ['status'], null]])
  expect(kept({}, statusDiffers('lost', ['status', 'email']))).toEqual(['keep', ['email'], ['status'], null])
  expect(kept({ pending: ['status'] }, statusDiffers('lost', ['status', 'email']))).toEqual([
    ...['keep', ['status', 'email'], [], 'lost'],
  ])
  expect(kept({ kind: 'missing', fields: [], access: 'lost' }, seen('missing', [], 'lost'))).toEqual([
    'keep',
    [],
    [],
    'lost',
  ])
})

test.each<[string, Partial<StoredFinding>, CheckResult]>([
  ['wait', { nextInMs: 1 }, differs(['email'])],
  ['wait', { checks: 2, nextInMs: 1 }, differs(['email'])],
  ['forget', { nextInMs: 1 }, agrees()],
  // A later time than the service lags, or a repair takes, keeps no check from counting.
  ['confirm', { nextInMs: 600_000 }, differs(['email'])],
  ['keep', { checks: 2, nextInMs: 600_000 }, differs(['email'])],
  ['wait', { checks: 2, repairs: 2, nextInMs: 15_000 }, differs(['email'])],
])(
  'a check that comes too early says nothing of a difference, and all of an end: %s %j',
  (what, open, result) => expect(step({ ...OPEN, ...open }, result)).toMatchObject({ do: what }),
)

describe('how one ends', () => {
  const how = (open: Partial<StoredFinding>, result: CheckResult) => {
    const made = step({ ...FOUND, ...open }, result)
    return made.do === 'resolve' ? made.how : made.do
  }
  test('by what rollcall wrote, by a change here, or by itself', () => {
    expect(how({}, agrees())).toBe('by-itself')
    expect(how({ writtenSinceRepair: true }, agrees())).toBe('repaired')
    expect(how({ writtenSinceSeen: true }, agrees())).toBe('repaired')
    expect(how({ writtenSinceRepair: true }, agrees('another'))).toBe('by-a-change')
  })
  test('a suspicion that is none leaves no trace', () => {
    expect(how({ checks: 1 }, agrees())).toBe('forget')
    expect(step(null, agrees())).toEqual({ do: 'nothing' })
  })
  test('of a customer that was not checked', () => {
    const said = (checks: number) => SKIPPED.map((why) => [why, how({ checks }, skipped(why))])
    const waits = Object.fromEntries(
      ['owed', 'just-written', 'held', 'unreadable-row'].map((why) => [why, 'postpone']),
    )
    expect(Object.fromEntries(said(2))).toEqual({
      ...{ ...waits, changed: 'nothing', discarded: 'accepted', rejected: 'by-a-change', 'not-ours': 'gone' },
    })
    expect(Object.fromEntries(said(1))).toEqual({
      ...{ ...waits, changed: 'nothing', discarded: 'forget', rejected: 'forget', 'not-ours': 'forget' },
    })
    expect(how({}, of({ kind: 'no-answer', why: 'trouble' }))).toBe('postpone')
    expect(step(null, skipped('owed'))).toEqual({ do: 'nothing' })
  })
  test('where all that differed is a form of the service alone, that is how it ended', () => {
    const both: StoredFinding = { ...FOUND, fields: ['email', 'gender'] }
    expect(step(FOUND, agrees('d', ['email']))).toEqual({ do: 'resolve', how: 'normalised' })
    expect(step(both, agrees('d', ['email']))).toMatchObject({ how: 'by-itself' })
    expect(step({ ...FOUND, kind: 'missing', fields: [] }, agrees())).toMatchObject({ how: 'by-itself' })
  })
})

test('whatever the checks show, nothing is found that two checks in a row have not shown', () => {
  const FIELDS: readonly DriftField[] = ['status', 'email', 'gender']
  const check = fc.oneof(
    fc.constant(null),
    fc.record({ kind: fc.constantFrom<DriftKind>(...DRIFT_KINDS), fields: fc.subarray([...FIELDS]) }),
  )
  const run = fc.property(fc.array(check, { maxLength: 8 }), (checks) => {
    let open = null as StoredFinding | null
    let before: (typeof checks)[number] = null
    for (const each of checks) {
      const fields = each?.kind === 'differs' ? each.fields : []
      const made = step(open, each ? seen(each.kind, fields) : agrees())
      if (made.do === 'confirm' || made.do === 'keep') {
        expect(before?.kind).toBe(made.drift.kind)
        if (made.do === 'confirm' && made.drift.kind === 'differs' && fields.length > 0)
          for (const field of made.drift.fields) expect(before?.fields).toContain(field)
        open = { ...(open ?? OPEN), ...made.drift, checks: (open?.checks ?? 1) + 1 }
      } else if (made.do === 'suspect') open = { ...OPEN, ...made.drift, checks: 1 }
      else open = null
      before = each ? { kind: each.kind, fields } : null
    }
  })
  fc.assert(run, { numRuns: runs(2000), seed: 11 })
})
