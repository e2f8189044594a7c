import { describe, expect, test } from 'vitest'
import { NO_RECORD } from '../../src/ledger/record.ts'
import {
  ALL_CUSTOMERS,
  addTo,
  howToNote,
  NOTHING_FOUND,
  type SweepFacts,
  type SweepSelection,
  type SweepVerdict,
  verdictOn,
} from '../../src/sweep/verdict.ts'
import { type Memory, NO_CALLS } from '../../src/sync/memory.ts'
import type { Plan } from '../../src/sync/plan.ts'

const NONE: Plan = { kind: 'none', why: 'right' }
const PATCH: Plan = {
  kind: 'patch',
  body: { status: 2, email: 'a@b.es' },
  fields: ['email'],
  keepsStatus: false,
}
const REJECT: Plan = { kind: 'reject', code: 'mapping', keys: [] }
const REVOKE: Plan = { kind: 'revoke', body: { status: 0 } }

const IDLE: SweepFacts = {
  ...{ known: true, owed: false, claimed: false, replanAtMs: null, state: 'idle', plan: NONE },
  ...{ asItWas: true, otherUser: false, validUntilMs: null, comparable: true, gone: false },
}

/** Registers no new customer. */
const KNOWN: SweepSelection = { ...ALL_CUSTOMERS, bringIn: false }

const MEMORY: Memory = {
  ...{ remote: 'present', sentStatus: 2, seenStatus: null, sent: {}, seen: {}, refused: {} },
  ...{ conflict: null, erased: null, observedForms: {}, lookedUp: false, creating: false },
  ...NO_CALLS,
}

describe('the verdict on a customer', () => {
  type Line = readonly [string, Partial<SweepFacts>, SweepVerdict, ReturnType<typeof howToNote>]
  const table: readonly Line[] = [
    ['idle, and nothing to send', {}, 'same', null],
    ['idle, mapped to something else that needs no call', { asItWas: false }, 'same', null],
    ['idle, and something to send', { plan: PATCH, asItWas: false }, 'differs', 'gently'],
    ['idle, and now rejected', { plan: REJECT, asItWas: false }, 'differs', 'gently'],
    ['idle, and owed', { owed: true, plan: PATCH }, 'owed', null],
    ['under way', { owed: true, claimed: true }, 'owed', 'gently'],
    ['failed, another user now, and under way', { ...failed(), claimed: true }, 'owed', 'gently'],
    ['rejected, as it was', { state: 'rejected', plan: REJECT }, 'same', null],
    ['rejected, another user now', { state: 'rejected', plan: PATCH, asItWas: false }, 'differs', 'now'],
    [
      'rejected and owed, another user now',
      { state: 'rejected', plan: PATCH, owed: true, asItWas: false },
      'differs',
      'now',
    ],
    ['held, as it was', { state: 'held', plan: REVOKE }, 'same', null],
    ['held, another user now', { state: 'held', plan: PATCH, asItWas: false }, 'differs', 'now'],
    ['failing, another user now', failed(), 'differs', 'now'],
    ['gone, without access, and it was not captured', { asItWas: false, gone: true }, 'differs', 'gently'],
    ['gone, without access, as it was', { gone: true }, 'same', null],
    ['gone, and digested with another key', { asItWas: false, gone: true, comparable: false }, 'same', null],
    ['never asked', { known: false, plan: PATCH, asItWas: false }, 'never-asked', null],
    ['right until a time that no worker notes', { validUntilMs: 5 }, 'another-time', 'gently'],
    ['right until sooner than noted', { validUntilMs: 5, replanAtMs: 6 }, 'another-time', 'gently'],
    ['right for longer than noted', { validUntilMs: 6, replanAtMs: 5 }, 'same', null],
    [
      'rejected until sooner than noted',
      { state: 'rejected', plan: REJECT, validUntilMs: 5 },
      'another-time',
      'gently',
    ],
  ]
  test.each(table)('%s', (_, found, verdict, note) => {
    const all = { ...IDLE, ...found }
    expect(verdictOn(all, KNOWN)).toBe(verdict)
    expect(howToNote(verdict, all)).toBe(note)
  })

  test('of everything that can be: a claim comes for each customer that differs, and each one to be noted is noted', () => {
    const both = [true, false]
    for (const known of both)
      for (const owed of both)
        for (const claimed of owed ? both : [false])
          for (const asItWas of both)
            for (const state of ['idle', 'rejected', 'failing', 'held'] as const)
              for (const plan of [NONE, PATCH, REJECT]) {
                const found = { ...IDLE, known, owed, claimed, asItWas, state, plan }
                const verdict = verdictOn(found, KNOWN)
                // A claim that was made before the mapping was applied does not count.
                const claimComes = (owed && !claimed) || howToNote(verdict, found) !== null
                const wrong = state === 'idle' ? plan.kind !== 'none' : !asItWas
                if (known && wrong) expect(claimComes).toBe(true)
              }
  })
})

