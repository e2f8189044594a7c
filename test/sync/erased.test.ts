// Whoever goes is erased, and whoever has come back is there as a whole, whatever happens on the way.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { normalForm, sameField } from '../../src/model/normal.ts'
import { type Fields, OPTIONAL_FIELDS, UNVERIFIABLE_FIELD } from '../../src/model/user.ts'
import { DOUBTED, NO_VALUE } from '../../src/sync/digest.ts'
import { customerRow, habits, managedFields, rowOf, settingsFor } from '../support/arbitrary.ts'
import { configOf } from '../support/pure-claims.ts'
import { runs } from '../support/size.ts'
import { type Change, play } from './timeline.ts'
import { change, troubles } from './troubles.ts'

const RUNS = Number(process.env.ORDER_RUNS ?? runs(200))
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
})

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
})
