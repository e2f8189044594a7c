import { describe, expect, it } from 'vitest'
import { reasonOf } from '../../src/sync/refusal.ts'
import { ABSENT, type Answer, digests, exact, PREMIUM, play, SETTLED, user } from '../support/claim-scene.ts'

const mapped = user(2, { email: 'b@x.es', last_name: 'Gil', gender: 1 })
const whole = 'PATCH {"status":2,"email":"b@x.es","last_name":"Gil","gender":1}'
const names = (named: Extract<Answer, { named: unknown }>['named'], status = 422): Answer => ({
  named,
  status,
})

describe('an update whose refusal names fields', () => {
  it('goes without them, and they alone become issues', () => {
    const { calls, end, after } = play(mapped, PREMIUM, [names(['last_name']), 200])
    expect(calls).toEqual([whole, 'PATCH {"status":2,"email":"b@x.es","gender":1}'])
    expect(end).toEqual(SETTLED)
    expect(after.memory.refused).toEqual({ last_name: exact('last_name', 'Gil') })
    expect(after.memory.sent.email).toBe(exact('email', 'b@x.es'))
    expect(play(mapped, after.memory, []).end).toEqual(SETTLED)
  })

  it('sends a refused number again when its prefix changes', () => {
    const phone = (prefix: string) => user(2, { mobile_phone: '600111222', mobile_phone_prefix: prefix })
    const { after } = play(phone('33'), PREMIUM, [names(['mobile_phone']), 200])
    expect(play(phone('33'), after.memory, []).end).toEqual(SETTLED)
    const whole = 'PATCH {"status":2,"mobile_phone":"600111222","mobile_phone_prefix":"34"}'
    expect(play(phone('34'), after.memory, [200]).calls).toEqual([whole])
  })

  it('goes on without what each further answer names, one field after the other', () => {
    const answers = [names(['last_name']), names(['email'], 400), 200]
    const { calls, end, after } = play(mapped, PREMIUM, answers)
    expect(calls.slice(1)).toEqual([
      'PATCH {"status":2,"email":"b@x.es","gender":1}',
      'PATCH {"status":2,"gender":1}',
    ])
    expect(end).toEqual(SETTLED)
    expect(Object.keys(after.memory.refused)).toEqual(['email', 'last_name'])
  })

  it('sends the status alone when it is refused again and nothing is named', () => {
    const { calls, after } = play(mapped, PREMIUM, [names(['last_name']), 400, 200])
    expect(calls.at(-1)).toBe('PATCH {"status":2}')
    expect(Object.keys(after.memory.refused)).toEqual(['email', 'last_name', 'gender'])
  })

  it('is rejected when the status alone is refused too, with every field that was tried', () => {
    const { calls, end, after } = play(mapped, PREMIUM, [names(['last_name']), 422, 422])
    expect(calls.length).toBe(3)
    const reason = { code: 'refused', status: 422, fields: ['email', 'last_name', 'gender'] }
    expect(end).toEqual({ kind: 'settle', state: 'rejected', reason })
    expect(after.memory.refused).toEqual({})
  })

  it.each<[string, Answer]>([
    ['every field', names(['email', 'last_name', 'gender'])],
    ['none of its own', names(['description'])],
    ['nothing', 413],
  ])('sends the status alone when it names %s', (_what, answer) => {
    const { calls, end } = play(mapped, PREMIUM, [answer, 200])
    expect(calls).toEqual([whole, 'PATCH {"status":2}'])
    expect(end).toEqual(SETTLED)
  })

  it('sets nothing aside where the rest finds no user, or is not answered', () => {
    const gone = play(mapped, PREMIUM, [names(['last_name']), 404, 201])
    expect(gone.calls[2]).toBe(
      'POST {"user_id":"u7","status":2,"email":"b@x.es","last_name":"Gil","gender":1}',
    )
    expect(gone.after.memory.refused).toEqual({})
    expect(play(mapped, PREMIUM, [names(['last_name']), 'lost']).after.memory.refused).toEqual({})
  })
})

describe('a create whose refusal names fields', () => {
  it('goes without them next time, where there is no such user', () => {
    const first = play(mapped, ABSENT, [names(['gender'], 400), 404])
    const fields = ['email', 'last_name', 'gender']
    const reason = { code: 'refused', status: 400, fields, named: ['gender'] }
    expect(first.end).toEqual({ kind: 'retry', reason, failed: true })
    expect(first.after.memory.refused).toEqual({ gender: exact('gender', 1) })
    const second = play(mapped, first.after.memory, [201])
    expect(second.calls).toEqual(['POST {"user_id":"u7","status":2,"email":"b@x.es","last_name":"Gil"}'])
    expect(second.end).toEqual(SETTLED)
  })

  it('sends everything to a user who is there after all', () => {
    const { calls, end, after } = play(mapped, ABSENT, [names(['gender']), { user: { status: 0 } }, 200])
    expect(calls.slice(1)).toEqual(['GET', whole])
    expect([end, after.memory.refused]).toEqual([SETTLED, {}])
  })
})

it('the reason of a refusal names fields that the call carried, and no others', () => {
  const body = { status: 2 as const, email: 'b@x.es', gender: 1 }
  const plan = { kind: 'patch', body, fields: ['email', 'gender'], keepsStatus: false } as const
  const facts = { plan, status: 422, conflict: false, desired: null, digests, lookupAfterMs: 0 }
  const reason = { code: 'refused', status: 422, fields: ['email', 'gender'] }
  expect(reasonOf('refused', { ...facts, named: ['gender', 'last_name'] })).toEqual({
    ...reason,
    named: ['gender'],
  })
  expect(reasonOf('refused', { ...facts, named: ['last_name'] })).toEqual(reason)
})
