import { describe, expect, it } from 'vitest'
import type { Memory } from '../../src/sync/memory.ts'
import { ABSENT, exact, PREMIUM, play, SETTLED, UNKNOWN, user } from '../support/claim-scene.ts'

describe('a create', () => {
  it.each([400, 404, 409, 410, 413, 414, 422, 431])(
    'that is refused (%i) makes a lookup, adopts and updates',
    (status) => {
      const there = { user: { status: 0, email: 'old@x.es' } }
      const { calls, end } = play(user(2, { email: 'a@x.es' }), ABSENT, [status, there, 200])
      expect(calls.slice(1)).toEqual(['GET', 'PATCH {"status":2,"email":"a@x.es"}'])
      expect(end).toEqual(SETTLED)
    },
  )

  it('that is refused sends what a GET cannot show to the user that it adopts', () => {
    const there = { user: { status: 2 } }
    const memory = { ...ABSENT, sent: { country_code: exact('country_code', 'ES') } }
    const { calls } = play(user(2, { country_code: 'ES' }), memory, [409, there, 200])
    expect(calls.at(-1)).toBe('PATCH {"status":2,"country_code":"ES"}')
  })

  it.each([400, 413, 422, 431])(
    'that is refused (%i) without such a user goes without optional fields next time',
    (status) => {
      const mapped = user(2, { email: 'a@x.es', last_name: null })
      const first = play(mapped, ABSENT, [status, 404])
      expect(first.calls).toEqual(['POST {"user_id":"u7","status":2,"email":"a@x.es"}', 'GET'])
      expect(first.end).toEqual({
        kind: 'retry',
        reason: { code: 'refused', status, fields: ['email'] },
        failed: true,
      })
      const second = play(mapped, first.after.memory, [201])
      expect(second.calls).toEqual(['POST {"user_id":"u7","status":2}'])
      expect(second.end).toEqual(SETTLED)
      expect(Object.keys(second.after.memory.refused)).toEqual(['email'])
    },
  )

  it('that is refused with the required fields alone is rejected, and no other field was to blame', () => {
    const mapped = user(2, { email: 'a@x.es' })
    const first = play(mapped, ABSENT, [422, 404])
    const { calls, end, after } = play(mapped, first.after.memory, [422, 404])
    expect(calls).toEqual(['POST {"user_id":"u7","status":2}', 'GET'])
    const reason = { code: 'refused', status: 422, fields: [] }
    expect(end).toEqual({ kind: 'settle', state: 'rejected', reason })
    expect(after.memory.refused).toEqual({})
  })

  it.each([404, 410])('that is answered %i without such a user says nothing about the values', (status) => {
    const { end, after } = play(user(2, { email: 'a@x.es' }), ABSENT, [status, 404])
    expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'refused', status } })
    expect(after.memory.refused).toEqual({})
    expect(play(user(2), ABSENT, [status, 404]).end.kind).toBe('retry')
  })

  it('after a lookup is not looked up again when it is refused', () => {
    const { calls, end } = play(user(2, { email: 'a@x.es' }), UNKNOWN, [404, 422])
    expect(calls.length).toBe(2)
    expect(end).toMatchObject({ kind: 'retry', reason: { code: 'refused', status: 422 } })
  })

  it('whose lookup fails is tried again, from a lookup', () => {
    const { end, after } = play(user(2), ABSENT, [409, 503])
    expect(end).toMatchObject({ kind: 'retry', reason: { code: 'failed', status: 503 } })
    expect(after.memory.remote).toBe('unknown')
  })

  it('is made once in a claim at most, whatever a write says of a user that a GET has shown', () => {
    const there = { user: { status: 0 } }
    const { calls, end } = play(user(2), ABSENT, [409, there, 404])
    expect(calls.length).toBe(3)
    expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'not-there-yet' } })
    const revoked = play(user(0), UNKNOWN, [{ user: { status: 2 } }, 404])
    expect(revoked.end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'not-there-yet' } })
  })

  it.each<[number, Memory['remote']]>([
    [401, 'absent'],
    [403, 'unknown'],
  ])('that is denied (%i) leaves the user %s', (status, remote) => {
    const { end, after } = play(user(2), ABSENT, [status])
    expect(end).toEqual({ kind: 'retry', reason: { code: 'denied', status }, failed: true })
    expect(after.memory.remote).toBe(remote)
  })
})

describe('an update', () => {
  const mapped = user(2, { email: 'b@x.es', last_name: 'Gil' })
  const whole = 'PATCH {"status":2,"email":"b@x.es","last_name":"Gil"}'

  it('that is refused sends the status alone, and the rest becomes a field issue', () => {
    const { calls, end, after } = play(mapped, PREMIUM, [422, 200])
    expect(calls).toEqual([whole, 'PATCH {"status":2}'])
    expect(end).toEqual(SETTLED)
    expect(after.memory.refused).toEqual({
      email: exact('email', 'b@x.es'),
      last_name: exact('last_name', 'Gil'),
    })
    expect(after.memory.sent.email).toBe(exact('email', 'a@x.es'))
    expect(play(mapped, after.memory, []).end).toEqual(SETTLED)
  })

  it('that is refused with the status alone is rejected', () => {
    const { end, after } = play(mapped, PREMIUM, [422, 400])
    expect(end).toEqual({
      kind: 'settle',
      state: 'rejected',
      reason: { code: 'refused', status: 400, fields: ['email', 'last_name'] },
    })
    expect(after.memory.refused).toEqual({})
  })

  it.each([
    ['the end of access', user(0), [422]],
    ['a status that is answered 409', mapped, [409, 409, 409]],
  ])('%s that is refused is tried again, and never left to a person', (_what, wanted, answers) => {
    expect(play(wanted, PREMIUM, answers).end).toMatchObject({ kind: 'retry', failed: true })
  })

  it.each([404, 410])('of a user who is gone (%i) creates', (status) => {
    const { calls, end } = play(mapped, PREMIUM, [status, 201])
    expect(calls[1]).toBe('POST {"user_id":"u7","status":2,"email":"b@x.es","last_name":"Gil"}')
    expect(end).toEqual(SETTLED)
  })

  it.each([401, 403, 429])('that is answered %i leaves everything as it was', (status) => {
    const { end, after } = play(mapped, PREMIUM, [status])
    expect(end).toEqual({
      kind: 'retry',
      failed: true,
      reason: { code: status === 429 ? 'later' : 'denied', status, fields: ['email', 'last_name'] },
    })
    expect(after).toMatchObject({ memory: PREMIUM, anyTrusted: true, writes: 'refused' })
  })

  it('waits as long as the service says', () => {
    const { end } = play(mapped, PREMIUM, [{ status: 429, retryAfterMs: 7000 }])
    expect(end).toMatchObject({ kind: 'retry', waitMs: 7000 })
  })

  it('that was not sent leaves everything as it was', () => {
    const { end, after } = play(mapped, PREMIUM, ['not-sent'])
    expect(end).toMatchObject({ kind: 'retry', reason: { code: 'not-sent', error: 'refused' } })
    expect(after).toMatchObject({ memory: PREMIUM, anyTrusted: false, writes: 'none' })
  })

  it.each(['lost', 500, 408, 302] as const)('whose outcome is unknown (%s) ends the claim', (answer) => {
    const { end, after } = play(mapped, PREMIUM, [answer])
    expect(end).toMatchObject({ kind: 'unknown', reason: { code: 'unknown' } })
    expect(after).toMatchObject({ memory: PREMIUM, anyTrusted: false, writes: 'lost' })
  })
})
