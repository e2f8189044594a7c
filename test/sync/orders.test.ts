// However its changes are captured and whatever happens to the calls, a customer ends as if the last row had been
// delivered once, plainly.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { normalForm, sameField } from '../../src/model/normal.ts'
import { type Fields, OPTIONAL_FIELDS, UNVERIFIABLE_FIELD } from '../../src/model/user.ts'
import { customerRow, habits, managedFields, rowOf, settingsFor } from '../support/arbitrary.ts'
import { configOf } from '../support/pure-claims.ts'
import { type Fault, PLAIN } from '../support/pure-service.ts'
import { runs } from '../support/size.ts'
import { type Change, NO_TROUBLES, play, type Rest, type Troubles } from './timeline.ts'
import { change, troubles } from './troubles.ts'

const RUNS = Number(process.env.ORDER_RUNS ?? runs(200))

const configured: fc.Arbitrary<Config> = managedFields.chain((fields) =>
  fc
    .tuple(settingsFor(fields), fc.constantFrom('revoke' as const, 'erase' as const))
    .map(([settings, onRemove]) => configOf(fields, { ...settings, onRemove })),
)

const rowWith = (plan: string) => ({ id: '7', plan, email: 'ana@correo.es', country_code: 'ES' })

/** The order may not change the status and the mapped fields, in normal form; a phone may be split in either way. */
function view({ user, desired }: Rest): object {
  const held = user ?? { status: 0 }
  const fields = desired?.fields ?? {}
  const set = OPTIONAL_FIELDS.filter((field) => fields[field] !== undefined)
  const shown = set.map((field) => {
    const right = field !== UNVERIFIABLE_FIELD && sameField(field, fields, held)
    return [field, normalForm(field, right ? fields[field] : held[field])]
  })
  return { status: held.status, fields: Object.fromEntries(shown) }
}

const its = habits.map((each) => ({ ...each, refuses: () => false }))

/** Any history before the last row, in which the customer may also be gone, rejected or on trial. */
const history = (row: fc.Arbitrary<Change['row']>) =>
  fc.array(row, { maxLength: 4 }).chain((rows) => fc.tuple(...rows.map(change)))

type Played = Omit<Parameters<typeof play>[0], 'changes'> & {
  readonly before: readonly Change[]
  readonly last: Change
}

async function expectSame({ before, last, ...given }: Played): Promise<Rest> {
  const plain = await play({ ...given, changes: [last], troubles: NO_TROUBLES })
  const played = await play({ ...given, changes: [...before, last] })
  expect(view(played), played.log.join('\n')).toEqual(view(plain))
  return played
}

async function holds<T>(given: fc.Arbitrary<T>, check: (played: T) => Promise<void>): Promise<void> {
  await fc.assert(fc.asyncProperty(given, check), { numRuns: RUNS })
}

describe('whatever order, duplication, loss and delay of notifications, requests and GETs, and wherever it dies', () => {
  it('a customer ends as the same user', async () => {
    const given = fc.record({
      config: configured,
      its,
      before: history(customerRow),
      last: fc.option(rowOf(), { freq: 5 }).chain(change),
      troubles,
    })
    await holds(given, async (played) => void (await expectSame({ ...played, there: null })))
  })

  it('a customer who goes in and out of a trial ends as the same user', async () => {
    const plan = fc.oneof(fc.constantFrom('trial', 'free', 'premium').map(rowWith), fc.constant(null))
    const given = fc.record({
      config: configured,
      its,
      before: history(plan),
      last: plan.chain(change),
      troubles,
    })
    await holds(given, async (played) => void (await expectSame({ ...played, there: null })))
  })

  it('a user who was there before ends the same, and what the mapping does not set stays', async () => {
    const theirs: Fields = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, `their ${field}`]))
    const numbers = { mobile_phone: '600999888', mobile_phone_prefix: '34' }
    const given = fc.record({
      config: managedFields.map((fields) => configOf(fields)),
      // A service that answers a create with 500 looks like one that lost the answer.
      its: its.filter(({ duplicate }) => duplicate !== 'upsert' && duplicate !== 500),
      there: fc.constantFrom(0, 2).map((status) => ({ ...theirs, ...numbers, status })),
      before: history(customerRow),
      last: rowOf().chain(change),
      troubles,
    })
    await holds(given, async ({ there: all, ...played }) => {
      const { country_code: hidden, ...shown } = all
      const there = played.config.mapping.country_code ? shown : { ...shown, country_code: hidden }
      const { user } = await expectSame({ ...played, there })
      for (const field of OPTIONAL_FIELDS.filter((each) => played.config.mapping[each] === undefined))
        expect(user?.[field]).toBe(all[field as keyof typeof all])
    })
  })
})

/** A lookup that came before the service shows what arrived last would go by what was there before. */
describe('a request that arrives at the very end of its lifetime, unseen by the look after it', () => {
  const common = { config: configOf(['email', 'country_code']), there: null }
  const latestMs = common.config.timing.lifetimeMs
  const endsLate: Fault = { kind: 'late', afterMs: latestMs, outcome: 'lost' }
  const at = (row: Change['row'], afterMs: number): Change => ({ row, afterMs, notes: [0] })

  it('and ends a trial that the customer is on again: access comes back', async () => {
    const troubles: Troubles = { ...NO_TROUBLES, faults: [null, endsLate], lags: [1000] }
    const before = [at(rowWith('trial'), 0), at(null, 70_000)]
    await expectSame({ ...common, its: PLAIN, latestMs, troubles, before, last: at(rowWith('trial'), 4000) })
  })
})
