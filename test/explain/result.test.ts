import { expect, test } from 'vitest'
import { exitForAccess } from '../../src/cli/explain.ts'
import { exitForResults } from '../../src/cli/explained.ts'
import { type Chat, type ChatSays, listing } from '../../src/explain/chat.ts'
import type { Comparison } from '../../src/explain/fields.ts'
import type { Records } from '../../src/explain/records.ts'
import type { RemoteView } from '../../src/explain/remote.ts'
import { accessOf, type Desired, type Result, remediesFor, resultOf } from '../../src/explain/result.ts'
import type { AccessVerdict, Remedy, RemedyName } from '../../src/explain/verdicts.ts'
import type { History } from '../../src/ledger/history.ts'
import type { Plan } from '../../src/sync/plan.ts'
import { BARE_HISTORY } from '../support/history.ts'

const known = (over: Partial<NonNullable<History>> | null): Records => ({
  ...{ kind: 'known', applied: true, truncated: null },
  history: over && { ...BARE_HISTORY, ...over },
})

const DESIRED: Readonly<Record<string, Desired>> = {
  '0': { kind: 'user', status: 0 },
  '2': { kind: 'user', status: 2 },
  '4': { kind: 'user', status: 4 },
  removed: { kind: 'removed' },
  'out-of-scope': { kind: 'out-of-scope' },
  rejected: { kind: 'rejected', issues: [] },
  unreadable: { kind: 'unreadable', reason: { code: 'customer-unreadable', error: '22012' } },
}
const silent = (why: Extract<RemoteView, { kind: 'no-answer' }>['why'], rest: object = {}): RemoteView => ({
  ...{ kind: 'no-answer', why, http: 500, error: null, waitMs: null },
  ...rest,
})
const REMOTE: Readonly<Record<string, RemoteView>> = {
  '0': { kind: 'present', status: 0 },
  '2': { kind: 'present', status: 2 },
  '4': { kind: 'present', status: 4 },
  '3': { kind: 'present', status: 3 },
  absent: { kind: 'absent', http: 404, json: true },
  silent: silent('trouble'),
  'no-permit': { kind: 'not-asked', why: 'no-permit', waitMs: null },
  'no-id': { kind: 'not-asked', why: 'no-user-id', waitMs: null },
}
const MET = { yes: { metBefore: true }, no: {} }
const AGREED = { '-': null, '0': 0, '2': 2, '4': 4 }
const CHAT: readonly ChatSays[] = ['nothing', 'none-visible', 'shut', 'unclear']

/** The service shows | the customer should have | was there | last agreed on | the chat | verdict. First line that fits. */
const TABLE = `
  2          *        *    *  nothing             yes full
  4          *        *    *  nothing             yes trial
  2,4        *        *    *  shut                no chat-shut
  2,4        *        *    *  none-visible      no none-visible
  2,4        *        *    *  *                   unknown chat-silent
  3          *        *    *  *                   unknown strange-status
  0          2,4      *    4  *                   no trial-ended
  0          *        *    *  *                   no no-access
  absent     removed  no   *  *                   no no-such-customer
  absent     *        *    *  *                   no not-registered
  no-id      *        *    *  *                   no no-user-id
  *          *        *    *  *                   unknown no-answer
`

const rows = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))

test('whether a customer can use the service: each combination is that of the table, and every line of it counts', () => {
  const used = new Set<number>()
  const wrong: unknown[] = []
  for (const [shown, service] of Object.entries(REMOTE))
    for (const [wanted, desired] of Object.entries(DESIRED))
      for (const [was, met] of Object.entries(MET))
        for (const [before, acknowledgedStatus] of Object.entries(AGREED))
          for (const chat of CHAT) {
            const names = [shown, wanted, was, before, chat]
            const at = rows.findIndex((row) =>
              names.every((name, column) => row[column] === '*' || row[column]?.split(',').includes(name)),
            )
            used.add(at)
            const rollcall = known({ ...met, acknowledgedStatus })
            const { can, why } = accessOf({ service, desired, rollcall, chat })
            if (rows[at]?.slice(5).join(' ') !== `${can} ${why}`) wrong.push([names, can, why])
          }
  expect(wrong).toEqual([])
  expect([...used].sort((a, b) => a - b)).toEqual(rows.map((_, at) => at))
})

