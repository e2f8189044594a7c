import { describe, expect, it } from 'vitest'
import type { Mapped } from '../../src/sync/map.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { isAccessFirst } from '../../src/sync/next-plan.ts'
import { ABSENT, type Answer, PREMIUM, play, REMOVED, SETTLED, user } from '../support/claim-scene.ts'

describe('a revocation', () => {
  it.each([404, 410])('of a user who is gone (%i) is settled as absent', (status) => {
    const { calls, end, after } = play(REMOVED, PREMIUM, [status])
    expect(calls.length).toBe(1)
    expect(end).toEqual(SETTLED)
    expect(after.memory.remote).toBe('absent')
  })

  it('that is refused is tried again: the row is gone, and nothing would change any more', () => {
    expect(play(REMOVED, PREMIUM, [422]).end).toMatchObject({ kind: 'retry', failed: true })
  })

  it('of unknown outcome is no end of a trial when the customer comes back', () => {
    const lost = play(REMOVED, { ...PREMIUM, sentStatus: 4, seenStatus: 4 }, ['lost'])
    const memory = { ...lost.after.memory, remote: 'unknown' as const }
    const back = play(user(4, { email: 'a@x.es' }), memory, [{ user: { status: 0, email: 'a@x.es' } }, 200])
    expect(back.calls).toEqual(['GET', 'PATCH {"status":4}'])
  })
})

describe('a trial', () => {
  const known = { ...PREMIUM, sentStatus: 4 }
  const edited = user(4, { email: 'b@x.es' })

  it('that goes on is looked up, and its status carried', () => {
    const { calls, after } = play(edited, known, [{ user: { status: 4, email: 'a@x.es' } }, 200])
    expect(calls).toEqual(['GET', 'PATCH {"status":4,"email":"b@x.es"}'])
    expect(after.memory).toMatchObject({ sentStatus: 4, seenStatus: 4 })
  })

  it('that has ended is not granted again by the status that goes alone', () => {
    const { calls } = play(edited, known, [{ user: { status: 0 } }, 422, 200])
    expect(calls.at(-1)).toBe('PATCH {"status":0}')
  })

  it('that has ended is not granted again to a customer that the service denied for a moment', () => {
    const denied = play(edited, { ...known, seenStatus: 0 }, [404, 409])
    const back = play(edited, denied.after.memory, [{ user: { status: 0, email: 'a@x.es' } }, 200])
    expect(back.calls.at(-1)).toBe('PATCH {"status":0,"email":"b@x.es"}')
  })

  it('counts as granted when a GET shows what a call of unknown outcome asked for', () => {
    const asked = play(user(4, { email: 'a@x.es' }), PREMIUM, ['lost'])
    const unknown = { ...asked.after.memory, remote: 'unknown' as const }
    const shown = play(user(4, { email: 'a@x.es' }), unknown, [{ user: { status: 4, email: 'a@x.es' } }])
    const ended = play(edited, { ...shown.after.memory, lookedUp: false }, [
      { user: { status: 0, email: 'a@x.es' } },
      200,
    ])
    expect(ended.calls).toEqual(['GET', 'PATCH {"status":0,"email":"b@x.es"}'])
  })
})

describe('access first, after failures', () => {
  const play3 = (mapped: Mapped, memory: Memory, answers: readonly Answer[]) =>
    play(mapped, memory, answers, { accessFirst: true })
  const edited = user(0, { email: 'b@x.es' })

  it('is a call of its own, and the fields follow', () => {
    expect(play3(edited, PREMIUM, [200, 500])).toMatchObject({
      calls: ['PATCH {"status":0}', 'PATCH {"status":0,"email":"b@x.es"}'],
      end: { kind: 'unknown', reason: { fields: ['email'] } },
      after: { memory: { sentStatus: 0 } },
    })
    expect(play3(user(2, { email: 'a@x.es', gender: null }), ABSENT, [201, 200])).toMatchObject({
      calls: ['POST {"user_id":"u7","status":2}', 'PATCH {"status":2,"email":"a@x.es"}'],
      end: SETTLED,
    })
  })

  it('that fails names no field: it has carried none, not even those without a value', () => {
    const { end } = play3(user(2, { email: 'a@x.es', gender: null }), ABSENT, [500])
    expect(end.reason).toEqual({ code: 'unknown', status: 500 })
  })

  it('looks for the fields of a trial in a claim of its own: a GET may still show what was there before', () => {
    const began = play3(user(4, { email: 'b@x.es' }), { ...PREMIUM, sentStatus: 0 }, [200])
    expect(began).toMatchObject({ calls: ['PATCH {"status":4}'], end: { reason: { code: 'just-written' } } })
  })

  it('changes nothing where access is right already, and registers no customer without access', () => {
    const right = play3(user(2, { email: 'b@x.es' }), PREMIUM, [200])
    expect(right.calls).toEqual(['PATCH {"status":2,"email":"b@x.es"}'])
    const without = play3(user(0, { email: 'a@x.es' }), ABSENT, [201])
    expect(without.calls).toEqual(['POST {"user_id":"u7","status":0,"email":"a@x.es"}'])
  })

  it('that is refused is tried again as a whole: the service may insist on a field', () => {
    const retry = { kind: 'retry', failed: true }
    expect(play3(user(2, { email: 'a@x.es' }), ABSENT, [422, 404]).end).toMatchObject(retry)
    const ended = { ...PREMIUM, sentStatus: 0 }
    expect(play3(user(2, { email: 'b@x.es' }), ended, [422]).end).toMatchObject(retry)
  })

  it('comes with the third failure, but not after a refusal', () => {
    const first = [0, 2, 3, 4, 5, 6, 7, 8, 9].filter((attempts) =>
      isAccessFirst(attempts, { code: 'unknown' }),
    )
    expect(first).toEqual([3, 4, 5, 6, 7, 8, 9])
    for (const code of ['refused', 'conflict'] as const) expect(isAccessFirst(9, { code })).toBe(false)
  })
})

it('a create that is answered 403 leaves no field out for good: it may be about the account', () => {
  const { end, after } = play(user(2, { email: 'a@x.es', first_name: 'Ana' }), ABSENT, [
    { status: 403, named: ['first_name'] },
  ])
  expect(end).toMatchObject({ kind: 'retry', reason: { code: 'denied' } })
  expect(after.memory.refused).toEqual({})
})
