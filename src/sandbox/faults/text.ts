// Faults as a list of words: `PATCH 503 rate=0.3 retry-after=5`.
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { words } from '../../model/values.ts'
import { checkOption } from '../problems.ts'
import { type FaultRule, faultRule } from './faults.ts'

/** For --help. */
export const FAULT_FORM =
  '[GET|POST|PUT|PATCH] [/PATH] ACTION [user=ID] [status=N] [field=NAME] [rate=0..1] [times=N] [for=DURATION], ' +
  'where ACTION is 200..599 [html|empty] [stored] [retry-after=SECONDS|date:SECONDS], error-200, ' +
  'latency=DURATION or latency=DURATION..DURATION, slow-body=DURATION, drop-before, drop-after, hang-after, down ' +
  `or refuse=DURATION; /PATH is how the path begins; DURATION is ${DURATION_FORM}`

/** What a word says of a rule. */
type Part = Readonly<Record<string, unknown>> & { readonly match?: object; readonly action?: object }

const PLAIN = new Map<string, Part>([
  ...['GET', 'POST', 'PUT', 'PATCH'].map((method) => [method, { match: { method } }] as const),
  ...['drop-before', 'drop-after', 'hang-after', 'down'].map((kind) => [kind, { action: { kind } }] as const),
  ['error-200', { action: { kind: 'status', status: 200 } }],
  ['html', { action: { body: 'html' } }],
  ['empty', { action: { body: 'empty' } }],
  ['stored', { action: { stored: true } }],
])

const NAMED = new Map<string, (value: string) => Part>([
  ['user', (userId) => ({ match: { userId } })],
  ['status', (status) => ({ match: { status: readFigure(status) } })],
  ['field', (field) => ({ match: { field } })],
  ['rate', (rate) => ({ rate: readFigure(rate) })],
  ['times', (times) => ({ times: readFigure(times) })],
  ['for', (duration) => ({ forMs: readFigure(duration) })],
  ['retry-after', (value) => ({ action: { retryAfter: readRetryAfter(value) } })],
  ['latency', (value) => ({ action: { kind: 'latency', ...readRange(value) } })],
  ['slow-body', (value) => ({ action: { kind: 'slow-body', durationMs: readFigure(value) } })],
  ['refuse', (value) => ({ action: { kind: 'refuse', durationMs: readFigure(value) } })],
])

/** For the command line; throws RollcallError USAGE. */
export function parseFault(text: string): FaultRule {
  return checkOption(faultRule, faultFromWords(text), `--fault "${text}"`)
}

/** The words, in any order, as a rule for the schema, which says what is wrong: an unknown word is an unknown field. */
export function faultFromWords(text: string): object {
  let rule: Part = { match: {}, action: {} }
  for (const word of words(text)) {
    const part = readWord(word)
    rule = {
      ...rule,
      ...part,
      match: { ...rule.match, ...part.match },
      action: { ...rule.action, ...part.action },
    }
  }
  return rule
}

function readWord(word: string): Part {
  if (/^\d+$/.test(word)) return { action: { kind: 'status', status: Number(word) } }
  if (word.startsWith('/')) return { match: { path: word } }
  const [name = ''] = word.split('=', 1)
  const named = name === word ? undefined : NAMED.get(name)?.(word.slice(name.length + 1))
  return named ?? PLAIN.get(word) ?? { [`word ${name}`]: true }
}

function readRetryAfter(value: string): object {
  const isDate = value.startsWith('date:')
  return { form: isDate ? 'date' : 'seconds', seconds: readFigure(isDate ? value.slice(5) : value) }
}

function readRange(value: string): object {
  const [minMs, maxMs = minMs] = value.split('..').map(readFigure)
  return { minMs, maxMs }
}

/** A number or a duration in milliseconds; NaN, which no field takes, for anything else. */
function readFigure(text: string): number {
  return readDuration(text) ?? (/^\d+\.\d+$/.test(text) ? Number(text) : Number.NaN)
}
