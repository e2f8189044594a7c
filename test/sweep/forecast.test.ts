// test/flow/backfill.full.test.ts compares the forecast with the calls that follow.
import { describe, expect, test } from 'vitest'
import { type KnownRecord, NO_RECORD } from '../../src/ledger/record.ts'
import { addCustomer, callsFor, type Forecast, NO_FORECAST, totalCalls } from '../../src/sweep/forecast.ts'
import type { Made, PlannedCustomer } from '../../src/sweep/verdict.ts'
import { makeDigester } from '../../src/sync/digest.ts'
import type { Mapped } from '../../src/sync/map.ts'
import type { Memory } from '../../src/sync/memory.ts'
import type { Policy } from '../../src/sync/write.ts'
import { FULL, KEEP, LEFT_OUT, plan, sent, UNASKED, UNKNOWN, user } from '../support/plan-scene.ts'

const digester = makeDigester('a digest key of thirty-two chars!')
const ERASE: Policy = { ...KEEP, onRemove: 'erase' }
const REMOVED: Mapped = { kind: 'removed', userId: 'u7' }

type Case = {
  readonly mapped: Mapped
  readonly memory: Memory
  readonly policy?: Policy
  readonly claimants?: readonly string[]
  readonly comparable?: boolean
  readonly verdict?: PlannedCustomer['verdict']
}

/** With the record that the memory was made of. */
function made({ mapped, memory, policy = KEEP, claimants = [], comparable = true }: Case): Made {
  const { remote, sentStatus, seenStatus, sent: digests, seen } = memory
  const there = remote === 'present' || (remote === 'unknown' && sentStatus !== null)
  const record: KnownRecord = {
    ...NO_RECORD,
    ...{ userId: 'u7', remote: there ? 'present' : remote, sentStatus, seenStatus, sent: digests, seen },
  }
  const found = {
    ...{ known: remote !== 'unasked', owed: false, claimed: false, replanAtMs: null, state: 'idle' as const },
    ...{ asItWas: false, otherUser: false, validUntilMs: null, comparable, gone: mapped.kind === 'removed' },
    plan: plan({ mapped, memory, policy, claimants }),
  }
  return { found, memory, mapped, record, claimants }
}

function forecastOf(given: Case) {
  return callsFor(made(given), { key: '7', policy: given.policy ?? KEEP, digester })
}

describe('the calls for one customer', () => {
  const NAMED = { first_name: 'Ana', last_name: 'Gil' }
  const OTHER = sent(2, { first_name: 'A', last_name: 'G' })
  const cleared = { mapped: user(2, { first_name: null }), memory: sent(2, { first_name: 'A' }) }
  const unknown: Memory = { ...sent(2), remote: 'unknown' }
  const unregistered = { ...KEEP, createWithoutAccess: false }
  const trial = sent(4, { first_name: 'A', last_name: 'Gil' })
  /** Calls, kinds of the brake, and whether a lookup decides. */
  const table: [string, Case, string, string, boolean?][] = [
    ['a new one is created', { mapped: user(2), memory: UNASKED }, 'POST', 'create'],
    [
      'without access it is looked for first',
      { mapped: user(0), memory: UNASKED },
      'GET POST',
      'create',
      true,
    ],
    ['or only that', { mapped: user(0), memory: UNASKED, policy: unregistered }, 'GET', '', true],
    ['a lookup that is wanted comes first', { mapped: user(2), memory: UNKNOWN }, 'GET POST', 'create', true],
    ['another status', { mapped: user(2), memory: sent(0) }, 'PATCH', 'status'],
    ['no access', { mapped: user(0), memory: sent(2) }, 'PATCH', 'revocation'],
    ['everything at once', { mapped: user(2, NAMED), memory: OTHER, policy: FULL }, 'PUT', ''],
    ['a field is cleared', cleared, 'PATCH', 'clear:first_name'],
    ['a trial is looked up before its fields', { mapped: user(4, NAMED), memory: trial }, 'GET PATCH', ''],
    ['nothing follows the lookup', { mapped: user(2), memory: unknown }, 'GET', '', true],
    ['gone: revoked', { mapped: REMOVED, memory: sent(2) }, 'PATCH', 'revocation'],
    [
      'gone, and to be erased: revoked, erased, looked up',
      { mapped: REMOVED, memory: sent(2), policy: ERASE },
      'PATCH PATCH GET',
      'revocation erase',
    ],
    ['right', { mapped: user(2), memory: sent(2) }, '', ''],
  ]
  test.each(table)('%s', (_, given, calls, kinds, lookups = false) => {
    const found = forecastOf(given)
    expect([found.calls.join(' '), found.kinds.join(' '), found.lookups]).toEqual([calls, kinds, lookups])
  })
})

describe('the sum', () => {
  const sum = (given: readonly Case[], counted: readonly string[] = []): Forecast =>
    given.reduce((forecast, each, at) => {
      const key = `k${at}`
      const one: PlannedCustomer = { key, verdict: each.verdict ?? 'differs', owed: false, made: made(each) }
      const already = (key: string) => (counted.includes(key) ? (['create'] as const) : [])
      return addCustomer(forecast, one, { policy: each.policy ?? KEEP, digester, counted: already })
    }, NO_FORECAST)

  test('counts access that is gained, lost and changed, by what is remembered', () => {
    const of = (mapped: Mapped, memory: Memory) => sum([{ mapped, memory }]).access
    expect(of(user(2), UNASKED)).toEqual({ gain: 1, lose: 0, change: 0 })
    expect(of(user(0), UNASKED)).toEqual({ gain: 0, lose: 0, change: 0 })
    expect(of(user(2), sent(0))).toEqual({ gain: 1, lose: 0, change: 0 })
    expect(of(user(0), sent(4))).toEqual({ gain: 0, lose: 1, change: 0 })
    expect(of(user(2), sent(4))).toEqual({ gain: 0, lose: 0, change: 1 })
    expect(of(REMOVED, sent(2))).toEqual({ gain: 0, lose: 1, change: 0 })
    expect(of(REMOVED, { ...sent(2), remote: 'unknown' })).toEqual({ gain: 0, lose: 1, change: 0 })
    // A trial that has ended at the service is left so.
    const ended = { ...sent(4, { first_name: 'A' }), seenStatus: 0 }
    expect(of(user(4, { first_name: 'B' }), ended)).toEqual({ gain: 0, lose: 0, change: 0 })
  })

  test('tells what is left out, who is rejected and why, and which customers the brake counts', () => {
    const left = user(2, { first_name: 'Ana' }, [LEFT_OUT])
    const forecast = sum(
      [
        { mapped: left, memory: UNASKED },
        { mapped: left, memory: UNASKED },
        { mapped: user(2), memory: UNASKED, claimants: ['8'] },
        ...(['differs', 'owed', 'not-selected'] as const).map((verdict) => {
          const mapped = { kind: 'rejected', userId: 'u7', issues: [LEFT_OUT] } as const
          return { mapped, memory: UNASKED, verdict }
        }),
        { mapped: user(0), memory: UNASKED },
      ],
      ['k1'],
    )
    expect(forecast).toMatchObject({
      calls: { GET: 1, POST: 3, PUT: 0, PATCH: 0 },
      ...{ lookups: 1, afterLookups: { POST: 1 }, registered: { first_name: 2 } },
      leftOut: { 'email: invalid': 2 },
      rejected: { 'shared-user-id': 1, 'email: invalid': 2 },
      // The second of them was let through within the window already.
      braked: { create: 2 },
    })
    expect(totalCalls(forecast)).toBe(4)
  })
})
