// Each cause that a row may have, under all circumstances: a table that the compiler keeps complete.
import { expect, test } from 'vitest'
import type { Cause as RowCause } from '../../src/diff/cause.ts'
import { type Clues, causeOfAbsence, causeOfFields } from '../../src/drift/cause.ts'
import type { Cause } from '../../src/drift/words.ts'

const QUIET: Clues = { doubted: [], doubtful: false, mappingChanged: false, verifiedOnce: true }
const MAPPED: Clues = { ...QUIET, mappingChanged: true }
const DOUBTED: Clues = { ...QUIET, doubted: ['email'] }
const DOUBTFUL: Clues = { ...QUIET, doubtful: true }

const EDIT: readonly Cause[] = [
  'edited-at-service',
  'edited-at-service',
  'unknown-outcome',
  'unknown-outcome',
]
const UNDELIVERED: readonly Cause[] = [
  'never-delivered',
  'mapping-changed',
  'never-delivered',
  'never-delivered',
]
const same = (cause: Cause) => [cause, cause, cause, cause]

/** Quiet, after another mapping, with a doubt about this field, and with one about the user. */
const CAUSES: Readonly<Record<RowCause, readonly Cause[]>> = {
  'changed-there': EDIT,
  'just-written': EDIT,
  'own-form': EDIT,
  acknowledged: EDIT,
  'never-delivered': UNDELIVERED,
  'not-delivered-since': UNDELIVERED,
  owed: UNDELIVERED,
  'changed-here': UNDELIVERED,
  'to-be-cleared': EDIT,
  'in-doubt': same('unknown-outcome'),
  'not-known': same('never-delivered'),
  refused: same('never-delivered'),
  'left-out': same('never-delivered'),
}

const row = (cause: RowCause | null, rest = {}) => ({
  ...({ field: 'email', cause, asSeen: 'no', agreedOnce: false } as const),
  ...rest,
})

test.each(Object.entries(CAUSES) as [RowCause, readonly Cause[]][])('%s', (cause, expected) => {
  const found = [QUIET, MAPPED, DOUBTED, DOUBTFUL].map((each) => causeOfFields([row(cause)], each))
  expect(found).toEqual(expected)
})

test('a doubt about another field is none about this one', () => {
  expect(causeOfFields([row('changed-there')], { ...QUIET, doubted: ['first_name'] })).toBe(
    'edited-at-service',
  )
})

test('what a GET has shown as desired was there once, though nobody ever sent it', () => {
  expect(causeOfFields([row('not-delivered-since', { agreedOnce: true })], QUIET)).toBe('edited-at-service')
  expect(causeOfFields([row('not-delivered-since', { agreedOnce: true })], DOUBTED)).toBe('unknown-outcome')
})

test('a stray was put there by others only where it was known not to be', () => {
  const stray = (asSeen: 'yes' | 'never', verifiedOnce: boolean) =>
    causeOfFields([row('to-be-cleared', { asSeen })], { ...QUIET, verifiedOnce })
  expect([stray('yes', true), stray('never', true), stray('never', false)]).toEqual([
    'never-delivered',
    'edited-at-service',
    'never-delivered',
  ])
})

test('of several fields our own doing is said first', () => {
  const edited = row('changed-there', { field: 'first_name' })
  expect(causeOfFields([edited, row('changed-here')], QUIET)).toBe('never-delivered')
  expect(causeOfFields([edited, row('changed-here')], MAPPED)).toBe('mapping-changed')
  expect(causeOfFields([edited, row('changed-here')], { ...MAPPED, doubted: ['first_name'] })).toBe(
    'unknown-outcome',
  )
})

test('whoever is not there: any call that was doubted could have been about that', () => {
  expect(causeOfAbsence('changed-there', QUIET)).toBe('edited-at-service')
  expect(causeOfAbsence('changed-there', DOUBTED)).toBe('unknown-outcome')
  expect(causeOfAbsence('never-delivered', QUIET)).toBe('never-delivered')
  expect(causeOfAbsence('in-doubt', QUIET)).toBe('unknown-outcome')
})
