import { describe, expect, it } from 'vitest'
import { NO_RECORD } from '../../src/ledger/record.ts'
import { UNKNOWN_VALUE } from '../../src/sync/digest.ts'
import type { Mapped } from '../../src/sync/map.ts'
import type { Memory } from '../../src/sync/memory.ts'
import {
  ABSENT,
  type Answer,
  exact,
  PREMIUM,
  play,
  REMOVED,
  SETTLED,
  UNKNOWN,
  user,
} from '../support/claim-scene.ts'
import { makeCustomer } from '../support/pure-claims.ts'
import { makePureService } from '../support/pure-service.ts'

const changed = user(2, { email: 'b@x.es' })
const country = user(2, { email: 'a@x.es', country_code: 'ES' })
const PATCH = 'PATCH {"status":2,"email":"b@x.es"}'
const UNCLEAR = { kind: 'unknown', reason: { code: 'unclear', status: 200 } }
const old = { user: { status: 2, email: 'a@x.es' } }

describe.each<Answer & string>(['null', 'other'])('a write that is answered with 200 and %s', (said) => {
  it.each<[string, Mapped, Memory]>([
    ['create', user(2), ABSENT],
    ['update', changed, PREMIUM],
    ['revocation', REMOVED, PREMIUM],
  ])('is unknown: a %s ends the claim', (_what, mapped, memory) => {
    const { calls, end, after } = play(mapped, memory, [said])
    expect([calls.length, end]).toMatchObject([1, UNCLEAR])
    // Acknowledged says when: other customers with this user wait from then on.
    expect(after).toMatchObject({ writes: 'accepted', anyTrusted: false })
  })

  it('counts as a yes in a claim that has lookedUp: it is not sent for ever', () => {
    const { calls, end, after } = play(changed, UNKNOWN, [old, said])
    expect([calls, end]).toEqual([['GET', PATCH], SETTLED])
    expect(after).toMatchObject({ writes: 'accepted', anyTrusted: true, memory: { remote: 'present' } })
    expect(after.memory.sent.email).toBe(exact('email', 'b@x.es'))
  })

  it.each<[string, Mapped, readonly Answer[]]>([
    ['create', user(2), [404]],
    ['revocation', REMOVED, [old]],
    ['update that takes access', user(0, { email: 'b@x.es' }), [old]],
    ['update that gives access', changed, [{ user: { status: 0, email: 'a@x.es' } }]],
  ])('stays unknown after a lookup too where it is a %s', (_what, mapped, answers) => {
    const { end, after } = play(mapped, UNKNOWN, [...answers, said])
    expect(end).toMatchObject(UNCLEAR)
    // Status 0 that is seen next does not pass for what was agreed on.
    expect(after.memory.sentStatus === 0).toBe(false)
  })

  it('counts as a yes where it takes no access from a user who has none', () => {
    const free = { user: { status: 0, email: 'a@x.es' } }
    expect(play(user(0, { email: 'b@x.es' }), UNKNOWN, [free, said]).end).toEqual(SETTLED)
  })

  it('sends a country again once, and then assumes it', () => {
    const first = play(country, PREMIUM, [said])
    expect(first.after.memory.sent.country_code).toBe(UNKNOWN_VALUE)
    // An earlier unknown outcome says nothing about this answer.
    const { calls, end, after } = play(country, { ...first.after.memory, remote: 'unknown' }, [
      { user: { status: 2 } },
      said,
      said,
    ])
    expect(calls.slice(1)).toEqual([
      'PATCH {"status":2,"email":"a@x.es","country_code":"ES"}',
      'PATCH {"status":2,"country_code":"ES"}',
    ])
    expect([end, after.memory.sent.country_code]).toEqual([SETTLED, exact('country_code', 'ES')])
  })

  it('grants a trial again until a GET shows it: status 0 would pass for the end of one', () => {
    const without = { user: { status: 0 } }
    const { calls, end, after } = play(user(4), UNKNOWN, [without, said])
    expect([calls, end]).toMatchObject([['GET', 'PATCH {"status":4}'], UNCLEAR])
    const next = { ...after.memory, remote: 'unknown' } as const
    expect(play(user(4), next, [without, 200]).calls).toEqual(calls)
    expect(play(user(4), next, [{ user: { status: 4 } }])).toMatchObject({ calls: ['GET'], end: SETTLED })
  })
})

describe('a user who vanished', () => {
  it('does not stay away where null also answers for a missing user', async () => {
    const service = makePureService({ notThere: 'null', answers: 'null' })
    const row = { id: '7', plan: 'premium', email: 'ana@correo.es' }
    const customer = makeCustomer({ service, row })
    await customer.claim()
    service.users.clear()
    customer.row = { ...row, email: 'eva@correo.es' }
    await customer.claim()
    await customer.claim()
    await customer.claim()
    expect(customer.kept).toMatchObject({ unknown: false, record: { remote: 'present' } })
    expect(service.users.get('7')).toMatchObject({ status: 2, email: 'eva@correo.es' })
  })
})

it('"not there" soon after a write is not credible: a deleted customer would be settled, and the user appear later', () => {
  const { end, after } = play(REMOVED, PREMIUM, [404], { lookupAfterMs: 700 })
  expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'not-there-yet' } })
  expect(after.memory.remote).toBe('unknown')
})

describe('a lookup soon after a write', () => {
  it('is measured from when the service acknowledged the write', async () => {
    const row = { id: '7', plan: 'trial', email: 'ana@correo.es' }
    const customer = makeCustomer({ row })
    await customer.claim()
    customer.row = { ...row, email: 'eva@correo.es' }
    const { record } = customer.kept
    const written = (ago: number) => ({
      readRecord: async () => ({ ...NO_RECORD, ...record, writtenAgoMs: ago, isNew: false }),
    })
    await customer.claim({}, written(1000))
    expect(customer.service.calls.length).toBe(1)
    expect(customer.steps.at(-1)).toMatchObject({ step: 'ended', end: { waitMs: 4000 } })
    await customer.claim({}, written(-1000))
    expect(customer.steps.at(-1)).toMatchObject({ step: 'ended', end: { waitMs: 5000 } })
    // The clock was set back, so it cannot be said how long ago that was.
    await customer.claim({}, written(-3_600_000))
    expect(customer.service.users.get('7')).toMatchObject({ status: 4, email: 'eva@correo.es' })
  })
})
