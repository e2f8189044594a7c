import { describe, expect, it } from 'vitest'
import type { Mapped } from '../../src/model/mapped.ts'
import { DOUBTED } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { makeCustomer } from '../support/pure-claims.ts'
import { makePureService } from '../support/pure-service.ts'
import { ABSENT, type Answer, exact, PREMIUM, play, REMOVED, SETTLED, user } from '../support/turn-scene.ts'

const changed = user(2, { email: 'b@x.es' })
const FREE = { ...PREMIUM, sentStatus: 0 }
const PATCH = 'PATCH {"status":2,"email":"b@x.es"}'

describe('a write that is answered with another user, or another status', () => {
  it.each<[string, Mapped, Memory]>([
    ['create', user(2, { email: 'b@x.es' }), ABSENT],
    ['update', changed, PREMIUM],
    ['revocation', REMOVED, PREMIUM],
  ])('is looked at: a %s is done where a GET confirms it', (_what, mapped, memory) => {
    const status = mapped === REMOVED ? 0 : 2
    const { calls, end, turn } = play(mapped, memory, ['other', { user: { status, email: 'b@x.es' } }])
    expect([calls.length, calls[1], end]).toEqual([2, 'GET', SETTLED])
    expect(turn).toMatchObject({ acknowledged: true, memory: { remote: 'present', sentStatus: status } })
  })

  it('leaves the user unknown where a GET shows what was there before', () => {
    const { end, turn } = play(changed, PREMIUM, ['other', { user: { status: 2, email: 'a@x.es' } }])
    expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'not-confirmed' } })
    expect(turn.memory.remote).toBe('unknown')
  })
})

describe('a write that is answered with JSON null', () => {
  it('was done where the status is as it was written, whatever form the rest has', () => {
    const shown = { user: { status: 2, email: 'B@X.ES' } }
    const { calls, end, turn } = play(changed, PREMIUM, ['null', shown])
    expect([calls, end]).toEqual([[PATCH, 'GET'], SETTLED])
    expect(turn).toMatchObject({ acknowledged: true, sure: true })
    expect(turn.memory.sent.email).toBe(exact('email', 'b@x.es'))
  })

  it.each<[string, Mapped, Memory, Answer]>([
    ['nobody is there', changed, PREMIUM, 404],
    ['nobody is there to be revoked', REMOVED, PREMIUM, 404],
    ['another status is shown', user(0, { email: 'a@x.es' }), PREMIUM, { user: { status: 2 } }],
    ['no access is shown where there was none before a trial', user(4), FREE, { user: { status: 0 } }],
    ['no access is shown where there is to be full access', user(2), FREE, { user: { status: 0 } }],
    ['a field shows just what it held', changed, PREMIUM, { user: { status: 2, email: 'a@x.es' } }],
  ])(
    'is not confirmed where %s: the user is unknown until a GET can be believed',
    (_what, mapped, memory, answer) => {
      const { end, turn } = play(mapped, memory, ['null', answer])
      expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'not-confirmed' } })
      // Acknowledged says when: the next look waits from there.
      expect(turn).toMatchObject({ memory: { remote: 'unknown' }, acknowledged: true, setAside: null })
    },
  )

  it('proves nothing of a country, which no GET shows, unless something beside it shows that it was carried out', () => {
    const shown = { user: { status: 2, email: 'a@x.es' } }
    const alone = user(2, { email: 'a@x.es', country_code: 'ES' })
    const first = play(alone, PREMIUM, ['null', shown])
    expect(first.end).toMatchObject({ kind: 'retry', reason: { code: 'not-confirmed' } })
    expect(first.turn.memory.sent.country_code).toBe(DOUBTED)
    // Sent once more it is believed: the service may answer so for ever.
    const again = { ...PREMIUM, sent: { ...PREMIUM.sent, country_code: DOUBTED } }
    expect(play(alone, again, ['null', shown]).end).toEqual(SETTLED)
    const beside = user(2, { email: 'b@x.es', country_code: 'ES' })
    expect(play(beside, PREMIUM, ['null', { user: { status: 2, email: 'b@x.es' } }]).end).toEqual(SETTLED)
    const granted = user(2, { country_code: 'ES' })
    expect(play(granted, FREE, ['null', { user: { status: 2 } }]).end).toEqual(SETTLED)
  })

  it('grants no second trial by being asked again', () => {
    const { end } = play(user(4), PREMIUM, ['null', { user: { status: 0 } }])
    expect(end).toEqual(SETTLED)
  })

  it('confirms a status that goes alone after a refusal, and the refused field stays aside', () => {
    const { end, turn } = play(changed, PREMIUM, [422, 'null', { user: { status: 2 } }])
    expect(end).toEqual(SETTLED)
    expect(Object.keys(turn.memory.refused)).toEqual(['email'])
  })

  it('leaves the user unknown where the look fails', () => {
    const { end, turn } = play(changed, PREMIUM, ['null', 503])
    expect(end).toMatchObject({ kind: 'retry', reason: { code: 'failed' } })
    expect(turn.memory.remote).toBe('unknown')
    expect(turn).toMatchObject({ acknowledged: true, unclear: null })
  })

  it('to a create is looked at too', () => {
    expect(play(user(2), ABSENT, ['null', { user: { status: 2 } }]).calls).toEqual([
      'POST {"user_id":"u7","status":2}',
      'GET',
    ])
  })

  it('does not hide that somebody vanished', async () => {
    const service = makePureService({ notThere: 'null', answers: 'null' })
    const row = { id: '7', plan: 'premium', email: 'ana@correo.es' }
    const customer = makeCustomer({ service, row })
    await customer.claim()
    service.users.clear()
    customer.row = { ...row, email: 'eva@correo.es' }
    await customer.claim()
    await customer.claim()
    expect(service.users.get('7')).toMatchObject({ status: 2, email: 'eva@correo.es' })
  })
})

