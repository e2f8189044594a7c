import { describe, expect, it } from 'vitest'
import type { Status } from '../../src/model/user.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { type Plan, takesAccess } from '../../src/sync/plan.ts'
import { statusIsRight } from '../../src/sync/right.ts'
import { ABSENT, brief, CLEAR, clearing, plan, seen, sent, user } from '../support/plan-scene.ts'

describe('a trial', () => {
  const known = { email: 'a@x.es' }
  const edited = user(4, { email: 'b@x.es' })

  it.each([
    ['acknowledged', sent(4, known)],
    ['seen', seen(4, known, { looked: false })],
    ['acknowledged, seen as ended', sent(4, known, { seenStatus: 0 })],
  ])('that was %s is looked at before something else is changed', (_how, memory) => {
    expect(brief({ mapped: edited, memory })).toEqual(['lookup', 'trial'])
    expect(brief({ mapped: user(4, known), memory })).toEqual(['none', 'right'])
  })

  it.each<[number, unknown]>([
    [4, { status: 4, email: 'b@x.es' }],
    [0, { status: 0, email: 'b@x.es' }],
  ])('carries the status that the service shows: %i', (status, body) => {
    const memory = seen(status, known, { sentStatus: 4 })
    expect(plan({ mapped: edited, memory })).toMatchObject({ kind: 'patch', body, carried: true })
  })

  it('carries it in a PUT as well', () => {
    const memory = sent(4, { email: 'a@x.es' }, { seenStatus: 0, looked: true })
    const policy = { ...CLEAR, clearWith: clearing('omit') }
    expect(plan({ mapped: user(4, { email: null }), memory, policy })).toEqual({
      kind: 'replace',
      body: { status: 0 },
      fields: ['email'],
      carried: true,
    })
  })

  it('that ended is never repaired', () => {
    expect(brief({ mapped: user(4, known), memory: seen(0, known, { sentStatus: 4 }) })).toEqual([
      'none',
      'right',
    ])
  })

  it.each<[string, Memory]>([
    ['sent as free', sent(0, known)],
    ['sent as premium', sent(2, known)],
    ['seen as free, without a trial before', seen(0, known)],
    ['seen as premium', seen(2, known, { sentStatus: 4 })],
  ])('is granted to a user who was %s', (_what, memory) => {
    expect(brief({ mapped: user(4, known), memory })).toEqual(['patch', { status: 4 }])
  })

  it('is no hindrance to a change of the own status', () => {
    expect(brief({ mapped: user(2, known), memory: sent(4, known) })).toEqual(['patch', { status: 2 }])
    expect(brief({ mapped: user(0, known), memory: sent(4, known, { seenStatus: 0 }) })).toEqual([
      'none',
      'right',
    ])
  })
})

describe('statusIsRight', () => {
  it.each<[Status, number | null, number | null, boolean]>([
    [2, 2, null, true],
    [2, 0, null, false],
    [2, null, null, false],
    [2, null, 2, true],
    [2, 2, 0, false],
    [2, 0, 2, true],
    [0, 4, 0, true],
    [4, 4, 0, true],
    [4, 2, 0, false],
    [4, null, 0, false],
    [4, 4, 2, false],
    [4, 4, -1, false],
  ])('%i, sent %s, seen %s: %s', (status, sentStatus, seenStatus, right) => {
    expect(statusIsRight(status, { sentStatus, seenStatus })).toBe(right)
  })
})

describe('takesAccess', () => {
  const revoke: Plan = { kind: 'revoke', body: { status: 0 } }
  const patch = (status: Status): Plan => ({ kind: 'patch', body: { status }, fields: [], carried: false })

  it.each<[string, Plan, Memory, boolean]>([
    ['a revocation', revoke, sent(2), true],
    ['a revocation where the status is not known', revoke, { ...ABSENT, remote: 'present' }, true],
    ['a revocation where a GET showed access', revoke, seen(4, {}, { sentStatus: 0 }), true],
    ['an update to status 0', patch(0), sent(4), true],
    ['a PUT with status 0', { ...patch(0), kind: 'replace' } as Plan, sent(2), true],
    ['an update of somebody without access', patch(0), sent(0), false],
    ['an update that carries the end of a trial', patch(0), seen(0, {}, { sentStatus: 4 }), false],
    ['an update that leaves access', patch(2), sent(2), false],
    ['a create', { kind: 'create', body: { user_id: 'u', status: 0 }, fields: [] }, ABSENT, false],
    ['a lookup', { kind: 'lookup', why: 'unknown' }, sent(2), false],
  ])('%s', (_what, made, memory, takes) => {
    expect(takesAccess(made, memory)).toBe(takes)
  })
})
