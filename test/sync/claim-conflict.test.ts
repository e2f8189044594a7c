import { describe, expect, it } from 'vitest'
import { NO_VALUE } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { rememberRefused } from '../../src/sync/refusal.ts'
import { ABSENT, type Answer, digests, exact, PREMIUM, play, SETTLED, user } from '../support/claim-scene.ts'

const mapped = user(2, { email: 'b@x.es', last_name: 'Gil' })
const BARE = 'POST {"user_id":"u7","status":2}'
const WHOLE = 'POST {"user_id":"u7","status":2,"email":"b@x.es","last_name":"Gil"}'
const VALUE = digests.normal('email', 'b@x.es')

/** Its time has come. */
function due(memory: Memory): Memory {
  return { ...memory, conflict: memory.conflict && { ...memory.conflict, phase: 'due' } }
}

const says = (named: readonly 'email'[], status = 422): Answer => ({ named, status, conflict: true })

it('what is cleared beside a value that another user has is cleared all the same', () => {
  const known = { ...PREMIUM, sent: { ...PREMIUM.sent, nid_number: exact('nid_number', 'X1') } }
  const { calls, end, after } = play(user(2, { email: 'b@x.es', nid_number: null }), known, [409, 200, 200])
  expect(calls).toEqual([
    'PATCH {"status":2,"email":"b@x.es","nid_number":null}',
    'PATCH {"status":2}',
    'PATCH {"status":2,"nid_number":null}',
  ])
  expect(end).toEqual(SETTLED)
  expect(after.memory).toMatchObject({ refused: {}, sent: { nid_number: NO_VALUE } })
})

it('a refusal is remembered without those that stand no longer, which would undo it in the same claim', () => {
  const stale = { ...PREMIUM, refused: { email: NO_VALUE } }
  const facts = { desired: mapped.kind === 'user' ? mapped.user : null, digests }
  const { refused } = rememberRefused(stale, { fields: ['last_name'], conflicting: [] }, facts)
  expect(refused).toEqual({ last_name: exact('last_name', 'Gil') })
})

describe('a create that is refused because of another user, without such a user', () => {
  it('goes with the user_id and the status alone next, and then brings what is not suspected', () => {
    const first = play(mapped, ABSENT, [409, 404])
    expect(first.calls).toEqual([WHOLE, 'GET'])
    expect(first.end).toEqual({ kind: 'retry', reason: { code: 'conflict', status: 409 }, failed: true })
    const second = play(mapped, first.after.memory, [201, 200])
    expect(second.calls).toEqual([BARE, 'PATCH {"status":2,"last_name":"Gil"}'])
    expect(second.end).toEqual(SETTLED)
    expect(second.after.memory).toMatchObject({
      refused: {},
      conflict: { values: { email: VALUE }, tries: 1, phase: 'waiting' },
    })
    expect(play(mapped, second.after.memory, []).end).toEqual(SETTLED)
  })

  it.each([409, 400, 422])('goes without the field that the answer names (%i)', (status) => {
    const first = play(mapped, ABSENT, [says(['email'], status), 404])
    const reason = { code: 'conflict', status, named: ['email'] }
    expect(first.end).toEqual({ kind: 'retry', reason, failed: true })
    const second = play(mapped, first.after.memory, [201])
    expect(second.calls).toEqual(['POST {"user_id":"u7","status":2,"last_name":"Gil"}'])
    expect(second.after.memory.conflict).toMatchObject({ values: { email: VALUE }, phase: 'waiting' })
  })

  it.each<[string, Answer, Answer]>([
    ['409', 409, 409],
    ['422 that says so', says([]), says([])],
    ['422 that insists on a value', 409, 422],
  ])('is never rejected: with the user_id alone (%s) all values are tried again', (_what, first, second) => {
    const bare = play(mapped, play(mapped, ABSENT, [first, 404]).after.memory, [second, 404])
    expect(bare.calls[0]).toBe(BARE)
    expect(bare.end).toMatchObject({ kind: 'retry', failed: true })
    expect(bare.after.memory).toMatchObject({ refused: {}, conflict: null })
    expect(play(mapped, bare.after.memory, [201]).calls).toEqual([WHOLE])
  })

  it('leaves nothing out of the user that a GET shows late', () => {
    const late = play(mapped, ABSENT, [409, 404]).after.memory
    const there = { user: { status: 0 } }
    const { calls, end, after } = play(mapped, late, [409, there, 200])
    expect(calls).toEqual([BARE, 'GET', 'PATCH {"status":2,"email":"b@x.es","last_name":"Gil"}'])
    expect([end, after.memory.conflict]).toEqual([SETTLED, null])
  })
})

