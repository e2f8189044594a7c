// Whoever goes is erased, and whoever has come back is there as a whole, whatever happens on the way.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { normalForm, sameField } from '../../src/model/normal.ts'
import { type Fields, OPTIONAL_FIELDS, UNVERIFIABLE_FIELD } from '../../src/model/user.ts'
import { DOUBTED, NO_VALUE } from '../../src/sync/digest.ts'
import { customerRow, fault, habits, managedFields, rowOf, settingsFor } from '../support/arbitrary.ts'
import { configOf } from '../support/pure-claims.ts'
import type { Fault } from '../support/pure-service.ts'
import { type Change, play, type Troubles } from './timeline.ts'

const RUNS = Number(process.env.ORDER_RUNS ?? 300)
const DELAYS = [0, 200, 4000, 40_000, 70_000]
const change = (row: Change['row']): fc.Arbitrary<Change> =>
  fc.record({
    row: fc.constant(row),
    afterMs: fc.constantFrom(...DELAYS),
    notes: fc.array(fc.constantFrom(...DELAYS), { maxLength: 3 }),
  })

const late: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constant('late' as const),
  afterMs: fc.constantFrom(1, 5000, 12_000, 30_000),
  told: fc.constantFrom('lost' as const, 'killed' as const, 500 as const),
})
const lag = configOf().timing.consistencyDelayMs
const troubles: fc.Arbitrary<Troubles> = fc.record({
  faults: fc.array(fc.option(fc.oneof(fault, late), { freq: 3 }), { maxLength: 8 }),
  lags: fc.array(fc.constantFrom(0, 0, 100, 1000, lag), { maxLength: 12 }),
  deaths: fc.array(fc.constantFrom(null, null, null, 'first' as const, 'last' as const), { maxLength: 6 }),
})
const theirs: Fields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, `their ${field}`]))

type Given = Parameters<typeof play>[0]

const played = (last: fc.Arbitrary<Change['row']>, there: readonly Given['there'][]) =>
  fc.record({
    config: managedFields.chain((fields) =>
      settingsFor(fields).map((settings) => configOf(fields, { ...settings, onRemove: 'erase' })),
    ),
    its: habits.map((each) => ({ ...each, refuses: () => false })),
    there: fc.constantFrom(...there),
    changes: fc
      .tuple(fc.array(customerRow, { maxLength: 4 }), last)
      .chain(([rows, row]) => fc.tuple(...[...rows, row].map(change))),
    troubles,
  })

it('a customer who is gone has no access and no field, and nothing of them is remembered', async () => {
  await fc.assert(
    fc.asyncProperty(
      played(fc.constant(null), [null, { ...theirs, status: 0 }, { ...theirs, status: 2 }]),
      async (given) => {
        const { user, record, log } = await play(given)
        const held = OPTIONAL_FIELDS.filter((field) => normalForm(field, user?.[field]) !== null)
        expect([Number(user?.status ?? 0), held], log.join('\n')).toEqual([0, []])
        if (user) expect(record.erased, log.join('\n')).toBe('verified')
        const kept = Object.values({ ...record.sent, ...record.seen, ...record.refused })
        expect(kept.filter((digest) => digest !== NO_VALUE && digest !== DOUBTED)).toEqual([])
      },
    ),
    { numRuns: RUNS },
  )
}, 60_000)

it('a customer who is there holds what the mapping sets', async () => {
  await fc.assert(
    fc.asyncProperty(played(rowOf(), [null]), async (given) => {
      const { user, desired, record, log } = await play(given)
      if (!desired) return
      expect(record.erased).toBe(null)
      expect(record.state, log.join('\n')).toBe('idle')
      const wrong = OPTIONAL_FIELDS.filter((field) => {
        const wanted = desired.fields[field]
        if (wanted === undefined) return false
        const same = field !== UNVERIFIABLE_FIELD && sameField(field, desired.fields, user ?? {})
        return !same && normalForm(field, wanted) !== normalForm(field, user?.[field])
      })
      expect([Number(user?.status ?? 0), wrong], log.join('\n')).toEqual([desired.status, []])
    }),
    { numRuns: RUNS },
  )
}, 60_000)
