// A claim as a conversation, without a service: the moves that it makes to given answers, and how it ends.
import { describe, expect, it } from 'vitest'
import type { Mapped } from '../../src/model/mapped.ts'
import { type Fields, OPTIONAL_FIELDS } from '../../src/model/user.ts'
import { absorbRead, absorbWrite } from '../../src/sync/absorb.ts'
import { classifyRead, classifyWrite, type Outcome } from '../../src/sync/classify.ts'
import { DOUBTED, forCustomer, makeDigester, NO_VALUE } from '../../src/sync/digest.ts'
import { type Memory, rememberFor } from '../../src/sync/memory.ts'
import type { Policy } from '../../src/sync/plan.ts'
import { nextMove, startTurn, type Turn, type TurnEnd } from '../../src/sync/turn.ts'

const digests = forCustomer(makeDigester('a digest key of thirty-two chars!'), '7')
const exact = digests.exact

const POLICY: Policy = {
  unmanaged: 'keep',
  clearWith: Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, 'null'])) as Policy['clearWith'],
  onRemove: 'revoke',
  fullyManaged: false,
}

const ABSENT: Memory = {
  remote: 'absent',
  sentStatus: null,
  seenStatus: null,
  sent: {},
  seen: {},
  refused: {},
  looked: false,
}
const PREMIUM: Memory = {
  ...ABSENT,
  remote: 'present',
  sentStatus: 2,
  sent: { email: exact('email', 'a@x.es') },
}
const UNKNOWN: Memory = { ...PREMIUM, remote: 'unknown' }

function user(status: 0 | 2 | 4, fields: Fields = {}): Mapped {
  return { kind: 'user', user: { userId: 'u7', status, fields }, issues: [] }
}
const REMOVED: Mapped = { kind: 'removed', userId: 'u7' }

/** An answer: a status, a user that a GET shows, or a failure that did or did not reach the service. */
type Answer =
  | number
  | { readonly user: Readonly<Record<string, unknown>> }
  | 'not-sent'
  | 'lost'
  | { readonly retryAfterMs: number; readonly status: number }

function outcomeOf(answer: Answer): Outcome {
  if (answer === 'not-sent') return { kind: 'error', error: 'refused', reached: 'no' }
  if (answer === 'lost') return { kind: 'error', error: 'timeout', reached: 'maybe' }
  if (typeof answer === 'number') return { kind: 'reply', status: answer, body: 'none' }
  if ('user' in answer) return { kind: 'reply', status: 200, body: 'user' }
  return { kind: 'reply', body: 'none', ...answer }
}

type Played = { readonly calls: readonly string[]; readonly end: TurnEnd; readonly turn: Turn }

/** Plays one claim to its end; running out of answers is an error. */
function play(mapped: Mapped, memory: Memory, answers: readonly Answer[]): Played {
  const left = [...answers]
  const desired = mapped.kind === 'user' ? mapped.user : null
  const calls: string[] = []
  let turn = startTurn(rememberFor(memory, { mapped, recordedAs: 'u7', digests }))
  for (;;) {
    const move = nextMove(turn, { mapped, rivals: [], policy: POLICY, digests })
    if ('end' in move) {
      expect(left).toEqual([])
      return { calls, end: move.end, turn }
    }
    const { call, plan } = move
    calls.push('body' in call ? `${call.method} ${JSON.stringify(call.body)}` : call.method)
    const answer = left.shift()
    if (answer === undefined) throw new Error(`no answer to ${calls.join(', ')}`)
    const outcome = outcomeOf(answer)
    const wait =
      outcome.kind === 'reply' && outcome.retryAfterMs !== undefined ? { waitMs: outcome.retryAfterMs } : {}
    const error = outcome.kind === 'error' ? { error: outcome.error } : {}
    const status = outcome.kind === 'reply' ? outcome.status : null
    const facts = { plan, status, desired, digests, ...wait, ...error }
    const remote =
      typeof answer === 'object' && 'user' in answer
        ? { userId: 'u7', status: Number(answer.user.status), fields: answer.user }
        : null
    const step =
      call.method === 'GET'
        ? absorbRead(turn, classifyRead(outcome), remote, facts)
        : absorbWrite(turn, classifyWrite(call.method, outcome), facts)
    turn = step.turn
    if (step.end) {
      expect(left).toEqual([])
      return { calls, end: step.end, turn }
    }
  }
}