describe('an update that is refused because of another user', () => {
  const first = play(mapped, PREMIUM, [409, 200])

  it('goes without what services commonly take once, and that waits for its time', () => {
    expect(first.calls).toEqual([
      'PATCH {"status":2,"email":"b@x.es","last_name":"Gil"}',
      'PATCH {"status":2,"last_name":"Gil"}',
    ])
    expect(first.after.memory).toMatchObject({
      refused: {},
      sent: PREMIUM.sent,
      conflict: { values: { email: VALUE }, tries: 1, phase: 'waiting' },
    })
    const other = user(2, { email: 'b@x.es', last_name: 'Sanz' })
    expect(play(other, first.after.memory, [200]).calls).toEqual(['PATCH {"status":2,"last_name":"Sanz"}'])
  })

  it('is over once the value changes, or is taken', () => {
    const other = user(2, { email: 'c@x.es', last_name: 'Gil' })
    const changed = play(other, first.after.memory, [200])
    expect(changed.calls).toEqual(['PATCH {"status":2,"email":"c@x.es"}'])
    expect(changed.after.memory.conflict).toBeNull()
    expect(play(mapped, due(first.after.memory), [200]).calls).toEqual([
      'PATCH {"status":2,"email":"b@x.es"}',
    ])
  })

  it('is over once a GET shows the value', () => {
    const memory = { ...first.after.memory, remote: 'unknown' as const }
    const { after } = play(mapped, memory, [{ user: { status: 2, email: 'B@X.es', last_name: 'Gil' } }])
    expect(after.memory.conflict).toBeNull()
  })

  describe('again', () => {
    const again = play(mapped, due(first.after.memory), [409, 200])

    it('gives up the earlier value, which another customer may wait for, and waits longer', () => {
      expect(again.calls).toEqual(['PATCH {"status":2,"email":"b@x.es"}', 'PATCH {"status":2,"email":null}'])
      expect(again.end).toEqual(SETTLED)
      expect(again.after.memory).toMatchObject({
        sent: { email: NO_VALUE },
        conflict: { values: { email: VALUE }, tries: 2, phase: 'waiting' },
      })
      expect(play(mapped, again.after.memory, []).end).toEqual(SETTLED)
    })

    it('costs one call each time once there is nothing to give up', () => {
      const third = play(mapped, due(again.after.memory), [409])
      expect(third.end).toEqual(SETTLED)
      expect(third.after.memory.conflict?.tries).toBe(3)
    })

    it('keeps the earlier value where the service does not take it back', () => {
      const kept = play(mapped, due(first.after.memory), [409, 422, 200])
      expect(kept.calls.at(-1)).toBe('PATCH {"status":2}')
      expect(kept.after.memory.refused).toEqual({ email: exact('email', null) })
      expect(play(mapped, kept.after.memory, []).end).toEqual(SETTLED)
    })
  })

  it('of several values finds out which it is, one at a time, and clears none before', () => {
    const three = user(2, { email: 'b@x.es', nid_number: '12345678Z', contract_number: 'C-1' })
    const held = { ...PREMIUM, sent: { ...PREMIUM.sent, nid_number: 'd1', contract_number: 'd2' } }
    const all = '"email":"b@x.es","nid_number":"12345678Z","contract_number":"C-1"'
    const one = play(three, held, [409, 200])
    expect(one.calls).toEqual([`PATCH {"status":2,${all}}`, 'PATCH {"status":2}'])
    const two = play(three, due(one.after.memory), [409, 409, 409])
    expect(two.calls.slice(1)).toEqual([
      'PATCH {"status":2,"nid_number":"12345678Z","contract_number":"C-1"}',
      'PATCH {"status":2,"contract_number":"C-1"}',
    ])
    expect(two.end).toEqual(SETTLED)
    const found = play(three, due(two.after.memory), [409, 200])
    expect(found.calls[1]).toBe('PATCH {"status":2,"email":"b@x.es","contract_number":"C-1"}')
    expect(found.after.memory.conflict).toMatchObject({ tries: 1, values: { nid_number: expect.anything() } })
    const last = play(three, due(found.after.memory), [409, 200])
    expect(last.calls[1]).toBe('PATCH {"status":2,"nid_number":null}')
  })

  it('finds out which it is also where each answer names another one', () => {
    const two = user(2, { email: 'b@x.es', nid_number: '12345678Z', last_name: 'Gil' })
    const wrong = says(['email'], 409)
    const one = play(two, PREMIUM, [wrong, wrong, 200])
    expect(one.calls[2]).toBe('PATCH {"status":2,"last_name":"Gil"}')
    const again = play(two, due(one.after.memory), [wrong, wrong, wrong])
    const found = play(two, due(again.after.memory), [wrong, wrong, 200])
    expect(found.calls[2]).toBe('PATCH {"status":2,"email":"b@x.es"}')
    expect(Object.keys(found.after.memory.conflict?.values ?? {})).toEqual(['nid_number'])
  })

  it('sends what became free where the answer names the other one', () => {
    const two = user(2, { email: 'b@x.es', nid_number: '12345678Z', last_name: 'Gil' })
    const nid: Answer = { named: ['nid_number'], status: 409, conflict: true }
    const one = play(two, PREMIUM, [says(['email'], 409), nid, 200])
    expect(Object.keys(one.after.memory.conflict?.values ?? {})).toEqual(['email', 'nid_number'])
    for (const tries of [1, 2, 3]) {
      const memory = due(one.after.memory)
      const freed = play(two, { ...memory, conflict: memory.conflict && { ...memory.conflict, tries } }, [
        nid,
        200,
      ])
      expect(freed.calls[1]).toBe('PATCH {"status":2,"email":"b@x.es"}')
    }
  })
})
