// The meaning of answers in docs/plan.md; exactly one row fits each answer.
import type { BodyKind } from '../../src/sync/classify.ts'
import { fits, type Row } from './rules.ts'

export const ANSWER_HEAD: Row = ['answer', 'its body', 'to POST', 'to PUT, PATCH', 'to GET']

export const ANSWERS: readonly Row[] = [
  ['200', 'user', 'done', 'done', 'present'],
  ['200', 'null', 'unclear', 'unclear', 'absent'],
  ['other 2xx', 'user', 'done', 'done', 'failed'],
  ['other 2xx', 'null', 'unclear', 'unclear', 'failed'],
  ['200, other 2xx', 'none, readable', 'done', 'done', 'failed'],
  ['200, other 2xx', 'other', 'unclear', 'unclear', 'failed'],
  ['200, other 2xx', 'unreadable, error', 'unknown', 'unknown', 'failed'],
  ['400, 409, 413, 414, 422, 431', 'any', 'refused', 'refused', 'failed'],
  ['401, 403', 'any', 'denied', 'denied', 'denied'],
  ['404, 410', 'any', 'refused', 'absent', 'absent'],
  ['429', 'any', 'later', 'later', 'later'],
  ['1xx, 3xx, other 4xx, 5xx', 'any', 'unknown', 'unknown', 'failed'],
  ['no connection', 'any', 'not-sent', 'not-sent', 'failed'],
  ['no answer', 'any', 'unknown', 'unknown', 'failed'],
]

/** Statuses that have a row by their own number. */
const NAMED = new Set(ANSWERS.flatMap(([cell = '']) => cell.split(', ')).filter((word) => /^\d+$/.test(word)))

export const BODIES: readonly BodyKind[] = [
  'none',
  'unreadable',
  'readable',
  'user',
  'null',
  'error',
  'other',
]

/** The words under which a status is found in the table. */
export function statusWord(status: number): string {
  const hundreds = Math.floor(status / 100)
  if (NAMED.has(String(status))) return String(status)
  return hundreds === 2 || hundreds === 4 ? `other ${hundreds}xx` : `${hundreds}xx`
}

/** The rows that fit, by their place. */
export function rowsFor(answer: string, body: string): number[] {
  return ANSWERS.flatMap((row, at) => (fits(row, [[answer], [body]]) ? [at] : []))
}