const SETTLED = { kind: 'settle', state: 'idle', reason: null }

describe('a create', () => {
  it('settles when it is acknowledged', () => {
    const { calls, end, turn } = play(user(2, { email: 'a@x.es' }), ABSENT, [201])
    expect(calls).toEqual(['POST {"user_id":"u7","status":2,"email":"a@x.es"}'])
    expect(end).toEqual(SETTLED)
    expect(turn).toMatchObject({ sure: true, wrote: true, acknowledged: true, memory: PREMIUM })
  })

  it.each([400, 404, 409, 410, 422])('that is refused (%i) looks, adopts and updates', (status) => {
    const there = { user: { status: 0, email: 'old@x.es' } }
    const { calls, end } = play(user(2, { email: 'a@x.es' }), ABSENT, [status, there, 200])
    expect(calls.slice(1)).toEqual(['GET', 'PATCH {"status":2,"email":"a@x.es"}'])
    expect(end).toEqual(SETTLED)
  })

  it('that is refused sends what a GET cannot show to the user whom it adopts', () => {
    const there = { user: { status: 2 } }
    const memory = { ...ABSENT, sent: { country_code: exact('country_code', 'ES') } }
    const { calls } = play(user(2, { country_code: 'ES' }), memory, [409, there, 200])
    expect(calls.at(-1)).toBe('PATCH {"status":2,"country_code":"ES"}')
  })

  it.each([400, 422])(
    'that is refused (%i) with nobody there goes without optional fields next time',
    (status) => {
      const mapped = user(2, { email: 'a@x.es', last_name: null })
      const first = play(mapped, ABSENT, [status, 404])
      expect(first.calls).toEqual(['POST {"user_id":"u7","status":2,"email":"a@x.es"}', 'GET'])
      expect(first.end).toEqual({
        kind: 'retry',
        reason: { code: 'refused', status, fields: ['email'] },
        failed: true,
      })
      const second = play(mapped, first.turn.memory, [201])
      expect(second.calls).toEqual(['POST {"user_id":"u7","status":2}'])
      expect(second.end).toEqual(SETTLED)
      expect(Object.keys(second.turn.memory.refused)).toEqual(['email'])
    },
  )

  it('that is refused with the required fields alone is rejected', () => {
    const { calls, end } = play(user(2), ABSENT, [422, 404])
    expect(calls).toEqual(['POST {"user_id":"u7","status":2}', 'GET'])
    expect(end).toEqual({
      kind: 'settle',
      state: 'rejected',
      reason: { code: 'refused', status: 422, fields: [] },
    })
  })

  it.each([404, 409, 410])(
    'that is answered %i with nobody there says nothing about the values',
    (status) => {
      const { end, turn } = play(user(2, { email: 'a@x.es' }), ABSENT, [status, 404])
      expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'refused', status } })
      expect(turn.memory.refused).toEqual({})
      expect(play(user(2), ABSENT, [status, 404]).end.kind).toBe('retry')
    },
  )

  it('after a lookup is not looked up again when it is refused', () => {
    const { calls, end } = play(user(2, { email: 'a@x.es' }), UNKNOWN, [404, 422])
    expect(calls.length).toBe(2)
    expect(end).toMatchObject({ kind: 'retry', reason: { code: 'refused', status: 422 } })
  })

  it('whose lookup fails is tried again, from a lookup', () => {
    const { end, turn } = play(user(2), ABSENT, [409, 503])
    expect(end).toMatchObject({ kind: 'retry', reason: { code: 'failed', status: 503 } })
    expect(turn.memory.remote).toBe('unknown')
  })

  it('is made once in a claim at most', () => {
    const there = { user: { status: 0 } }
    const { calls, end } = play(user(2), ABSENT, [409, there, 404])
    expect(calls.length).toBe(3)
    expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code: 'created-already' } })
  })

  it.each<[number, Memory['remote']]>([
    [401, 'absent'],
    [403, 'unknown'],
  ])('that is denied (%i) leaves the user %s', (status, remote) => {
    const { end, turn } = play(user(2), ABSENT, [status])
    expect(end).toEqual({ kind: 'retry', reason: { code: 'denied', status }, failed: true })
    expect(turn.memory.remote).toBe(remote)
  })
})

