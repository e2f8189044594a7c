// A service that answers every write with JSON null: its customers end right, in few calls, and nothing goes on for ever.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { habits, managedFields, rowOf, settingsFor } from '../support/arbitrary.ts'
import { configOf, makeCustomer } from '../support/pure-claims.ts'
import { type Habits, makePureService, PLAIN } from '../support/pure-service.ts'
import { runs } from '../support/size.ts'
import { type Change, NO_TROUBLES, play } from './timeline.ts'

const RUNS = Number(process.env.ORDER_RUNS ?? runs(200))

/** Later than the last lookup of what came before. */
const SETTLED_MS = 3_600_000
const change = (row: Change['row']): Change => ({ row, afterMs: SETTLED_MS, notes: [0] })
const its = habits.map((each): Habits => ({ ...each, answers: 'null', refuses: () => false }))

/** The write, and after the lookup twice more what no GET shows; an erasure follows a revocation. */
const MOST_WRITES = 3
/** Before a first write, after each write, and once more. */
const MOST_LOOKUPS = 3

it('costs each change two more writes and three lookups at most', async () => {
  const given = fc.record({
    config: managedFields.chain((fields) =>
      fc
        .tuple(settingsFor(fields), fc.constantFrom('revoke' as const, 'erase' as const))
        .map(([settings, onRemove]) => configOf(fields, { ...settings, onRemove })),
    ),
    its,
    changes: fc.array(fc.option(rowOf()).map(change), { minLength: 1, maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(given, async (played) => {
      const { calls, log, state, user, desired } = await play({
        ...played,
        there: null,
        troubles: NO_TROUBLES,
      })
      expect([state, Number(user?.status ?? 0)], log.join('\n')).toEqual(['idle', desired?.status ?? 0])
      const lookups = calls.filter(({ method }) => method === 'GET').length
      const changes = played.changes.length
      const erased =
        played.config.onRemove === 'erase' ? played.changes.filter(({ row }) => row === null) : []
      const most = MOST_WRITES * changes + erased.length
      expect(calls.length - lookups, log.join('\n')).toBeLessThanOrEqual(most)
      expect(lookups, log.join('\n')).toBeLessThanOrEqual(MOST_LOOKUPS * changes)
    }),
    { numRuns: RUNS },
  )
})

const NULL: Habits = { ...PLAIN, answers: 'null' }
const row = { id: '7', plan: 'premium', email: 'ana@correo.es' }
const methods = async (fields: Parameters<typeof configOf>[0], changes: readonly Change[], habits = NULL) => {
  const config = configOf(fields)
  const { calls } = await play({ config, its: habits, there: null, troubles: NO_TROUBLES, changes })
  return calls.map(({ method }) => method)
}

it('costs one write and one lookup where a GET shows all of it', async () => {
  expect(await methods(['email'], [change(row)])).toEqual(['POST', 'GET'])
  expect(await methods(['email'], [change(row), change(null)])).toEqual(['POST', 'GET', 'PATCH', 'GET'])
})

/** Answered with null, and not carried out. */
const nothing = { kind: 'answer', status: 200, applied: false, body: { kind: 'json', value: null } } as const

it('takes no customer for erased before a GET has shown it, and sends the country again too', async () => {
  const service = makePureService({ answers: 'null' })
  const config = configOf(['email', 'country_code'], { onRemove: 'erase' })
  const customer = makeCustomer({ service, row: { ...row, country_code: 'ES' }, config })
  for (let n = 0; n < 4; n++) await customer.claim()
  customer.row = null
  // The revocation is carried out, and of three erasures only the last one.
  for (const fault of [null, null, nothing, null, nothing, null]) service.faults.push(fault)
  for (let n = 0; n < 3; n++) await customer.claim()
  expect(service.users.get('7')).toMatchObject({ status: 0, email: row.email })
  expect(customer.kept.unknown).toBe(true)
  for (let n = 0; n < 2; n++) await customer.claim()
  expect(service.users.get('7')).toMatchObject({ status: 0, email: null, country_code: null })
  expect(customer.kept).toMatchObject({ unknown: false, record: { state: 'idle', erased: 'verified' } })
})

it('takes no customer for revoked before a GET has shown it', async () => {
  const service = makePureService({ answers: 'null' })
  const customer = makeCustomer({ service, row, config: configOf(['email']) })
  for (let n = 0; n < 2; n++) await customer.claim()
  customer.row = null
  for (const fault of [nothing, null, nothing, null, nothing, null]) service.faults.push(fault)
  for (let n = 0; n < 4; n++) {
    await customer.claim()
    expect([customer.kept.unknown, customer.kept.attempts]).toEqual([true, n + 1])
  }
  await customer.claim()
  expect(service.users.get('7')?.status).toBe(0)
  expect(customer.kept).toMatchObject({
    unknown: false,
    record: { state: 'idle', sentStatus: null, seenStatus: 0 },
  })
})

it('looks up all of an update once more, though what was sent again of it was taken clearly', async () => {
  const service = makePureService({})
  const config = configOf(['email', 'country_code'])
  const customer = makeCustomer({ service, row: { ...row, country_code: 'ES' }, config })
  await customer.claim()
  customer.row = { ...row, email: 'new@correo.es', country_code: 'FR' }
  service.faults.push(null, nothing)
  customer.kept.unknown = true
  expect(await customer.claim()).toMatchObject({
    kind: 'settle',
    lookups: { unclear: true },
    acknowledged: ['status', 'country_code'],
  })
  expect(service.users.get('7')).toMatchObject({ email: row.email, country_code: 'FR' })
})
