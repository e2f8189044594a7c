// Faults as text, for the command line: `PATCH 503 rate=0.3 retry-after=5`.
import type { z } from 'zod'
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { RollcallError } from '../../model/errors.ts'
import { MOST_PROBLEMS, notKnown, shorten, TOLD } from '../told.ts'
import { type FaultRule, faultRule } from './faults.ts'

const ACTION_FORM =
  '200..599 [html|empty] [stored] [retry-after=SECONDS|date:SECONDS], error-200, ' +
  'latency=DURATION or latency=DURATION..DURATION, slow-body=DURATION, drop-before, drop-after, hang-after, down ' +
  'or refuse=DURATION'

/** What the text form looks like, for --help. */
export const FAULT_FORM =
  '[GET|POST|PUT|PATCH] [/PATH] ACTION [user=ID] [status=N] [field=NAME] [rate=0..1] [times=N] [for=DURATION], ' +
  `where ACTION is ${ACTION_FORM}; /PATH is how the path begins; DURATION is ${DURATION_FORM}`

/** `problems`: what was expected of each word that is wrong; a word's value is never repeated. */
export type FaultReading =
  | { readonly rule: FaultRule }
  | { readonly rule: null; readonly problems: readonly string[] }

/** The same as `readFault`; throws RollcallError USAGE with a line for each word that is wrong. */
export function parseFault(text: string): FaultRule {
  const read = readFault(text)
  if (read.rule !== null) return read.rule
  const about = shorten(text.trim(), 200)
  throw new RollcallError(
    'USAGE',
    read.problems.map((problem) => `fault "${about}": ${problem}`),
  )
}

type Draft = {
  readonly rule: { match: Record<string, unknown>; action: Record<string, unknown> } & Record<string, unknown>
  /** Which word said what stands at a path of the rule. */
  readonly saidBy: Map<string, string>
  readonly problems: Set<string>
}

/**
 * One rule from its text form: words in any order. `error-200` is a 200 whose body reports an error; `stored`
 * answers so after the call was carried out; `user` and the path may be percent-encoded.
 */
export function readFault(text: string): FaultReading {
  const draft: Draft = { rule: { match: {}, action: {} }, saidBy: new Map(), problems: new Set() }
  const words = text.split(/\s+/).filter((word) => word !== '')
  const [action, ...more] = words.filter(isAction)
  // The action first, since the words that shape an answer may stand before it.
  if (action !== undefined) readAction(draft, action)
  for (const word of more.slice(0, MOST_PROBLEMS)) {
    draft.problems.add(`${shorten(nameOf(word))}: only one action, and there is ${nameOf(action ?? '')}`)
  }
  for (const word of words.filter((each) => !isAction(each))) {
    if (draft.problems.size >= MOST_PROBLEMS) break // to look for what was meant takes time
    readWord(draft, word)
  }
  // A word that is not known may have been meant for it.
  if (action === undefined && draft.problems.size === 0) {
    draft.problems.add(`no action: expected one of ${ACTION_FORM}`)
  }
  const read = faultRule.safeParse(draft.rule, TOLD)
  if (read.success && draft.problems.size === 0) return { rule: read.data }
  const misfits = action === undefined ? [] : (read.error?.issues ?? []).map((issue) => misfit(draft, issue))
  return { rule: null, problems: [...new Set([...draft.problems, ...misfits])] }
}

const PLAIN_ACTIONS = ['drop-before', 'drop-after', 'hang-after', 'down']
const METHODS = ['GET', 'POST', 'PUT', 'PATCH']
const BODIES = ['json', 'html', 'empty']
const TIMED_ACTIONS = ['latency', 'slow-body', 'refuse']
const NAMES = ['user', 'status', 'field', 'rate', 'times', 'for', 'retry-after']
const WORDS = [...METHODS, ...PLAIN_ACTIONS, 'error-200', ...TIMED_ACTIONS, ...BODIES, 'stored', ...NAMES]

function nameOf(word: string): string {
  return word.split('=', 1)[0] ?? ''
}

function isAction(word: string): boolean {
  if (word === 'error-200' || PLAIN_ACTIONS.includes(word) || /^\d+$/.test(word)) return true
  return TIMED_ACTIONS.includes(nameOf(word))
}