describe('an update', () => {
  const mapped = user(2, { email: 'b@x.es', last_name: 'Gil' })
  const whole = 'PATCH {"status":2,"email":"b@x.es","last_name":"Gil"}'

  it('that is refused sends the status alone, and the rest becomes a field issue', () => {
    const { calls, end, turn } = play(mapped, PREMIUM, [422, 200])
    expect(calls).toEqual([whole, 'PATCH {"status":2}'])
    expect(end).toEqual(SETTLED)
    expect(turn.memory.refused).toEqual({
      email: exact('email', 'b@x.es'),
      last_name: exact('last_name', 'Gil'),
    })
    expect(turn.memory.sent.email).toBe(exact('email', 'a@x.es'))
    expect(play(mapped, turn.memory, []).end).toEqual(SETTLED)
  })

  it('that is refused with the status alone is rejected', () => {
    const { end, turn } = play(mapped, PREMIUM, [422, 400])
    expect(end).toEqual({
      kind: 'settle',
      state: 'rejected',
      reason: { code: 'refused', status: 400, fields: ['email', 'last_name'] },
    })
    expect(turn.memory.refused).toEqual({})
    expect(play(user(0), PREMIUM, [422]).end).toMatchObject({ kind: 'settle', state: 'rejected' })
  })

  it.each([404, 410])('of a user who is gone (%i) creates', (status) => {
    const { calls, end } = play(mapped, PREMIUM, [status, 201])
    expect(calls[1]).toBe('POST {"user_id":"u7","status":2,"email":"b@x.es","last_name":"Gil"}')
    expect(end).toEqual(SETTLED)
  })

  it('of a user who is gone creates, also where the status was to go alone', () => {
    const { calls, end } = play(mapped, PREMIUM, [422, 404, 201])
    expect(calls[2]).toContain('POST')
    expect(end).toEqual(SETTLED)
  })

  it.each([401, 403, 429])('that is answered %i leaves everything as it was', (status) => {
    const { end, turn } = play(mapped, PREMIUM, [status])
    expect(end).toEqual({
      kind: 'retry',
      failed: true,
      reason: { code: status === 429 ? 'later' : 'denied', status, fields: ['email', 'last_name'] },
    })
    expect(turn).toMatchObject({ memory: PREMIUM, sure: true, wrote: true, acknowledged: false })
  })

  it('waits as long as the service says', () => {
    const { end } = play(mapped, PREMIUM, [{ status: 429, retryAfterMs: 7000 }])
    expect(end).toMatchObject({ kind: 'retry', waitMs: 7000 })
  })

  it('that was not sent leaves everything as it was', () => {
    const { end, turn } = play(mapped, PREMIUM, ['not-sent'])
    expect(end).toMatchObject({ kind: 'retry', reason: { code: 'not-sent', error: 'refused' } })
    expect(turn).toMatchObject({ memory: PREMIUM, sure: false, wrote: false })
  })

  it.each(['lost', 500, 408, 302] as const)('whose outcome is unknown (%s) ends the claim', (answer) => {
    const { end, turn } = play(mapped, PREMIUM, [answer])
    expect(end).toMatchObject({ kind: 'unknown', reason: { code: 'unknown' } })
    expect(turn).toMatchObject({ memory: PREMIUM, sure: false, wrote: true, acknowledged: false })
  })

  it('of unknown outcome is not repeated when a GET shows it', () => {
    const first = play(mapped, PREMIUM, ['lost'])
    const memory = { ...first.turn.memory, remote: 'unknown' as const }
    const second = play(mapped, memory, [{ user: { status: 2, email: 'b@x.es', last_name: 'Gil' } }])
    expect(second.calls).toEqual(['GET'])
    expect(second.end).toEqual(SETTLED)
  })
})

