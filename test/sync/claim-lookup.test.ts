import { describe, expect, it } from 'vitest'
import { NO_VALUE, UNKNOWN_VALUE } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { nextPlan, withCall } from '../../src/sync/next-plan.ts'
import {
  ABSENT,
  type Answer,
  digests,
  exact,
  POLICY,
  PREMIUM,
  play,
  UNKNOWN,
  user,
} from '../support/claim-scene.ts'

describe('what a GET cannot show', () => {
  const withCountry = user(2, { email: 'b@x.es', country_code: 'ES' })
  const acknowledged = { ...PREMIUM, sent: { ...PREMIUM.sent, country_code: exact('country_code', 'ES') } }
  const there = { user: { status: 2, email: 'b@x.es' } }
  const lookedUp = (memory: Memory) => ({ ...memory, remote: 'unknown' as const })

  it('is sent again after a call of unknown outcome that carried it', () => {
    const lost = play(withCountry, PREMIUM, ['lost'])
    expect(lost.calls).toEqual(['PATCH {"status":2,"email":"b@x.es","country_code":"ES"}'])
    expect(lost.after.memory.sent.country_code).toBe(UNKNOWN_VALUE)
    const { calls } = play(withCountry, lookedUp(lost.after.memory), [there, 200])
    expect(calls).toEqual(['GET', 'PATCH {"status":2,"country_code":"ES"}'])
  })

  it('is not sent again where the call did not carry it', () => {
    const lost = play(withCountry, acknowledged, ['lost'])
    expect(play(withCountry, lookedUp(lost.after.memory), [there]).calls).toEqual(['GET'])
  })

  it('is not sent after a create of unknown outcome that left it out, being empty', () => {
    const empty = user(2, { email: 'b@x.es', country_code: null })
    const lost = play(empty, ABSENT, ['lost'])
    expect(lost.after.memory.sent.country_code).toBe(NO_VALUE)
    expect(play(empty, lookedUp(lost.after.memory), [there]).calls).toEqual(['GET'])
  })

  it('is sent again after a create of unknown outcome where a user was known before', () => {
    const empty = user(2, { email: 'b@x.es', country_code: null })
    const lost = play(empty, acknowledged, [404, 'lost'])
    const { calls } = play(empty, lookedUp(lost.after.memory), [there, 200])
    expect(calls).toEqual(['GET', 'PATCH {"status":2,"country_code":null}'])
  })
})

describe('a lookup', () => {
  it('that a plan asks for once more waits for the next claim', () => {
    const mapped = user(2)
    const plan = { kind: 'lookup', why: 'unknown' } as const
    const memory = withCall(UNKNOWN, plan, { meaning: 'absent', trusted: true })
    const next = nextPlan(memory, {
      ...{ mapped, claimants: [], policy: POLICY, digests },
      ...{ lookupAfterMs: 0, consistencyDelayMs: 0 },
    })
    const end = { kind: 'retry', reason: { code: 'needs-lookup' }, failed: true }
    expect(next).toEqual({ plan, end })
  })

  it.each<[Answer, string]>([
    [503, 'failed'],
    [200, 'failed'],
    [401, 'denied'],
    [429, 'later'],
    ['lost', 'failed'],
    ['not-sent', 'failed'],
  ])('that is answered %s changes nothing that is remembered', (answer, code) => {
    const { end, after } = play(user(2), UNKNOWN, [answer])
    expect(end).toMatchObject({ kind: 'retry', failed: true, reason: { code } })
    expect(after).toMatchObject({ memory: UNKNOWN, anyTrusted: false, writes: 'none' })
  })
})
