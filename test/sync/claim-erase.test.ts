import { describe, expect, it } from 'vitest'
import type { Erased } from '../../src/ledger/record.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../../src/model/user.ts'
import { NO_VALUE } from '../../src/sync/digest.ts'
import type { Memory } from '../../src/sync/memory.ts'
import type { Policy } from '../../src/sync/write.ts'
import { type Answer, POLICY, PREMIUM, play, REMOVED, SETTLED, UNKNOWN } from '../support/claim-scene.ts'

const policy: Policy = { ...POLICY, onRemove: 'erase' }
const go = (memory: Memory, answers: readonly Answer[], lookupAfterMs = 0) =>
  play(REMOVED, memory, answers, { policy, lookupAfterMs })

const REVOKE = 'PATCH {"status":0}'
const clearing = (fields: readonly OptionalField[]) =>
  `PATCH ${JSON.stringify({ status: 0, ...Object.fromEntries(fields.map((field) => [field, null])) })}`
const without = (...fields: readonly OptionalField[]) =>
  OPTIONAL_FIELDS.filter((field) => !fields.includes(field))
const ERASE = clearing(OPTIONAL_FIELDS)
const marks = (...fields: readonly OptionalField[]) =>
  Object.fromEntries(fields.map((field) => [field, NO_VALUE]))

const NOTHING = { sent: {}, seen: {}, refused: {} }

/** As the ledger has it after an acknowledged erasure. */
const erased = (how: Erased, rest: Partial<Memory> = {}): Memory => ({
  ...PREMIUM,
  ...{ sentStatus: 0, sent: {}, erased: how },
  ...rest,
})

/** The claim comes again once a GET is credible, and nothing is said against the customer. */
const LATER = { kind: 'retry', reason: { code: 'just-written' }, failed: false, waitMs: 5000 }
const refused = (fields: readonly OptionalField[], more: object = {}) => ({
  kind: 'retry',
  reason: { code: 'erasure-refused', status: 422, fields, ...more },
  failed: true,
})

describe('a customer whose row is gone, to be erased', () => {
  it('is revoked first, then cleared in every optional field, and then nothing of it is kept', () => {
    const { calls, end, after } = go(PREMIUM, [200, 200])
    expect(calls).toEqual([REVOKE, ERASE])
    expect(end).toEqual(LATER)
    expect(after.memory).toEqual({ ...PREMIUM, ...NOTHING, sentStatus: 0, erased: 'sent' })
    expect(after.erasure).toEqual({ cleared: OPTIONAL_FIELDS, left: null })
  })

  it('is not revoked again where access is gone already', () => {
    expect(go({ ...PREMIUM, sentStatus: 0 }, [200]).calls).toEqual([ERASE])
    const { calls, end } = go(UNKNOWN, [{ user: { status: 0, email: 'a@x.es' } }, 200])
    expect(calls).toEqual(['GET', ERASE])
    expect(end).toEqual(LATER)
  })

  it('is not erased before the revocation is acknowledged', () => {
    for (const answer of [422, 403, 429, 503, 'lost', 'not-sent'] as const) {
      const { calls, after } = go(PREMIUM, [answer])
      expect([calls, after.memory.erased]).toEqual([[REVOKE], null])
    }
  })

  it('is looked up before it is erased again when the outcome of the call is unknown', () => {
    const { calls, end, after } = go(PREMIUM, [200, 'lost'])
    expect(calls).toEqual([REVOKE, ERASE])
    expect(end).toMatchObject({ kind: 'unknown' })
    expect([after.memory.erased, after.erasure.cleared]).toEqual([null, null])
    const next = go({ ...after.memory, remote: 'unknown' }, [{ user: { status: 0 } }, 200])
    expect(next.calls).toEqual(['GET', ERASE])
  })
})

