// A removed customer is erased, whatever happens on the way.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { normalForm } from '../../src/model/normal.ts'
import { type Fields, OPTIONAL_FIELDS } from '../../src/model/user.ts'
import { NO_VALUE, UNKNOWN_VALUE } from '../../src/sync/digest.ts'
import { customerRow, habits, managedFields, settingsFor } from '../support/arbitrary.ts'
import { configOf } from '../support/pure-claims.ts'
import { runs } from '../support/size.ts'
import { play } from './timeline.ts'
import { change, troubles } from './troubles.ts'

const RUNS = Number(process.env.ORDER_RUNS ?? runs(200))
const theirs: Fields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, `their ${field}`]))

it('a customer who is gone has no access and no field, and nothing of them is remembered', async () => {
  const given = fc.record({
    config: managedFields.chain((fields) =>
      settingsFor(fields).map((settings) => configOf(fields, { ...settings, onRemove: 'erase' })),
    ),
    its: habits.map((each) => ({ ...each, refuses: () => false })),
    there: fc.constantFrom(null, { ...theirs, status: 0 }, { ...theirs, status: 2 }),
    changes: fc
      .array(customerRow, { maxLength: 4 })
      .chain((rows) => fc.tuple(...[...rows, null].map(change))),
    troubles,
  })
  const run = fc.asyncProperty(given, async (played) => {
    const { user, record, log } = await play(played)
    const held = OPTIONAL_FIELDS.filter((field) => normalForm(field, user?.[field]) !== null)
    expect([Number(user?.status ?? 0), held], log.join('\n')).toEqual([0, []])
    if (user) expect(record.erased, log.join('\n')).toBe('verified')
    const kept = Object.values({ ...record.sent, ...record.seen, ...record.refused })
    expect(kept.filter((digest) => digest !== NO_VALUE && digest !== UNKNOWN_VALUE)).toEqual([])
  })
  await fc.assert(run, { numRuns: RUNS })
})