describe('what a GET cannot show', () => {
  const withCountry = user(2, { email: 'b@x.es', country_code: 'ES' })
  const acknowledged = { ...PREMIUM, sent: { ...PREMIUM.sent, country_code: exact('country_code', 'ES') } }
  const there = { user: { status: 2, email: 'b@x.es' } }
  const lookedUp = (turn: Turn) => ({ ...turn.memory, remote: 'unknown' as const })

  it('is sent again after a call of unknown outcome that carried it', () => {
    const lost = play(withCountry, PREMIUM, ['lost'])
    expect(lost.calls).toEqual(['PATCH {"status":2,"email":"b@x.es","country_code":"ES"}'])
    expect(lost.turn.memory.sent.country_code).toBe(DOUBTED)
    const { calls } = play(withCountry, lookedUp(lost.turn), [there, 200])
    expect(calls).toEqual(['GET', 'PATCH {"status":2,"country_code":"ES"}'])
  })

  it('is not sent again where the call did not carry it', () => {
    const lost = play(withCountry, acknowledged, ['lost'])
    expect(play(withCountry, lookedUp(lost.turn), [there]).calls).toEqual(['GET'])
  })

  it('is not sent after a create of unknown outcome that left it out, being empty', () => {
    const empty = user(2, { email: 'b@x.es', country_code: null })
    const lost = play(empty, ABSENT, ['lost'])
    expect(lost.turn.memory.sent.country_code).toBe(NO_VALUE)
    expect(play(empty, lookedUp(lost.turn), [there]).calls).toEqual(['GET'])
  })

  it('is sent again after a create of unknown outcome where a user was known before', () => {
    const empty = user(2, { email: 'b@x.es', country_code: null })
    const lost = play(empty, acknowledged, [404, 'lost'])
    const { calls } = play(empty, lookedUp(lost.turn), [there, 200])
    expect(calls).toEqual(['GET', 'PATCH {"status":2,"country_code":null}'])
  })
})

describe('a lookup', () => {
  it('is made once in a claim at most, and adopts what it finds', () => {
    const { calls, end } = play(user(2, { email: 'a@x.es' }), UNKNOWN, [
      { user: { status: 2, email: 'A@x.es' } },
    ])
    expect(calls).toEqual(['GET'])
    expect(end).toEqual(SETTLED)
  })

  it('creates where nobody is found', () => {
    expect(play(user(2), UNKNOWN, [404, 201]).calls).toEqual(['GET', 'POST {"user_id":"u7","status":2}'])
  })

  it.each<[Answer, string]>([
    [503, 'failed'],
    [200, 'failed'],
    [401, 'denied'],
    [429, 'later'],
    ['lost', 'failed'],
    ['not-sent', 'failed'],
  ])('that is answered %s changes nothing that is remembered', (answer, code) => {
    const { end, turn } = play(user(2), UNKNOWN, [answer])
    expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code } })
    expect(turn).toMatchObject({ memory: UNKNOWN, sure: false, wrote: false })
  })
})

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

  it('that is refused waits for a person', () => {
    expect(play(REMOVED, PREMIUM, [422]).end).toMatchObject({ kind: 'settle', state: 'rejected' })
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