function readAction(draft: Draft, word: string): void {
  const name = nameOf(word)
  const value = word.slice(name.length + 1)
  const say = (part: Record<string, unknown>) => put(draft, shorten(name), 'action', part)
  if (PLAIN_ACTIONS.includes(word)) say({ kind: word })
  else if (word === 'error-200') say({ kind: 'status', status: 200 })
  else if (!TIMED_ACTIONS.includes(name)) say({ kind: 'status', status: Number(word) })
  else if (name !== 'latency') say({ kind: name, durationMs: readMs(value) })
  else {
    const [min = '', max = min, ...more] = value.split('..')
    const isRange = more.length === 0
    say({ kind: name, minMs: isRange ? readMs(min) : Number.NaN, maxMs: isRange ? readMs(max) : Number.NaN })
  }
}

function readWord(draft: Draft, word: string): void {
  const name = nameOf(word)
  const value = word.slice(name.length + 1)
  if (METHODS.includes(word.toUpperCase())) put(draft, name, 'match', { method: word.toUpperCase() })
  else if (word.startsWith('/')) put(draft, 'the path', 'match', { path: readDecoded(word) })
  else if (BODIES.includes(word)) shape(draft, name, { body: word })
  else if (word === 'stored') shape(draft, name, { stored: true })
  else if (name === word) draft.problems.add(`${shorten(word)}: ${notKnown(word, WORDS)}`)
  else if (name === 'retry-after') shape(draft, name, { retryAfter: readRetryAfter(value) })
  else if (name === 'user') put(draft, name, 'match', { userId: readDecoded(value) })
  else if (name === 'field') put(draft, name, 'match', { field: value })
  else if (name === 'status') put(draft, name, 'match', { status: readNumber(value) })
  else if (name === 'rate' || name === 'times') put(draft, name, null, { [name]: readNumber(value) })
  else if (name === 'for') put(draft, name, null, { forMs: readMs(value) })
  else draft.problems.add(`${shorten(name)}=…: ${notKnown(name, [...TIMED_ACTIONS, ...NAMES])}`)
}

/** Words that only make sense for an answer with a status. */
function shape(draft: Draft, name: string, part: Record<string, unknown>): void {
  if (draft.rule.action.kind === 'status') put(draft, name, 'action', part)
  else draft.problems.add(`${name}: only with a status`)
}

function put(draft: Draft, word: string, at: 'match' | 'action' | null, part: Record<string, unknown>): void {
  Object.assign(at === null ? draft.rule : draft.rule[at], part)
  for (const key of Object.keys(part)) draft.saidBy.set(at === null ? key : `${at}.${key}`, word)
}

/** In the words of the text form: which word is wrong, and what it takes. */
function misfit({ saidBy }: Draft, { path, message }: z.core.$ZodIssue): string {
  const key = path.slice(0, 2).join('.')
  const word = saidBy.get(key) ?? saidBy.get(String(path[0])) ?? saidBy.get(`${key}.kind`) ?? key
  return `${word}: expected ${message}${ALSO[word] ?? ''}`
}

/** What a word takes besides what its field does. */
const OR_LIKE = ', or like 2s, 5m'
const ENCODED = ', percent-encoded where it holds spaces'
const ALSO: Readonly<Record<string, string>> = {
  latency: `${OR_LIKE}, or from..to`,
  'slow-body': OR_LIKE,
  refuse: OR_LIKE,
  for: OR_LIKE,
  user: ENCODED,
  'the path': ENCODED,
  'retry-after': ', or date: before them',
}

// What cannot be read becomes NaN, which no field takes: it is the schema alone that says what is expected.

function readRetryAfter(value: string): object {
  const date = /^date:(.*)$/.exec(value)?.[1]
  return { form: date === undefined ? 'seconds' : 'date', seconds: readNumber(date ?? value) }
}

function readNumber(value: string): number {
  return /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
}

function readMs(value: string): number {
  return readDuration(value) ?? Number.NaN
}

function readDecoded(value: string): string | number {
  try {
    return decodeURIComponent(value)
  } catch {
    return Number.NaN // half an escape
  }
}