describe('"not there" soon after a write', () => {
  it('is not believed: a deleted customer would be settled, and the user appear later', () => {
    const { end, turn } = play(REMOVED, PREMIUM, [404], { lookAfterMs: 700 })
    expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'not-there-yet' } })
    expect(turn.memory.remote).toBe('unknown')
  })
})

describe('a look soon after a write', () => {
  const trial = { ...PREMIUM, sentStatus: 4 }

  it('waits until a GET can be believed, and says nothing against the customer', () => {
    const { calls, end } = play(user(4, { email: 'b@x.es' }), trial, [], { lookAfterMs: 700 })
    expect(calls).toEqual([])
    expect(end).toMatchObject({ kind: 'retry', failed: false, released: true, waitMs: 700 })
  })

  it('does not wait where the answer to the write said nothing', () => {
    const answers = ['null', { user: { status: 2 } }] as const
    expect(play(changed, PREMIUM, answers, { lookAfterMs: 700 }).calls).toEqual([PATCH, 'GET'])
  })

  it('is measured from when the service acknowledged the write', async () => {
    const row = { id: '7', plan: 'trial', email: 'ana@correo.es' }
    const customer = makeCustomer({ row })
    await customer.claim()
    customer.row = { ...row, email: 'eva@correo.es' }
    const { record } = customer.kept
    const written = (ago: number) => ({
      readRecord: async () => ({
        ...record,
        writtenAgoMs: ago,
        verifiedAgoMs: null,
        desired: null,
        newcomer: false,
      }),
    })
    await customer.claim({}, written(1000))
    expect(customer.service.calls.length).toBe(1)
    expect(customer.steps.at(-1)).toMatchObject({ step: 'ended', end: { waitMs: 4000 } })
    await customer.claim({}, written(-3_600_000))
    expect(customer.steps.at(-1)).toMatchObject({ step: 'ended', end: { waitMs: 5000 } })
    await customer.claim({}, written(5000))
    expect(customer.service.users.get('7')).toMatchObject({ status: 4, email: 'eva@correo.es' })
  })
})