test.each([
  [{}, 'no-such-customer'],
  [{ owed: true, overdueMs: 5 }, 'no-such-customer'],
  [{ capturedMs: 5 }, 'not-registered'],
  [{ acknowledgedAt: '2026-11-21T10:00:00Z' }, 'not-registered'],
  [{ metBefore: true }, 'not-registered'],
])('of a key without a row and without a user, with %j: %s', (history, why) => {
  const facts = {
    service: REMOTE.absent as RemoteView,
    desired: DESIRED.removed as Desired,
    chat: 'nothing',
  } as const
  expect(accessOf({ ...facts, rollcall: known(history) }).why).toBe(why)
})

const RIGHT: Plan = { kind: 'none', why: 'right' }
const IGNORED: Plan = { kind: 'none', why: 'ignored' }
const REJECT: Plan = { kind: 'reject', code: 'mapping', keys: [] }
const AGREES: Comparison = { drift: null, fields: [] }
const drift = (kind: 'differs' | 'trial-ended'): Comparison => ({
  drift: { kind, fields: ['status'], cause: null, access: null },
  fields: [],
})
const RESULTS: readonly (readonly [Result, string, string, Plan, Comparison | null])[] = [
  ['same', '2', '2', RIGHT, AGREES],
  ['same', '4', '0', RIGHT, drift('trial-ended')],
  ['differs', '2', '0', RIGHT, drift('differs')],
  ['differs', '0', '2', { kind: 'none', why: 'without-access' }, drift('differs')],
  ['left-alone', 'removed', '2', IGNORED, drift('differs')],
  ['left-alone', 'removed', 'no-permit', IGNORED, null],
  ['blocked', 'rejected', '2', REJECT, null],
  ['blocked', 'rejected', 'no-id', REJECT, null],
  ['unknown', 'rejected', 'silent', REJECT, null],
  ['unknown', '2', 'silent', RIGHT, null],
  ['unknown', '2', 'no-permit', RIGHT, null],
  ['unknown', 'unreadable', '2', REJECT, null],
]
test.each(RESULTS)('%s: desired %s, at the service %s, %j', (result, desired, remote, plan, comparison) => {
  const planAfterLookup = comparison && plan
  const given = { plan, planAfterLookup, comparison, desired: DESIRED[desired], service: REMOTE[remote] }
  expect(resultOf(given as Parameters<typeof resultOf>[0])).toBe(result)
})

type Found = Parameters<typeof remediesFor>[0]
const DIFFERS: Found = {
  desired: { kind: 'user', status: 2 },
  service: { kind: 'present', status: 0 },
  rollcall: known({}),
  result: 'differs',
  calls: true,
  unwatched: [],
  leftOut: [],
  answer: { kind: 'not-asked', why: 'no-token' },
  chat: 'nothing',
  consistencyDelayMs: 2000,
}
const toDo = (found: Partial<Found>) => remediesFor({ ...DIFFERS, ...found })
const once = (name: RemedyName, waitMs: number | null = null): Remedy[] => [{ do: name, waitMs }]

const ELSEWHERE: Records = { kind: 'other-target', differences: [], todo: 'x' }
const BY_RECORDS: readonly (readonly [string, Records, Remedy[]])[] = [
  ['nothing is recorded', known(null), once('sync')],
  ['it is captured', known({ owed: true, capturedMs: 5 }), once('wait')],
  ['it was captured long ago', known({ owed: true, capturedMs: 70_000 }), once('start-worker')],
  ['it is owed', known({ owed: true, overdueMs: -9 }), once('wait')],
  ['it was due long ago', known({ owed: true, overdueMs: 70_000 }), once('start-worker')],
  ['it was written a moment ago', known({ writtenAgoMs: 500 }), once('shown-late', 1500)],
  ['it is rejected', known({ state: 'rejected' }), once('correct')],
  ['it is held', known({ state: 'held' }), once('decide')],
  ['it is discarded', known({ state: 'discarded' }), once('decide')],
  ['nothing is owed', known({}), once('sync')],
  ['rollcall is not installed, or of another version', { kind: 'not-migrated' }, once('migrate')],
  ['the tables may not be read', { kind: 'no-right' }, once('sync')],
  ['the tables are locked', { kind: 'locked' }, once('sync')],
  ['the records are about another target', ELSEWHERE, once('name-target')],
]
test.each(BY_RECORDS)('what to do about a difference when %s', (_, rollcall, remedies) => {
  expect(toDo({ rollcall })).toEqual(remedies)
})