describe('a sweep that is for some', () => {
  const CREATE: Plan = { kind: 'create', body: { user_id: '1', status: 2 }, fields: [] }
  const LOOK: Plan = { kind: 'lookup', why: 'unknown' }
  const NEW: Partial<SweepFacts> = { known: false, asItWas: false }
  type Line = readonly [string, Partial<SweepFacts>, Partial<SweepSelection>, SweepVerdict]
  const table: readonly Line[] = [
    ['brings in who was never asked', { ...NEW, plan: CREATE }, {}, 'differs'],
    ['leaves out who was never in scope', { ...NEW, plan: { kind: 'none', why: 'never-ours' } }, {}, 'same'],
    ['creates: a create', { ...NEW, plan: CREATE }, { only: 'create' }, 'differs'],
    ['creates: a lookup of a new customer', { ...NEW, plan: LOOK }, { only: 'create' }, 'differs'],
    ['creates: a lookup of a known customer', { plan: LOOK }, { only: 'create' }, 'not-selected'],
    ['updates: a lookup of a known customer', { plan: LOOK }, { only: 'update' }, 'differs'],
    ['updates: no revocation', { plan: REVOKE }, { only: 'update' }, 'not-selected'],
    ['revocations: a revocation', { plan: REVOKE }, { only: 'revoke' }, 'differs'],
    ['revocations: no rejected customer', { plan: REJECT }, { only: 'revoke' }, 'not-selected'],
  ]
  test.each(table)('%s', (_, found, select, verdict) => {
    const all = { ...IDLE, ...found }
    expect(verdictOn(all, { ...ALL_CUSTOMERS, ...select })).toBe(verdict)
    if (verdict === 'not-selected') expect(howToNote(verdict, all)).toBe(null)
  })
})

function failed(): Partial<SweepFacts> {
  return { state: 'failing', plan: PATCH, owed: true, asItWas: false }
}

describe('the sum of what is found', () => {
  const sum = (...all: readonly (readonly [Partial<SweepFacts>, Memory?])[]) =>
    all.reduce((tally, [found, memory = MEMORY]) => {
      const whole = { ...IDLE, ...found }
      const gone = {
        mapped: { kind: 'removed', userId: 'k' },
        gone: true,
        record: NO_RECORD,
        claimants: [],
      } as const
      const made = { found: whole, memory, ...gone }
      return addTo(tally, { key: 'k', owed: whole.owed, verdict: verdictOn(whole, KNOWN), made })
    }, NOTHING_FOUND)

  test('counts plans, fields of updates, and who loses access, of those who differ', () => {
    const tally = sum(
      [{}],
      [{ plan: PATCH }],
      [{ plan: PATCH }, { ...MEMORY, sentStatus: 0 }],
      [{ plan: REVOKE }],
      [{ plan: { kind: 'create', body: { user_id: '1', status: 2 }, fields: ['email'] } }],
      [{ plan: { ...PATCH, keepsStatus: true, body: { status: 0, email: 'a@b.es' } } as Plan }],
      [{ owed: true, plan: PATCH }],
    )
    expect(tally).toMatchObject({
      customers: 7,
      verdicts: { same: 1, differs: 5, owed: 1 },
      plans: { patch: 3, revoke: 1, create: 1 },
      fields: { email: 3, status: 2 },
    })
    expect(tally.loseAccess).toBe(2)
  })

  test('counts who stays held, discarded or rejected', () => {
    const tally = sum(
      [{ state: 'held' }],
      [{ state: 'held' }],
      [{ state: 'discarded' }],
      [{ state: 'rejected' }],
      [{ state: 'held', plan: PATCH, asItWas: false }],
    )
    expect(tally.verdicts).toMatchObject({ same: 4, differs: 1 })
    expect(tally.waiting).toEqual({ held: 2, discarded: 1, rejected: 1 })
  })
})
