// One customer against a service in memory: whatever happens on the way, it ends right, in a bounded number of
// calls, and nothing is sent that is right already.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Config, Row } from '../../src/config/config.ts'
import { normalForm, sameField } from '../../src/model/normal.ts'
import { type DesiredUser, OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import { mapCustomer } from '../../src/sync/map.ts'
import {
  anyFault,
  CONFLICTS,
  customerRow,
  fault,
  faultWithoutDenial,
  habits,
  managedFields,
  plainValues,
  REFUSED,
  rowOf,
  settingsFor,
} from '../support/arbitrary.ts'
import { type Customer, configOf, KEY, makeCustomer } from '../support/pure-claims.ts'
import { type Fault, makePureService, type PureService, type Stored } from '../support/pure-service.ts'
import { runs } from '../support/size.ts'

const RUNS = Number(process.env.CONVERGE_RUNS ?? runs(120))
/** Refused as a whole, without some, what a PUT would have left out, the status alone; all of it after a create and a GET too. */
const MOST_CALLS = 10
const MOST_LOOKS = 1
/** A lookup, a create that is refused for a value, a create without it. */
const MOST_CLAIMS = 3

type Step = { readonly row: Row | null; readonly faults: readonly (Fault | null)[]; readonly claims: number }

function stepOf(row: fc.Arbitrary<Row | null>, trouble: fc.Arbitrary<Fault>): fc.Arbitrary<Step> {
  return fc.record({
    row,
    faults: fc.array(fc.option(trouble, { freq: 3 }), { maxLength: 5 }),
    claims: fc.integer({ min: 1, max: 3 }),
  })
}

const stepFaults = fc.array(fc.option(faultWithoutDenial, { freq: 3 }), { maxLength: 5 })

const configured: fc.Arbitrary<Config> = managedFields.chain((fields) =>
  settingsFor(fields).map((settings) => configOf(fields, settings)),
)

/** One claim, with what must hold for every claim. */
async function claim(customer: Customer): Promise<void> {
  const { service, config } = customer
  const from = service.calls.length
  const ending = await customer.claim()
  const calls = service.calls.slice(from)
  expect(calls.length).toBeLessThanOrEqual(MOST_CALLS)
  expect(calls.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(MOST_LOOKS)
  expect(calls.filter(({ method }) => method === 'POST').length).toBeLessThanOrEqual(1)
  for (const { method, body, userId } of calls) {
    expect(userId).toBe(KEY)
    const clears = method === 'PUT' && config.unmanaged === 'clear'
    const strangers = Object.keys(body ?? {}).filter(
      (field) => config.mapping[field as OptionalField] === undefined,
    )
    expect(clears ? [] : strangers).toEqual([])
    if (body) expect(body.status).toBeTypeOf('number')
  }
  if (ending !== 'killed') {
    const { taken, givenBack } = customer.permits
    expect(taken - givenBack).toBe(service.calls.length - from)
  }
  Object.assign(customer.permits, { taken: 0, givenBack: 0 })
}

async function live(customer: Customer, steps: readonly Step[]): Promise<void> {
  for (const { row, faults, claims } of steps) {
    customer.row = row
    customer.service.faults.push(...faults)
    for (let n = 0; n < claims; n++) await claim(customer)
  }
  customer.service.faults.length = 0
}

/** Claims until nothing is owed; how many it took. */
async function settle(customer: Customer): Promise<number> {
  for (let n = 1; ; n++) {
    await claim(customer)
    const last = customer.steps.at(-1)
    if (last?.step === 'ended' && last.end.kind === 'settle' && !customer.kept.unknown) return n
    expect(n).toBeLessThan(MOST_CLAIMS)
  }
}

function desired({ config, row }: Customer): DesiredUser | null {
  const mapped = mapCustomer(config, { key: KEY, row: row as Row | null, now: new Date() })
  return mapped.kind === 'user' ? mapped.user : null
}

/** The service holds what is desired, apart from what was left out or refused; and nothing more is sent. */
async function expectRight(customer: Customer): Promise<void> {
  const { service, kept } = customer
  const user = desired(customer)
  const held = service.users.get(KEY) ?? { status: 0 }
  if (user) {
    expect(kept.record.state).toBe('idle')
    const fields = OPTIONAL_FIELDS.filter((field) => user.fields[field] !== undefined)
    const heldBack = { ...kept.record.refused, ...kept.record.conflict?.values }
    const sendable = { ...user, fields: { ...user.fields } }
    for (const field of fields) if (heldBack[field]) delete sendable.fields[field]
    const wrong = fields.filter((field) => !heldBack[field] && !isHeld(field, sendable, held))
    expect({ status: held.status, wrong }).toEqual({ status: user.status, wrong: [] })
  } else expect(held.status).toBe(0)
  const before = service.calls.length
  await claim(customer)
  expect(service.calls.slice(before)).toEqual([])
}

function isHeld(field: OptionalField, { fields }: DesiredUser, held: Stored): boolean {
  // The prefix of a number that is left out may be part of the number that stays.
  const prefix = normalForm('mobile_phone_prefix', fields.mobile_phone_prefix)
  const joined = normalForm('mobile_phone', held.mobile_phone)?.startsWith(prefix ?? '') ?? false
  if (field === 'mobile_phone_prefix' && fields.mobile_phone === undefined && joined) return true
  if (field !== 'country_code') return sameField(field, fields, held)
  return normalForm(field, held[field]) === normalForm(field, fields[field])
}

const withAccess = ['free', 'premium']
const anyRow = fc.oneof(
  { weight: 5, arbitrary: rowOf({ plans: withAccess }) },
  { weight: 1, arbitrary: customerRow.filter((row) => row?.plan !== 'trial') },
)

const trialRows = fc.oneof(
  { weight: 5, arbitrary: rowOf({ plans: ['trial'] }) },
  { weight: 2, arbitrary: rowOf({ plans: withAccess }) },
  { weight: 1, arbitrary: fc.constant(null) },
)

async function holds<T>(given: fc.Arbitrary<T>, check: (played: T) => Promise<void>): Promise<void> {
  await fc.assert(fc.asyncProperty(given, check), { numRuns: RUNS })
}

describe('a claim after the other', () => {
  type Lived = {
    readonly row: fc.Arbitrary<Row | null>
    readonly trouble: fc.Arbitrary<Fault>
    readonly last: fc.Arbitrary<Row | null>
  }
  const premium = rowOf({ plans: withAccess })
  it.each<[string, Lived]>([
    [
      'ends with what is desired, whatever went wrong, and then has nothing to send',
      { row: anyRow, trouble: fault, last: fc.option(premium, { freq: 6 }) },
    ],
    [
      'ends with what was not refused, even where the service refuses without reason',
      { row: anyRow, trouble: anyFault, last: premium },
    ],
    [
      'ends without access once the row is gone, whatever was said of the user before',
      { row: rowOf({ plans: ['premium'] }), trouble: anyFault, last: fc.constant(null) },
    ],
    [
      'ends with the trial that goes on',
      { row: trialRows, trouble: anyFault, last: rowOf({ plans: ['trial'] }) },
    ],
  ])('%s', async (_, { row, trouble, last }) => {
    const steps = fc.array(stepOf(row, trouble), { maxLength: 5 })
    await holds(fc.record({ config: configured, its: habits, steps, last }), async (given) => {
      const customer = makeCustomer({ config: given.config, service: makePureService(given.its) })
      await live(customer, given.steps)
      customer.row = given.last
      await settle(customer)
      const values = Object.values(given.last ?? {})
      const mayRefuse = given.its.refuses('last_name', REFUSED) && values.includes(REFUSED)
      if (given.last && !mayRefuse && trouble === fault) expect(customer.kept.record.refused).toEqual({})
      await expectRight(customer)
    })
  })

  it('sends nothing that the service holds already, and needs one write for a change', async () => {
    const given = fc.record({
      config: configured,
      its: habits.map((its) => ({ ...its, answers: 'object' as const, refuses: () => false })),
      rows: fc.array(rowOf({ plans: withAccess }), { minLength: 1, maxLength: 6 }),
    })
    await holds(given, async ({ config, its, rows }) => {
      const customer = makeCustomer({ config, service: makePureService(its) })
      for (const row of rows) {
        const from = customer.service.calls.length
        customer.row = row
        await claim(customer)
        const calls = customer.service.calls.slice(from)
        // Only a customer that has no access from the start gets a lookup first.
        const first = calls[0]?.method === 'GET' && from === 0
        expect(calls.length).toBeLessThanOrEqual(first ? 2 : 1)
        expect(calls.slice(first ? 1 : 0).map(({ method }) => method)).not.toContain('GET')
        for (const { method, body, before } of calls) {
          if (method !== 'PATCH') continue
          const held = (field: string) => before?.[field] || null
          const fields = Object.keys(body ?? {}).filter((field) => field !== 'status')
          expect(fields.filter((field) => (body?.[field] || null) === held(field) && held(field))).toEqual([])
          expect(fields.length > 0 || body?.status !== before?.status).toBe(true)
        }
      }
      await expectRight(customer)
    })
  })

  it('adopts a user who was there before: what the mapping does not set stays', async () => {
    const given = fc.record({
      fields: fc.subarray<OptionalField>([...OPTIONAL_FIELDS]),
      // A service that answers a create with 500 looks like one that lost the answer.
      its: habits.filter(({ duplicate }) => duplicate !== 'upsert' && duplicate !== 500),
      there: rowOf({ plans: withAccess, values: plainValues }),
      rows: fc.array(rowOf({ plans: withAccess, values: plainValues }), { minLength: 1, maxLength: 3 }),
    })
    await holds(given, async ({ fields, its, there, rows }) => {
      const service = makePureService(its)
      const before = mapCustomer(configOf(), { key: KEY, row: there, now: new Date() })
      if (before.kind !== 'user') throw new Error('the user who is there is one')
      service.users.set(KEY, { ...before.user.fields, status: before.user.status })
      const customer = makeCustomer({ config: configOf(fields), service })
      for (const row of rows) {
        customer.row = row
        await settle(customer)
      }
      await expectRight(customer)
      for (const field of OPTIONAL_FIELDS.filter((each) => !fields.includes(each)))
        expect(service.users.get(KEY)?.[field]).toEqual(before.user.fields[field])
    })
  })
})

describe('a value that another user has', () => {
  const PHONE: Partial<Record<OptionalField, string>> = {
    mobile_phone: '600111222',
    mobile_phone_prefix: '34',
  }
  const row = rowOf({ plans: withAccess, values: (field) => [PHONE[field] ?? plainValues(field)].flat() })
  const given = fc.record({
    config: configured,
    its: habits.chain((its) => fc.constantFrom(...CONFLICTS).map((taken) => ({ ...its, taken }))),
    there: fc.option(row),
    steps: fc.array(stepOf(fc.option(row, { freq: 8 }), anyFault), { maxLength: 4 }),
    last: row,
  })
  const others = ['ana@correo.es', 'luis@correo.es']

  it('keeps neither access nor other users waiting, and is there once it is free', async () => {
    await holds(given, async ({ config, its, there, steps, last }) => {
      const service = makePureService({ ...its, refuses: () => false })
      for (const email of others) service.users.set(email, { status: 2, email })
      const before = mapCustomer(configOf(), { key: KEY, row: there, now: new Date() })
      if (before.kind === 'user') {
        const { country_code: _hidden, ...shown } = before.user.fields
        service.users.set(KEY, { ...shown, email: 'old@correo.es', status: before.user.status })
      }
      const customer = makeCustomer({ config, service })
      await live(customer, steps)
      customer.row = last
      // The time comes again and again, and the value is still taken.
      for (let n = 0; n < 4; n++) {
        const from = service.calls.length
        customer.kept.replanInMs = null
        await settle(customer)
        await expectRight(customer)
        // The value; if others wait with it, these alone; and once its earlier one is cleared.
        const writes = service.calls.slice(from).filter(({ method }) => method !== 'GET')
        if (n > 0 && its.answers !== 'null') expect(writes.length).toBeLessThanOrEqual(3)
        for (const email of others) expect(service.users.get(email)).toEqual({ status: 2, email })
      }
      for (const email of others) service.users.delete(email)
      // A row that has passed for refused because of a fault is sent again when it changes.
      customer.row = { ...last, first_name: 'another' }
      customer.kept.replanInMs = null
      await settle(customer)
      await expectRight(customer)
      expect(customer.kept.record).toMatchObject({ refused: {}, conflict: null })
    })
  })
})

const trialsGranted = ({ calls }: PureService) =>
  calls.filter(({ before, after }) => after?.status === 4 && before?.status !== 4).length

describe('a trial', () => {
  it('that ended at the service is not granted again, unless the customer came anew to it', async () => {
    const given = fc.record({
      config: configured,
      its: habits,
      steps: fc.array(fc.record({ step: stepOf(trialRows, faultWithoutDenial), ends: fc.boolean() }), {
        maxLength: 6,
      }),
    })
    await holds(given, async ({ config, its, steps }) => {
      const service = makePureService(its)
      const customer = makeCustomer({ config, service })
      let plan: unknown = null
      let earned = 0
      for (const { step, ends } of steps) {
        const now = step.row?.plan ?? null
        if (now === 'trial' && plan !== 'trial') earned++
        plan = now
        await live(customer, [step])
        await settle(customer)
        const held = service.users.get(KEY)
        if (ends && held?.status === 4) service.users.set(KEY, { ...held, status: 0 })
      }
      expect(trialsGranted(service)).toBeLessThanOrEqual(earned)
    })
  })

  /**
   * Only an answer or a GET shows whether a customer has had a trial. If the answer to the grant was lost,
   * with the process or without, and the trial ended before any lookup, it is granted once more: nothing tells
   * this from a grant that never arrived, and the customer is not to be shut out by it.
   */
  it('that ends at any time is granted again only where its grant was never heard of or seen', async () => {
    const given = fc.record({
      config: configured,
      its: habits,
      steps: fc.array(fc.record({ row: trialRows, faults: stepFaults, ends: fc.array(fc.boolean()) }), {
        maxLength: 6,
      }),
    })
    await holds(given, async ({ config, its, steps }) => {
      const service = makePureService(its)
      const customer = makeCustomer({ config, service })
      let plan: unknown = null
      let earned = 0
      let unheard = 0
      for (const { row, faults, ends } of steps) {
        if (row?.plan === 'trial' && plan !== 'trial') earned++
        plan = row?.plan ?? null
        customer.row = row
        service.faults.push(...faults)
        for (const end of ends) {
          await claim(customer)
          const held = service.users.get(KEY)
          if (!end || held?.status !== 4) continue
          const { unknown, record } = customer.kept
          if (unknown || record.remote !== 'present' || record.sentStatus !== 4) unheard++
          service.users.set(KEY, { ...held, status: 0 })
        }
        service.faults.length = 0
      }
      await settle(customer)
      expect(trialsGranted(service)).toBeLessThanOrEqual(earned + unheard)
    })
  })
})

describe('what is remembered', () => {
  it('outlives another digest key: it is refreshed by a GET, and nothing is written', async () => {
    const given = fc.record({
      config: configured,
      its: habits.map((its) => ({ ...its, refuses: () => false })),
      row: rowOf(),
      troubles: fc.array(fault, { maxLength: 3 }),
    })
    await holds(given, async ({ config, its, row, troubles }) => {
      const customer = makeCustomer({ config, service: makePureService(its), row })
      await settle(customer)
      customer.secret = 'another digest key of 32 letters!'
      const from = customer.service.calls.length
      const readOnly = troubles.filter(({ kind }) => kind !== 'killed')
      customer.service.faults.push(...readOnly)
      for (const _ of readOnly) await claim(customer)
      customer.service.faults.length = 0
      await settle(customer)
      const calls = customer.service.calls.slice(from)
      expect(new Set(calls.map(({ method }) => method))).toEqual(new Set(['GET']))
      await expectRight(customer)
    })
  })

  it('follows a mapping that sets other fields than before', async () => {
    const given = fc.record({
      mappings: fc.array(configured, { minLength: 2, maxLength: 4 }),
      its: habits,
      rows: fc.array(rowOf({ plans: withAccess }), { minLength: 4, maxLength: 4 }),
      edits: fc.array(fc.constantFrom(...OPTIONAL_FIELDS), { maxLength: 3 }),
    })
    await holds(given, async ({ mappings, its, rows, edits }) => {
      const service = makePureService(its)
      const customer = makeCustomer({ service })
      for (const [at, config] of mappings.entries()) {
        customer.config = config
        customer.row = rows[at] ?? null
        await settle(customer)
        // Another system may set a field that the mapping does not manage, without a report.
        const held = service.users.get(KEY)
        const free = edits.filter((field) => config.mapping[field] === undefined)
        if (held && config.unmanaged === 'keep')
          service.users.set(KEY, { ...held, ...Object.fromEntries(free.map((field) => [field, 'theirs'])) })
      }
      await expectRight(customer)
    })
  })

  it('that a create which a crash hides may have carried a country, although a GET has denied the user since', async () => {
    const customer = makeCustomer({ config: configOf(['country_code']) })
    const row = (plan: string, country_code: string | null) => ({ id: KEY, plan, country_code })
    await live(customer, [
      { row: row('premium', 'ES'), faults: [{ kind: 'killed', applied: true }], claims: 1 },
      { row: null, faults: [{ kind: 'answer', status: 410, applied: false }], claims: 1 },
      { row: row('free', null), faults: [{ kind: 'lost', applied: false }], claims: 1 },
    ])
    await settle(customer)
    expect(customer.service.users.get(KEY)).toEqual({ status: 0, country_code: null })
  })
})
