import { describe, expect, it } from 'vitest'
import { type KnownRecord, NO_RECORD } from '../../src/ledger/record.ts'
import { type Called, classified } from '../../src/sync/call.ts'
import type { BodyKind } from '../../src/sync/classify.ts'
import { forCustomer, makeDigester } from '../../src/sync/digest.ts'
import { toEnding } from '../../src/sync/finish.ts'
import type { Mapped } from '../../src/sync/map.ts'
import type { MadeCall, Memory } from '../../src/sync/memory.ts'
import type { ClaimEnd } from '../../src/sync/next-plan.ts'
import { ABSENT } from '../support/plan-scene.ts'
import { configOf } from '../support/pure-claims.ts'

const digester = makeDigester('a digest key of thirty-two chars!')
const USER: Mapped = { kind: 'user', user: { userId: 'u7', status: 2, fields: {} }, issues: [] }
const SETTLE: ClaimEnd = { kind: 'settle', state: 'idle', reason: null }
const LATER: ClaimEnd = { kind: 'retry', reason: { code: 'later', status: 429 }, failed: true }
const UNKNOWN: ClaimEnd = { kind: 'unknown', reason: { code: 'unknown', error: 'timeout' } }
const CAPPED: ClaimEnd = { kind: 'retry', reason: { code: 'brake-busy' }, failed: false, waitMs: 90_000 }
const STOPPED: ClaimEnd = { kind: 'retry', reason: { code: 'stopping' }, failed: false, waitMs: 0 }

const [sent, refused] = [{ email: 'd1', last_name: 'd2' }, { gender: 'd3' }]
const MEMORY: Memory = { ...ABSENT, remote: 'present', sentStatus: 2, sent, refused }

const LOOK: MadeCall = { method: 'GET', meaning: 'present', trusted: true, fields: [], leavesTrial: false }
const PATCH = { method: 'PATCH', fields: ['status'], leavesTrial: true } as const
const DONE: MadeCall = { ...PATCH, meaning: 'done', trusted: true }
const UNCLEAR: MadeCall = { ...PATCH, meaning: 'unclear', trusted: false }
const TAKEN: MadeCall = { ...UNCLEAR, trusted: true }
const LOST: MadeCall = { ...LOOK, method: 'POST', meaning: 'unknown', trusted: false }

type Given = {
  readonly end: ClaimEnd
  readonly memory?: Partial<Memory>
  readonly mapped?: Mapped
  readonly record?: Partial<KnownRecord>
  readonly latestRecord?: Partial<KnownRecord>
  readonly last?: Called | null
  readonly unknown?: boolean
  readonly statusUnknown?: boolean
  readonly mayHaveWritten?: boolean
  readonly attempts?: number
  readonly claimants?: readonly string[]
  readonly replanInMs?: number
  readonly unmanaged?: 'keep' | 'clear'
  readonly onRemove?: 'revoke' | 'erase'
}

/** With the fields of `next` and `lookups` beside the others. */
function ending(given: Given) {
  const { end, mapped = USER, record = {}, last = null, unknown = false, attempts = 0 } = given
  const config = configOf(['email'], {
    ...{ unmanaged: given.unmanaged ?? 'keep', onRemove: given.onRemove ?? 'revoke' },
  })
  const made = toEnding({
    context: { config, random: () => 0.5 },
    claim: {
      ...{ id: '1', token: '2', key: '7', version: '3', unknown, hiddenUnknown: false },
      statusUnknown: given.statusUnknown ?? false,
      attempts,
      mayHaveWritten: given.mayHaveWritten ?? unknown,
      changedAtMs: null,
      nowMs: 0,
      replanInMs: given.replanInMs ?? null,
      generation: '1',
    },
    mapped,
    record: { ...NO_RECORD, ...record },
    latestRecord: { ...NO_RECORD, ...record, ...given.latestRecord },
    claimants: given.claimants ?? [],
    digests: forCustomer(digester, '7'),
    desiredDigest: digester.ofCustomer('7', mapped, config.clearWith),
    memory: { ...MEMORY, ...given.memory },
    last,
    end,
  })
  return { ...made, ...made.next, ...made.lookups }
}