describe('the look after an erasure', () => {
  it('waits until it is credible', () => {
    const { calls, end } = go(erased('sent'), [], 700)
    expect(calls).toEqual([])
    expect(end).toEqual({ ...LATER, waitMs: 700 })
  })

  it('completes the receipt, and then there is nothing to do', () => {
    const { calls, end, after } = go(erased('sent'), [{ user: { status: 0, email: '', gender: null } }])
    expect([calls, end]).toEqual([['GET'], SETTLED])
    expect(after.memory.erased).toBe('verified')
    expect(after.erasure).toEqual({ cleared: null, left: [] })
    expect(go(erased('verified'), []).end).toEqual(SETTLED)
  })

  it('that still shows a field has it cleared once more, and never a third time', () => {
    const shown = { user: { status: 0, email: 'a@x.es', last_name: 'Gil' } }
    const again = go(erased('sent'), [shown, 200])
    expect(again.calls).toEqual(['GET', clearing(['email', 'last_name'])])
    expect(again.end).toEqual(LATER)
    const left = ['email', 'last_name']
    expect(again.after.erasure).toEqual({ cleared: left, left })
    expect(again.after.memory).toMatchObject({ erased: 'sent', sent: marks('email', 'last_name') })

    const last = go(again.after.memory, [shown])
    expect([last.calls, last.end]).toEqual([['GET'], SETTLED])
    expect(last.after.erasure).toEqual({ cleared: null, left })
  })

  it('that shows access revokes it first', () => {
    const { calls } = go(erased('sent'), [{ user: { status: 2, email: 'a@x.es' } }, 200, 200])
    expect(calls).toEqual(['GET', REVOKE, clearing(['email'])])
  })

  it('comes to an end at a service that acknowledges everything and changes nothing', () => {
    const shown = { user: { status: 2, email: 'a@x.es' } }
    const first = go(PREMIUM, [200, 200])
    const second = go(first.after.memory, [shown, 200, 200])
    const third = go(second.after.memory, [shown, 200])
    expect(third.calls).toEqual(['GET', REVOKE])
    expect(third.end).toEqual(SETTLED)
  })
})

describe('a refused erasure', () => {
  it('goes without the fields that the answer names; these are tried again, and again, unless they are empty', () => {
    const named: Answer = { named: ['gender'], status: 422 }
    const { calls, end, after } = go(PREMIUM, [200, named, 200])
    expect(calls).toEqual([REVOKE, ERASE, clearing(without('gender'))])
    expect(end).toEqual(LATER)
    expect(after.erasure.cleared).toEqual(without('gender'))
    expect(after.memory).toMatchObject({ erased: 'sent', refused: marks('gender') })

    const empty = go(after.memory, [{ user: { status: 0, gender: null } }])
    expect([empty.calls, empty.end?.kind, empty.after.memory.refused]).toEqual([['GET'], 'settle', {}])
    const shown = { user: { status: 0, gender: 1 } }
    const second = go(after.memory, [shown, named])
    expect(second.calls).toEqual(['GET', clearing(['gender'])])
    expect(second.end).toEqual(refused(['gender'], { named: ['gender'] }))
    expect(second.after.erasure).toEqual({ cleared: null, left: ['gender'] })

    // Without another lookup, with one call each time.
    const third = go({ ...second.after.memory, lookedUp: false, seen: {} }, [422])
    expect(third.calls).toEqual([clearing(['gender'])])
    const taken = go({ ...third.after.memory, lookedUp: false, seen: {} }, [200])
    expect([taken.after.memory.erased, taken.after.memory.refused]).toEqual(['sent', {}])
    expect(taken.after.erasure.cleared).toEqual(['gender'])
  })

  it.each<[string, readonly Answer[]]>([
    ['names nothing', [400]],
    ['names everything', [{ named: OPTIONAL_FIELDS, status: 400 }]],
    ['names some, and is refused again', [{ named: ['gender'], status: 422 }, 422]],
  ])('that %s clears what may surely be empty, alone', (_what, answers) => {
    const { calls, end, after } = go(PREMIUM, [200, ...answers, 200])
    expect(calls.at(-1)).toBe('PATCH {"status":0,"description":null}')
    expect(end).toEqual(LATER)
    expect(after.memory.refused).toEqual(marks(...without('description')))
  })

  it('of everything ends as "tried again later", with every field, and costs no customer the revocation', () => {
    const { calls, end, after } = go(PREMIUM, [200, 422, 422])
    expect(calls).toEqual([REVOKE, ERASE, 'PATCH {"status":0,"description":null}'])
    expect(end).toEqual(refused([...OPTIONAL_FIELDS]))
    expect(after.memory).toMatchObject({ sentStatus: 0, erased: null })
    expect(after.memory.refused).toEqual({})
  })
})
