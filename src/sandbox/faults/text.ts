// Faults as text, for the command line: `PATCH 503 rate=0.3 retry-after=5`.
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { RollcallError } from '../../model/errors.ts'
import { shorten } from '../told.ts'
import { type FaultRule, faultRule } from './faults.ts'

type Draft = { match: Record<string, unknown>; action: Record<string, unknown> | null } & Record<
  string,
  unknown
>

/** What the text form looks like, for --help and for errors. */
export const FAULT_FORM =
  '[GET|POST|PUT|PATCH] [/PATH] ACTION [user=ID] [status=N] [field=NAME] [rate=0..1] [times=N] [for=DURATION], ' +
  'where ACTION is 200..599 [html|empty] [stored] [retry-after=SECONDS|date:SECONDS], error-200, ' +
  'latency=DURATION or latency=DURATION..DURATION, slow-body=DURATION, drop-before, drop-after, hang-after, down ' +
  `or refuse=DURATION; /PATH is how the path begins; DURATION is ${DURATION_FORM}`

/**
 * One rule from its text form: words in any order. `error-200` is a 200 whose body reports an error; `stored`
 * answers so after the call was carried out; `user` and the path may be percent-encoded.
 *
 * Throws RollcallError USAGE that names the word and what was expected.
 */
export function parseFault(text: string): FaultRule {
  const draft: Draft = { match: {}, action: null }
  const words = text.split(/\s+/).filter((word) => word !== '')
  // Actions first, since the words that shape an answer may stand before it.
  for (const word of words.filter(isAction)) {
    if (draft.action !== null) throw wrong(text, `"${shorten(word)}": one action only`)
    draft.action = readAction(word, text)
  }
  for (const word of words.filter((each) => !isAction(each))) readWord(draft, word, text)
  if (draft.action === null) throw wrong(text, 'no action')
  const read = faultRule.safeParse(draft)
  if (!read.success) {
    throw wrong(text, ...read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
  }
  return read.data
}

const PLAIN_ACTIONS = new Set(['drop-before', 'drop-after', 'hang-after', 'down'])
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH'])
const BODIES = new Set(['json', 'html', 'empty'])
const TIMED_ACTION = /^(latency|slow-body|refuse)=(.*)$/

function isAction(word: string): boolean {
  return PLAIN_ACTIONS.has(word) || word === 'error-200' || /^\d+$/.test(word) || TIMED_ACTION.test(word)
}

function readAction(word: string, text: string): Record<string, unknown> {
  if (PLAIN_ACTIONS.has(word)) return { kind: word }
  if (word === 'error-200') return { kind: 'status', status: 200 }
  const [, kind = '', value = ''] = TIMED_ACTION.exec(word) ?? []
  if (kind === '') return { kind: 'status', status: Number(word) }
  if (kind !== 'latency') return { kind, durationMs: readMs(kind, value, text) }
  const [min = '', max = min, ...more] = value.split('..')
  if (more.length > 0) throw wrong(text, 'latency: expected DURATION or DURATION..DURATION')
  return { kind, minMs: readMs(kind, min, text), maxMs: readMs(kind, max, text) }
}

function readWord(draft: Draft, word: string, text: string): void {
  const [name = '', ...rest] = word.split('=')
  const value = rest.join('=')
  if (METHODS.has(word.toUpperCase())) draft.match.method = word.toUpperCase()
  else if (BODIES.has(word)) shape(draft, { body: word }, text)
  else if (word === 'stored') shape(draft, { stored: true }, text)
  else if (name === 'retry-after') shape(draft, { retryAfter: readRetryAfter(value, text) }, text)
  else if (word.startsWith('/')) draft.match.path = readDecoded('path', word, text)
  else if (name === 'user') draft.match.userId = readDecoded('user', value, text)
  else if (name === 'field') draft.match.field = value
  else if (name === 'status') draft.match.status = readNumber(name, value, text)
  else if (name === 'rate' || name === 'times') draft[name] = readNumber(name, value, text)
  else if (name === 'for') draft.forMs = readMs(name, value, text)
  else throw wrong(text, `"${shorten(word)}" is no word of a fault`)
}

/** Words that only make sense for an answer with a status. */
function shape(draft: Draft, part: Record<string, unknown>, text: string): void {
  if (draft.action?.kind !== 'status') throw wrong(text, `${Object.keys(part).join()}: only with a status`)
  Object.assign(draft.action, part)
}

function readRetryAfter(value: string, text: string): object {
  const date = /^date:(.*)$/.exec(value)?.[1]
  const seconds = readNumber('retry-after', date ?? value, text)
  return { form: date === undefined ? 'seconds' : 'date', seconds }
}

function readNumber(name: string, value: string, text: string): number {
  if (!/^\d+(\.\d+)?$/.test(value)) throw wrong(text, `${name}: expected a number`)
  return Number(value)
}

function readMs(name: string, value: string, text: string): number {
  const ms = readDuration(value)
  if (ms === undefined) throw wrong(text, `${name}: expected ${DURATION_FORM}`)
  return ms
}

function readDecoded(name: string, value: string, text: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw wrong(text, `${name}: expected text that is percent-encoded where it holds spaces`)
  }
}

const SHOWN = 200

function wrong(text: string, ...problems: readonly string[]): RollcallError {
  const about = shorten(text.trim(), SHOWN)
  const lines = problems.map((problem) => `fault "${about}": ${shorten(problem, SHOWN)}`)
  return new RollcallError('USAGE', [...lines, `expected: ${FAULT_FORM}`])
}
