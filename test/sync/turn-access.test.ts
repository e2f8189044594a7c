import { describe, expect, it } from 'vitest'
import { PREMIUM, play, REMOVED, SETTLED, UNKNOWN, user } from '../support/turn-scene.ts'

describe('a revocation', () => {
  it('is one call with the status alone', () => {
    const { calls, end, turn } = play(REMOVED, PREMIUM, [204])
    expect(calls).toEqual(['PATCH {"status":0}'])
    expect(end).toEqual(SETTLED)
    expect(turn.memory).toMatchObject({ remote: 'present', sentStatus: 0, sent: PREMIUM.sent })
  })

  it.each([404, 410])('of a user who is gone (%i) is settled as absent', (status) => {
    const { calls, end, turn } = play(REMOVED, PREMIUM, [status])
    expect(calls.length).toBe(1)
    expect(end).toEqual(SETTLED)
    expect(turn.memory.remote).toBe('absent')
  })

  it('of a user who is unknown looks first', () => {
    expect(play(REMOVED, UNKNOWN, [{ user: { status: 2 } }, 200]).calls).toEqual([
      'GET',
      'PATCH {"status":0}',
    ])
    expect(play(REMOVED, UNKNOWN, [{ user: { status: 0 } }]).calls).toEqual(['GET'])
    expect(play(REMOVED, UNKNOWN, [404]).calls).toEqual(['GET'])
  })

  it('that is refused is tried again: the row is gone, and nothing would change any more', () => {
    expect(play(REMOVED, PREMIUM, [422]).end).toMatchObject({ kind: 'retry', failed: true })
  })

  it('of unknown outcome is no end of a trial when the customer comes back', () => {
    const lost = play(REMOVED, { ...PREMIUM, sentStatus: 4, seenStatus: 4 }, ['lost'])
    const memory = { ...lost.turn.memory, remote: 'unknown' as const }
    const back = play(user(4, { email: 'a@x.es' }), memory, [{ user: { status: 0, email: 'a@x.es' } }, 200])
    expect(back.calls).toEqual(['GET', 'PATCH {"status":4}'])
  })
})

describe('a trial', () => {
  const known = { ...PREMIUM, sentStatus: 4 }
  const edited = user(4, { email: 'b@x.es' })

  it('that goes on is looked at, and its status carried', () => {
    const { calls, turn } = play(edited, known, [{ user: { status: 4, email: 'a@x.es' } }, 200])
    expect(calls).toEqual(['GET', 'PATCH {"status":4,"email":"b@x.es"}'])
    expect(turn.memory).toMatchObject({ sentStatus: 4, seenStatus: 4 })
  })

  it('that has ended is not granted again by an edit', () => {
    const { calls, end, turn } = play(edited, known, [{ user: { status: 0, email: 'a@x.es' } }, 200])
    expect(calls).toEqual(['GET', 'PATCH {"status":0,"email":"b@x.es"}'])
    expect(end).toEqual(SETTLED)
    expect(turn.memory).toMatchObject({ sentStatus: 4, seenStatus: 0 })
  })

  it('that has ended is not granted again by the status that goes alone', () => {
    const { calls } = play(edited, known, [{ user: { status: 0 } }, 422, 200])
    expect(calls.at(-1)).toBe('PATCH {"status":0}')
  })

  it('that has ended is not granted again to somebody whom the service denied for a moment', () => {
    const denied = play(edited, { ...known, seenStatus: 0 }, [404, 409])
    const back = play(edited, denied.turn.memory, [{ user: { status: 0, email: 'a@x.es' } }, 200])
    expect(back.calls.at(-1)).toBe('PATCH {"status":0,"email":"b@x.es"}')
  })

  it('counts as granted when a GET shows what a call of unknown outcome asked for', () => {
    const asked = play(user(4, { email: 'a@x.es' }), PREMIUM, ['lost'])
    const unknown = { ...asked.turn.memory, remote: 'unknown' as const }
    const shown = play(user(4, { email: 'a@x.es' }), unknown, [{ user: { status: 4, email: 'a@x.es' } }])
    const ended = play(edited, { ...shown.turn.memory, looked: false }, [
      { user: { status: 0, email: 'a@x.es' } },
      200,
    ])
    expect(ended.calls).toEqual(['GET', 'PATCH {"status":0,"email":"b@x.es"}'])
  })

  it('is granted anew to a customer who had none in between', () => {
    const ended = { ...known, seenStatus: 0 }
    const free = play(user(0, { email: 'a@x.es' }), ended, [])
    expect(free.end).toEqual(SETTLED)
    const again = play(user(4, { email: 'a@x.es' }), free.turn.memory, [200])
    expect(again.calls).toEqual(['PATCH {"status":4}'])
  })
})
