import { expect, test } from 'vitest'
import type { Should } from '../../src/access/should.ts'
import { exitFor, type Facts, judge, NO, UNKNOWN, type Verdict, YES } from '../../src/access/verdict.ts'

const SHOULD: Readonly<Record<string, Should>> = {
  '0': { kind: 'user', status: 0 },
  '2': { kind: 'user', status: 2 },
  '4': { kind: 'user', status: 4 },
  removed: { kind: 'removed' },
  'out-of-scope': { kind: 'out-of-scope' },
  unmappable: { kind: 'unmappable', issues: [] },
  unreadable: { kind: 'unreadable', code: '22012' },
}
const LOOK: Readonly<Record<string, Facts['look']>> = {
  '0': { kind: 'present', status: 0 },
  '2': { kind: 'present', status: 2 },
  '4': { kind: 'present', status: 4 },
  '3': { kind: 'present', status: 3 },
  absent: { kind: 'absent', answer: 404, json: true },
  denied: { kind: 'denied', answer: 401 },
  later: { kind: 'later', answer: 429, waitMs: null },
  unreadable: { kind: 'unreadable', answer: 500, why: 'status', waitMs: null },
  'no-answer': { kind: 'no-answer', error: 'refused' },
  'no-permit': { kind: 'no-permit', waitMs: null },
  'not-asked': { kind: 'not-asked' },
  none: { kind: 'none' },
}
const MET = { yes: true, no: false }
const AGREED = { '-': null, '0': 0, '2': 2, '4': 4 }
const CHAT = ['elsewhere', 'answered', 'nobody', 'unreadable', 'shut', 'shuts-somebody', 'failed'] as const

/** The service shows | the customer should have | met | last agreed on | the chat | verdict. First line that fits. */
const TABLE = `
  2          *        *    *  elsewhere,answered  yes full
  4          *        *    *  elsewhere,answered  yes trial
  2,4        *        *    *  shut                no chat-shut
  2,4        *        *    *  nobody              no nobody-visible
  2,4        *        *    *  unreadable          unknown chat-unreadable
  2,4        *        *    *  shuts-somebody      unknown chat-shuts-somebody
  2,4        *        *    *  failed              unknown chat-failed
  3          *        *    *  *                   unknown strange-status
  0          2,4      *    4  *                   no trial-ended
  0          4        *    -  *                   no trial-ended-or-never-given
  0          *        *    *  *                   no no-access
  absent     removed  no   *  *                   no no-such-customer
  absent     *        *    *  *                   no not-registered
  none       *        *    *  *                   no no-user-id
  denied     *        *    *  *                   unknown denied
  later      *        *    *  *                   unknown later
  unreadable *        *    *  *                   unknown unreadable
  no-answer  *        *    *  *                   unknown no-answer
  no-permit  *        *    *  *                   unknown no-permit
  not-asked  *        *    *  *                   unknown not-asked
`

const rows = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))

test('the verdict for every combination of facts is that of the table, and every line of the table counts', () => {
  const used = new Set<number>()
  const wrong: unknown[] = []
  let combinations = 0
  for (const [shown, look] of Object.entries(LOOK))
    for (const [wanted, should] of Object.entries(SHOULD))
      for (const [known, met] of Object.entries(MET))
        for (const [before, agreed] of Object.entries(AGREED))
          for (const chat of CHAT) {
            const names = [shown, wanted, known, before, chat]
            const at = rows.findIndex((row) =>
              names.every((name, column) => row[column] === '*' || row[column]?.split(',').includes(name)),
            )
            used.add(at)
            combinations++
            const { can, why } = judge({ look, should, met, agreed, chat })
            const expected = rows[at]?.slice(5)
            if (expected?.join(' ') !== `${can} ${why}`) wrong.push([names, can, why, expected])
          }
  expect(wrong).toEqual([])
  expect(combinations).toBe(12 * 7 * 2 * 4 * 7)
  expect([...used].sort((a, b) => a - b)).toEqual(rows.map((_, at) => at))
})

test('the table knows every verdict that there is', () => {
  const verdicts = [...YES, ...NO, ...UNKNOWN]
  expect([...new Set(rows.map((row) => row[6]))].sort()).toEqual([...verdicts].sort())
})

const yes: Verdict = { can: 'yes', why: 'full' }
const no: Verdict = { can: 'no', why: 'no-access' }
const unknown: Verdict = { can: 'unknown', why: 'no-answer' }

test.each([
  [[yes, yes], 'not-asked', 0],
  [[yes], 'answered', 0],
  [[yes, no], 'answered', 3],
  [[no, unknown], 'answered', 1],
  [[yes, unknown], 'not-asked', 1],
  [[yes], 'shut', 3],
  [[yes], 'failed', 1],
  [[no], 'failed', 1],
  [[unknown], 'shut', 1],
] as const)('exit code of %j with the chat %s: %i', (verdicts, chat, code) => {
  expect(exitFor(verdicts, chat)).toBe(code)
})