describe('toEnding', () => {
  const REJECTED: ClaimEnd = { kind: 'settle', state: 'rejected', reason: { code: 'refused', status: 422 } }
  it.each<[string, ClaimEnd, object]>([
    ['a rejection', REJECTED, { kind: 'settle', failed: false, record: { state: 'rejected' } }],
    ['a retry', LATER, { kind: 'retry', failed: true, record: { state: 'failing', reason: LATER.reason } }],
    ['an unknown outcome', UNKNOWN, { kind: 'unknown', failed: true, record: { state: 'failing' } }],
    ['a wait for the cap', CAPPED, { kind: 'retry', failed: false, backoffMs: 90_000 }],
  ])('puts down %s', (_what, end, stored) => {
    expect(ending({ end })).toMatchObject({ claim: { id: '1', token: '2', version: '3' }, ...stored })
  })

  it('waits for the lag alone after a write that was answered with neither yes nor no', () => {
    const facts = { named: [], conflict: false, shape: null, durationMs: 1 }
    const answered = (method: Called['method'], body: BodyKind) =>
      classified(method, null, { outcome: { kind: 'reply', status: 200, body }, ...facts })
    const { consistencyDelayMs } = configOf(['email']).timing
    for (const body of ['null', 'other'] as const)
      expect(ending({ end: UNKNOWN, last: answered('PATCH', body) })).toMatchObject({
        unclear: true,
        lateMs: consistencyDelayMs,
      })
    for (const last of [null, answered('PATCH', 'error'), answered('GET', 'null')]) {
      const { unclear, lateMs } = ending({ end: UNKNOWN, last })
      expect(unclear).toBe(false)
      expect(lateMs).toBeGreaterThan(consistencyDelayMs)
    }
  })

  it('asks for a look after a settle that took such an answer for a yes, also where the last one was clear', () => {
    const said = (call: MadeCall) => ending({ end: SETTLE, memory: { made: [call, DONE] } }).unclear
    expect([said(TAKEN), said(DONE)]).toEqual([true, false])
    expect(ending({ end: LATER, memory: { made: [TAKEN] } })).toMatchObject({
      kind: 'unknown',
      unclear: true,
    })
    expect(ending({ end: UNKNOWN, memory: { made: [TAKEN] } }).unclear).toBe(false)
    const memory: Memory = { ...MEMORY, remote: 'unknown' }
    expect(ending({ end: UNKNOWN, memory: { ...memory, made: [UNCLEAR] } }).record.existed).toBe(false)
    expect(ending({ end: LATER, memory: { ...memory, lookedUp: true } }).record.existed).toBe(true)
  })

  it('leaves the state as it was when the claim was given up', () => {
    const before = { state: 'rejected', reason: { code: 'refused', status: 422 } } as const
    expect(ending({ end: STOPPED, record: before })).toMatchObject({
      failed: false,
      backoffMs: 0,
      record: before,
    })
    const early: ClaimEnd = { ...STOPPED, reason: { code: 'just-written' }, waitMs: 700 }
    expect(ending({ end: early, record: before }).record).toMatchObject(before)
    expect(ending({ end: early }).record).toMatchObject({ state: 'idle', reason: null })
    const { reason } = early
    const failed = ending({ end: { ...early, failed: true }, record: before })
    expect(failed.record).toMatchObject({ state: 'failing', reason })
  })

  describe('a value that another user has', () => {
    const values = { email: 'd1' }
    const HOUR_MS = 3_600_000
    const of = (tries: number, phase: 'due' | 'waiting' | 'creating' = 'waiting') => {
      const memory: Memory = { ...MEMORY, conflict: { values, tries, phase } }
      return { memory }
    }

    it.each([
      [1, HOUR_MS / 60],
      [2, HOUR_MS],
      [3, 24 * HOUR_MS],
      [4, 7 * 24 * HOUR_MS],
      [9, 7 * 24 * HOUR_MS],
    ])('is tried again after refusal %i in %i ms', (tries, ms) => {
      const stored = { replanAtMs: ms, record: { conflict: { values, tries } } }
      expect(ending({ end: SETTLE, ...of(tries) })).toMatchObject(stored)
      // Also where something else has to be tried again sooner.
      expect(ending({ end: LATER, ...of(tries) })).toMatchObject(stored)
    })

    it('keeps its time when something else is settled, and gives way to a sooner one', () => {
      expect(ending({ end: SETTLE, ...of(3), replanInMs: 5000 }).replanAtMs).toBe(5000)
      const mapped = { ...USER, validUntilMs: 70 }
      expect(ending({ end: SETTLE, ...of(3), mapped }).replanAtMs).toBe(70)
    })

    it('needs no time before the user is there, and is over when it was due and has not come again', () => {
      expect(ending({ end: LATER, ...of(1, 'creating') })).toMatchObject({
        replanAtMs: null,
        record: { conflict: { values, tries: 1 } },
      })
      expect(ending({ end: SETTLE, ...of(1, 'due') })).toMatchObject({
        replanAtMs: null,
        record: { conflict: null },
      })
      expect(ending({ end: LATER, ...of(1, 'due') }).record.conflict).toEqual({ values, tries: 1 })
    })
  })

  it('waits longer after each failure, and at least as long as the service says', () => {
    expect(ending({ end: LATER }).backoffMs).toBe(500)
    expect(ending({ end: LATER, attempts: 3 }).backoffMs).toBe(4000)
    expect(ending({ end: { ...LATER, waitMs: 9000 }, attempts: 3 }).backoffMs).toBe(9000)
    expect(ending({ end: { ...LATER, waitMs: 0 }, attempts: 3 }).backoffMs).toBe(4000)
  })

  it('tells what it has done to the user, to those who share it', () => {
    expect(ending({ end: SETTLE }).others.effect).toBe('none')
    // An earlier claim may have written status 0.
    expect(ending({ end: SETTLE, unknown: true })).toMatchObject({
      others: { effect: 'unknown', mayEndTrial: true },
    })
    expect(ending({ end: SETTLE, unknown: true, memory: { made: [LOOK] } }).others.effect).toBe('known')
    // Only sent to a lookup: nothing of its own is on its way.
    expect(ending({ end: SETTLE, unknown: true, mayHaveWritten: false }).others.effect).toBe('none')
    expect(ending({ end: LATER, memory: { made: [LOST] } }).others.effect).toBe('unknown')
    expect(ending({ end: LATER, memory: { made: [LOOK, LOST] } }).others.effect).toBe('known')
    expect(ending({ end: UNKNOWN, memory: { made: [LOOK, LOST] } }).others.effect).toBe('unknown')
  })

  it('removes the mark of its own claim alone, and only where nothing can have been carried out', () => {
    expect(ending({ end: LATER }).statusKnown).toBe(true)
    expect(ending({ end: LATER, memory: { made: [LOST] } }).statusKnown).toBe(false)
    expect(ending({ end: LATER, statusUnknown: true }).statusKnown).toBe(false)
    expect(ending({ end: LATER }).others.mayEndTrial).toBe(false)
    expect(ending({ end: LATER, memory: { made: [LOST] } }).others.mayEndTrial).toBe(false)
    expect(ending({ end: LATER, memory: { made: [UNCLEAR] } }).others.mayEndTrial).toBe(true)
    expect(ending({ end: LATER, statusUnknown: true }).others.mayEndTrial).toBe(true)
  })

  it('has others looked up who may be the user now', () => {
    const removed: Mapped = { kind: 'removed', userId: 'u7' }
    expect(ending({ end: SETTLE, mapped: removed, claimants: ['8'] }).others.noteKeys).toEqual(['8'])
    expect(ending({ end: SETTLE, claimants: ['8'] }).others.noteKeys).toEqual([])
  })

  it('tells when a user_id is recorded for the first time', () => {
    expect(ending({ end: SETTLE })).toMatchObject({ others: { isNewUser: true }, record: { userId: 'u7' } })
    expect(ending({ end: SETTLE, record: { userId: 'u7', isNew: false } }).others.isNewUser).toBe(false)
    const broken: Mapped = { kind: 'rejected', userId: null, issues: [] }
    const kept = ending({ end: SETTLE, mapped: broken, record: { userId: 'u7', isNew: false } })
    expect(kept).toMatchObject({ others: { isNewUser: false }, record: { userId: 'u7' } })
  })

  it('forgets what it once sent in fields that are not managed now, unless they are to be cleared', () => {
    expect(ending({ end: SETTLE }).record.sent).toEqual({ email: 'd1' })
    expect(ending({ end: SETTLE, unmanaged: 'clear' }).record.sent).toEqual(MEMORY.sent)
  })

  it('keeps the marks of an erasure in all fields, since it was about all of them', () => {
    const memory = { ...MEMORY, sent: { gender: 'null' }, refused: {}, erased: 'sent' } as const
    expect(ending({ end: SETTLE, memory }).record).toMatchObject({ sent: { gender: 'null' } })
  })

  it('keeps no digest of a customer that is to be erased and is not there, unless another customer is that user', () => {
    const removed: Mapped = { kind: 'removed', userId: 'u7' }
    const memory: Memory = { ...MEMORY, remote: 'absent' }
    const kept = (given: Partial<Given>) =>
      ending({ end: SETTLE, mapped: removed, memory, unmanaged: 'clear', ...given }).record.sent
    expect(kept({ onRemove: 'erase' })).toEqual({})
    expect(kept({ onRemove: 'erase', claimants: ['8'] })).toEqual(MEMORY.sent)
    expect(kept({ onRemove: 'revoke' })).toEqual(MEMORY.sent)
  })
})