const REFUSED = [{ field: 'email', code: 'refused', expected: 'x' }] as const
test('what to do where nothing differs: nothing, or correct what cannot be sent', () => {
  expect(toDo({ result: 'same', calls: false })).toEqual([])
  expect(toDo({ result: 'left-alone' })).toEqual([])
  expect(toDo({ result: 'same', leftOut: REFUSED })).toEqual(once('correct'))
  expect(toDo({ result: 'blocked' })).toEqual(once('correct'))
  expect(toDo({ result: 'same', rollcall: ELSEWHERE })).toEqual(once('name-target'))
  const service = { kind: 'not-asked', why: 'not-wanted', waitMs: null } as const
  expect(toDo({ result: 'unknown', service, rollcall: known({ writtenAgoMs: 5 }) })).toEqual(once('sync'))
  expect(toDo({ unwatched: ['t'] })).toEqual([...once('sync'), ...once('install-capture')])
})

test('while the mapping is not active, or a table was truncated, no sync and no release is advised', () => {
  const inactive = { ...known({}), applied: false } as Records
  const ofRow = { result: 'same', rollcall: inactive } as const
  expect(toDo({ ...ofRow, calls: true })).toEqual(once('apply-mapping'))
  expect(toDo({ ...ofRow, calls: false })).toEqual([])
  const relation = 'public.clientes'
  const truncated = { id: '1', kind: 'truncate', relation, since: '2026-11-28T11:48:00Z' }
  for (const state of ['idle', 'held'] as const) {
    const rollcall = { ...known({ state }), truncated } as Records
    for (const desired of [DESIRED.removed, DESIRED['0']] as Desired[]) {
      expect(toDo({ rollcall, desired })).toEqual(once('restore-rows'))
      expect(toDo({ rollcall, desired, result: 'unknown' })).toEqual(once('restore-rows'))
    }
    expect(toDo({ rollcall })).not.toContainEqual({ do: 'restore-rows', waitMs: null })
  }
})

const BY_REMOTE: readonly (readonly [RemoteView, Remedy[]])[] = [
  [silent('denied'), once('check-keys')],
  [silent('busy', { waitMs: 5 }), once('try-later', 5)],
  [silent('trouble'), once('try-later')],
  [silent('error'), once('try-later')],
  [silent('unreached', { error: 'refused' }), once('check-address')],
  [silent('refused', { error: 'bad-user-id' }), once('correct')],
  [silent('refused'), once('check-address')],
  [silent('unreadable'), once('check-address')],
  [silent('unreadable', { waitMs: 7 }), once('try-later', 7)],
  [{ kind: 'not-asked', why: 'no-permit', waitMs: 9 }, once('try-later', 9)],
  [{ kind: 'not-asked', why: 'gave-up', waitMs: null }, once('check-address')],
  [{ kind: 'not-asked', why: 'not-wanted', waitMs: null }, once('sync')],
  [{ kind: 'present', status: 3 }, once('ask-provider')],
]
test.each(BY_REMOTE)('what to do about a GET that came to %j', (service, remedies) => {
  expect(toDo({ service, result: service.kind === 'present' ? 'same' : 'unknown' })).toEqual(remedies)
})

test.each([
  ['unwatched', undefined, 'install-capture'],
  ['customer-unreadable', '55P03', 'try-later'],
  ['customer-unreadable', '42501', 'make-readable'],
] as const)('a row that cannot be read (%s, %s) has something to do: %s', (code, error, name) => {
  const reason = { code, ...(error ? { error } : {}) }
  const desired = { kind: 'unreadable', reason } as const
  expect(toDo({ desired, result: 'unknown' })).toEqual(once(name))
})

