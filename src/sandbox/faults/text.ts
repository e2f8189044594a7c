// Faults as a list of words, for the command line: `PATCH 503 rate=0.3 retry-after=5`.
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { RollcallError } from '../../model/errors.ts'
import { IN_WORDS, MOST_PROBLEMS, notKnown, readDecoded, shorten } from '../problems.ts'
import { type FaultRule, faultRule } from './faults.ts'

const ACTION_FORM =
  '200..599 [html|empty] [stored] [retry-after=SECONDS|date:SECONDS], error-200, ' +
  'latency=DURATION or latency=DURATION..DURATION, slow-body=DURATION, drop-before, drop-after, hang-after, down ' +
  'or refuse=DURATION'

/** For --help. */
export const FAULT_FORM =
  '[GET|POST|PUT|PATCH] [/PATH] ACTION [user=ID] [status=N] [field=NAME] [rate=0..1] [times=N] [for=DURATION], ' +
  `where ACTION is ${ACTION_FORM}; /PATH is how the path begins; DURATION is ${DURATION_FORM}`

/** `problems`: what was expected of each word that is wrong; a value is never repeated. */
type FaultReading =
  | { readonly rule: FaultRule }
  | { readonly rule: null; readonly problems: readonly string[] }

/** For the command line; throws RollcallError USAGE with a line for each word that is wrong. */
export function parseFault(text: string): FaultRule {
  const read = readFault(text)
  if (read.rule !== null) return read.rule
  const about = shorten(text.trim(), 200)
  throw new RollcallError(
    'USAGE',
    read.problems.map((problem) => `fault "${about}": ${problem}`),
  )
}

type Part = Readonly<Record<string, unknown>>
type Place = 'match' | 'limits' | 'shape'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH']
const PLAIN_ACTIONS = ['drop-before', 'drop-after', 'hang-after', 'down']
const TIMED_ACTIONS = ['latency', 'slow-body', 'refuse']

/** Words that shape an answer with a status. */
const FLAGS: Readonly<Record<string, Part>> = {
  json: { body: 'json' },
  html: { body: 'html' },
  empty: { body: 'empty' },
  stored: { stored: true },
}

type Named = readonly [place: Place, field: string, read: (value: string) => unknown]
const NAMED: Readonly<Record<string, Named>> = {
  user: ['match', 'userId', readDecoded],
  status: ['match', 'status', readNumber],
  field: ['match', 'field', String],
  rate: ['limits', 'rate', readNumber],
  times: ['limits', 'times', readNumber],
  for: ['limits', 'forMs', readMs],
  'retry-after': ['shape', 'retryAfter', readRetryAfter],
}
const WORDS = [
  ...METHODS,
  ...PLAIN_ACTIONS,
  ...TIMED_ACTIONS,
  'error-200',
  ...Object.keys({ ...FLAGS, ...NAMED }),
]

const PATHS = { match: 'match.', limits: '', shape: 'action.' }
/** By the path of a field in the rule; every other field is the action's. */
const WORD_OF = new Map([
  ['match.path', 'the path'],
  ...Object.entries(NAMED).map(([name, [place, field]]): [string, string] => [PATHS[place] + field, name]),
])

/** One rule, its words in any order. `error-200` is a 200 whose body reports an error. */
export function readFault(text: string): FaultReading {
  const problems = new Set<string>()
  const parts: Record<Place, Record<string, unknown>> = { match: {}, limits: {}, shape: {} }
  const shapes: string[] = []
  let action: Part | undefined
  let actionWord = ''
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    if (problems.size >= MOST_PROBLEMS) break // the search for a name that was meant takes time
    const [name = ''] = word.split('=', 1)
    const value = word.slice(name.length + 1)
    const read = readAction(word, name, value)
    const flag = Object.hasOwn(FLAGS, word) ? FLAGS[word] : undefined
    const named = name !== word && Object.hasOwn(NAMED, name) ? NAMED[name] : undefined
    if (read !== null && action === undefined) {
      action = read
      actionWord = shorten(name)
    } else if (read !== null) problems.add(`${shorten(name)}: only one action, and there is ${actionWord}`)
    else if (METHODS.includes(word.toUpperCase())) parts.match.method = word.toUpperCase()
    else if (word.startsWith('/')) parts.match.path = readDecoded(word)
    else if (flag !== undefined) Object.assign(parts.shape, flag)
    else if (named !== undefined) parts[named[0]][named[1]] = named[2](value)
    else if (Object.hasOwn(NAMED, word)) problems.add(`${word}: expected a value, ${word}=…`)
    else problems.add(`${shorten(name)}: ${notKnown(name, WORDS)}`)
    if (flag !== undefined || named?.[0] === 'shape') shapes.push(name)
  }
  if (action === undefined) {
    // An unknown word may have been meant as the action.
    if (problems.size === 0) problems.add(`no action: expected one of ${ACTION_FORM}`)
    return { rule: null, problems: [...problems] }
  }
  const isAnswer = action.kind === 'status'
  if (!isAnswer) for (const name of shapes) problems.add(`${name}: only with a status`)
  const { match, limits, shape } = parts
  const read = faultRule.safeParse(
    { match, ...limits, action: isAnswer ? { ...action, ...shape } : action },
    IN_WORDS,
  )
  if (read.success && problems.size === 0) return { rule: read.data }
  for (const { path, message } of read.error?.issues ?? []) {
    problems.add(`${WORD_OF.get(path.slice(0, 2).join('.')) ?? actionWord}: expected ${message}`)
  }
  return { rule: null, problems: [...problems] }
}

function readAction(word: string, name: string, value: string): Part | null {
  if (PLAIN_ACTIONS.includes(word)) return { kind: word }
  if (word === 'error-200') return { kind: 'status', status: 200 }
  if (/^\d+$/.test(word)) return { kind: 'status', status: Number(word) }
  if (!TIMED_ACTIONS.includes(name)) return null
  if (name !== 'latency') return { kind: name, durationMs: readMs(value) }
  const [min = '', max = min, ...more] = value.split('..')
  return { kind: name, minMs: readMs(more.length === 0 ? min : ''), maxMs: readMs(max) }
}

// An unreadable value becomes NaN, which no field takes: the schema alone says what is expected.

function readRetryAfter(value: string): object {
  const isDate = value.startsWith('date:')
  return { form: isDate ? 'date' : 'seconds', seconds: readNumber(isDate ? value.slice(5) : value) }
}

function readNumber(value: string): number {
  return /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
}

function readMs(value: string): number {
  return readDuration(value) ?? Number.NaN
}