const NONE = listing({ items: [], unreadable: 0 })
const BY_CHAT: readonly (readonly [Chat, ChatSays, Remedy[]])[] = [
  [NONE, 'none-visible', once('ask-about-group')],
  [{ ...NONE, unreadable: 2 }, 'unclear', once('check-address')],
  [NONE, 'nothing', []],
  [{ kind: 'shut' }, 'shut', once('ask-about-chat')],
  [{ kind: 'shut' }, 'nothing', []],
  [{ kind: 'refused' }, 'unclear', once('check-token')],
  [{ kind: 'no-answer', http: 503, error: null, waitMs: 8 }, 'unclear', once('try-later', 8)],
  [{ kind: 'no-answer', http: 404, error: null, waitMs: null }, 'unclear', once('check-address')],
  [{ kind: 'no-answer', http: null, error: 'refused', waitMs: null }, 'unclear', once('check-address')],
  [{ kind: 'not-asked', why: 'demo' }, 'nothing', []],
]
test.each(BY_CHAT)('what to do about a chat that came to %j (%s)', (answer, chat, remedies) => {
  const service: RemoteView = { kind: 'present', status: 2 }
  expect(toDo({ result: 'same', service, answer, chat })).toEqual(remedies)
})

test('what is to be done twice is said once, with the longer wait', () => {
  const answer: Chat = { kind: 'no-answer', http: 503, error: null, waitMs: 9000 }
  expect(toDo({ result: 'unknown', service: silent('busy', { waitMs: 5 }), answer })).toEqual(
    once('try-later', 9000),
  )
})

const yes: AccessVerdict = { can: 'yes', why: 'full' }
const no: AccessVerdict = { can: 'no', why: 'no-access' }
const unknown: AccessVerdict = { can: 'unknown', why: 'no-answer' }
const NOT_ASKED: Chat = { kind: 'not-asked', why: 'no-token' }

test.each([
  [[yes, yes], NOT_ASKED, 0],
  [[yes], NONE, 0],
  [[yes, no], NOT_ASKED, 3],
  [[no, unknown], NOT_ASKED, 1],
  [[yes], { kind: 'shut' }, 0],
  [[yes], { kind: 'refused' }, 1],
  [[unknown], { kind: 'shut' }, 1],
] as const)('exit code of `access` for %j with the chat %j: %i', (verdicts, chat, code) => {
  expect(exitForAccess({ explanations: verdicts.map((access) => ({ access })), chat })).toBe(code)
})

const JUDGED: Parameters<typeof exitForResults>[0]['explanations'][number] = {
  ...{ result: 'same', leftOut: [], service: { kind: 'present', status: 2 } },
  ...{ plan: { kind: 'none', why: 'right' }, planAfterLookup: null, rollcall: known({}) },
}

test.each([
  ['settled', {}, 0],
  ['without a record', { rollcall: known(null) }, 0],
  ['with a call to make', { plan: { kind: 'lookup', why: 'unknown' } }, 3],
  ['held', { rollcall: known({ state: 'held' }) }, 3],
  ['that cannot be compared', { plan: null }, 1],
  ['of a service that is silent', { service: silent('trouble') }, 1],
] as const)('exit code of `explain --no-call` for a customer %s', (_, over, code) => {
  const service = { kind: 'not-asked', why: 'not-wanted', waitMs: null } as const
  expect(exitForResults({ explanations: [{ ...JUDGED, result: 'unknown', service, ...over }] })).toBe(code)
})

test.each([
  [['same', 'left-alone'], 0],
  [['same', 'differs'], 3],
  [['blocked'], 3],
  [['differs', 'unknown', 'same'], 1],
] as const)('exit code of `explain` for %j: %i', (results, code) => {
  expect(exitForResults({ explanations: results.map((result) => ({ ...JUDGED, result })) })).toBe(code)
})

test('exit code of `explain` for an erasure that the service refuses: 3', () => {
  const planAfterLookup = {
    kind: 'erase' as const,
    fields: ['email' as const],
    sends: [],
    status: 0 as const,
  }
  expect(exitForResults({ explanations: [{ ...JUDGED, planAfterLookup }] })).toBe(3)
})

const LEFT = [['refused', 3] as const, ['invalid', 3] as const]
test.each(LEFT)('exit code of `explain`, %s: %i', (code, exit) => {
  const leftOut = [{ field: 'email', code, expected: 'another' } as const]
  expect(exitForResults({ explanations: [{ ...JUDGED, leftOut }] })).toBe(exit)
})
