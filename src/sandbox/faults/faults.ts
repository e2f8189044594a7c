// Faults on demand: which rule strikes a call, and rules as words: `PATCH 503 rate=0.3 retry-after=5`. The effect on
// a call is in strike.ts.
import * as z from 'zod'
import { DURATION_FORM, readDuration } from '../../model/duration.ts'
import { OPTIONAL_FIELDS } from '../../model/user.ts'
import { words } from '../../model/values.ts'
import { checkOption, milliseconds, whole } from '../problems.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH'] as const

const match = z.strictObject({
  method: z.enum(METHODS).optional(),
  /** How the path begins, decoded: `/chat/professionals`, `/s2s/v1/users`. */
  path: z.string().startsWith('/', 'expected a path that begins with /').optional(),
  /** The path's or the body's user; for a chat call the token's. */
  userId: z.string().optional(),
  /** The `status` in the body. */
  status: z.int('expected a whole number').optional(),
  /** A field that the body names, whatever it holds. */
  field: z.enum(OPTIONAL_FIELDS, `expected one of ${OPTIONAL_FIELDS.join(', ')}`).optional(),
})

const duration = milliseconds(0, 600_000)

const retryAfter = z.strictObject({
  form: z.enum(['seconds', 'date']),
  seconds: whole(0, 86_400, 'seconds'),
})

const action = z.discriminatedUnion(
  'kind',
  [
    /** A wait before anything else; other rules may strike after it. */
    z
      .strictObject({ kind: z.literal('latency'), minMs: duration, maxMs: duration })
      .refine(({ minMs, maxMs }) => minMs <= maxMs, 'write the smaller time first'),
    /** An answer without the call being carried out, or (`stored`) after it. */
    z.strictObject({
      kind: z.literal('status'),
      status: whole(200, 599),
      body: z.enum(['json', 'html', 'empty']).default('json'),
      stored: z.boolean().default(false),
      retryAfter: retryAfter.optional(),
    }),
    /** The connection is cut before or after the call is carried out; the call is carried out and never answered. */
    z.strictObject({ kind: z.literal(['drop-before', 'drop-after', 'hang-after']) }),
    /** The call is carried out and answered as always, but the body is complete only after this time. */
    z.strictObject({ kind: z.literal('slow-body'), durationMs: duration }),
    /** The call is cut and the port is closed for this long, to the control endpoints too. The users stay. */
    z.strictObject({ kind: z.literal('refuse'), durationMs: milliseconds(1, 600_000) }),
  ],
  'missing or not known; expected an HTTP status (a number like 503, or error-200; in JSON the kind "status"), latency, drop-before, drop-after, hang-after, slow-body or refuse',
)

const RATE = 'expected 0 to 1'

export const faultRule = z.strictObject({
  match: match.default({}),
  /** The share of matching calls that it strikes. */
  rate: z.number(RATE).min(0, RATE).max(1, RATE).default(1),
  /** How many calls it strikes before it is spent; absent: without end. */
  times: whole(1, 1_000_000_000).optional(),
  /** How long after it was set it is spent; absent: never. On the machine's clock, whatever the sandbox's says. */
  forMs: milliseconds(1, 86_400_000).optional(),
  action,
})
/** A rule with its defaults, and as a caller may write it. */
export type FaultRule = z.output<typeof faultRule>
export type FaultInput = z.input<typeof faultRule>
export type FaultEnding = Exclude<FaultRule['action'], { kind: 'latency' }>

/** `path` is decoded and without the query. */
export type FaultedCall = Readonly<{ method: string; path: string; userId: string | null; body: unknown }>

export type Faults = ReturnType<typeof makeFaults>

type Live = { readonly rule: FaultRule; readonly since: number; struck: number }

/**
 * @param random between 0 and 1, below 1; seeded, so that a run can be repeated
 * @param now milliseconds of a clock that only goes forward
 */
export function makeFaults(random: () => number, now: () => number = () => performance.now()) {
  let live: Live[] = []
  const isSpent = ({ rule: { times = Infinity, forMs = Infinity }, since, struck }: Live) =>
    struck >= times || now() - since >= forMs

  return {
    /** `spent`: it strikes no more, because of its times or its time. */
    list: (): readonly (FaultRule & { readonly struck: number; readonly spent: boolean })[] =>
      live.map((entry) => ({ ...entry.rule, struck: entry.struck, spent: isSpent(entry) })),
    /** Replaces all rules; throws a ZodError when one is malformed, and then changes nothing. */
    set(rules: readonly FaultInput[]): void {
      live = rules.map((rule) => ({ rule: faultRule.parse(rule), since: now(), struck: 0 }))
    },
    clear(): void {
      live = []
    },
    /** The faults that strike a call: a wait, and then at most one of the other actions. */
    strike(call: FaultedCall) {
      let latencyMs = 0
      const kinds: string[] = []
      for (const entry of live) {
        const { match, rate, action } = entry.rule
        if (isSpent(entry) || !matches(match, call)) continue
        if (rate < 1 && random() >= rate) continue
        entry.struck += 1
        kinds.push(action.kind)
        if (action.kind !== 'latency') return { latencyMs, ending: action, kinds }
        latencyMs += action.minMs + random() * (action.maxMs - action.minMs)
      }
      return { latencyMs, ending: null, kinds }
    },
  }
}

function matches({ method, path, userId, status, field }: FaultRule['match'], call: FaultedCall): boolean {
  const body = typeof call.body === 'object' && call.body !== null ? call.body : {}
  return (
    (method === undefined || method === call.method) &&
    (path === undefined || call.path.startsWith(path)) &&
    (userId === undefined || userId === call.userId) &&
    (status === undefined || ('status' in body && body.status === status)) &&
    (field === undefined || Object.hasOwn(body, field))
  )
}

/** Mulberry32: small, and the same sequence for the same seed on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The part of a rule that a word stands for. */
type Part = { readonly match?: object; readonly action?: object; readonly [other: string]: unknown }
type Word = readonly [form: string, meaning: string, example: string, read?: (value: string) => Part]

/** An indented word goes with the one above. A word without `read` is recognised by its form. */
const WORDS: readonly Word[] = [
  ['GET, POST, …', 'only calls with this method', 'PATCH 503'],
  ['/PATH', 'only paths that begin with this', '/chat 503'],
  ['user=ID', 'only calls about this user', 'user=4711 503', (userId) => ({ match: { userId } })],
  [
    'status=N',
    'only bodies with this user status',
    'status=4 503',
    (n) => ({ match: { status: readFigure(n) } }),
  ],
  ['field=NAME', 'only bodies with this field', 'field=email 422', (field) => ({ match: { field } })],
  ['rate=SHARE', 'only this share of the calls, 0 to 1', '503 rate=0.3', (n) => ({ rate: readFigure(n) })],
  ['times=N', 'only the first N of these calls', '503 times=2', (n) => ({ times: readFigure(n) })],
  ['for=DURATION', 'only for this time', '503 for=30s', (time) => ({ forMs: readFigure(time) })],
  ['NUMBER', 'this HTTP status is the answer (200-599)', '503'],
  ['  stored', 'carries out the call first', '503 stored', () => ({ action: { stored: true } })],
  ['  html', 'with a page of HTML', '503 html', () => ({ action: { body: 'html' } })],
  ['  empty', 'without a body', '503 empty', () => ({ action: { body: 'empty' } })],
  ['  retry-after=N', 'N seconds, or date:N to send it as a date', '429 retry-after=2', readRetryAfter],
  ['error-200', 'answers 200 with an error as body', 'PUT error-200', () => act('status', { status: 200 })],
  ['latency=DURATION', 'waits first; may be a range', 'latency=50..200', readLatency],
  ['slow-body=DURATION', 'sends the body slowly', 'slow-body=3s', (n) => act('slow-body', lasting(n))],
  ['drop-before', 'cuts the connection, carries out nothing', 'drop-before', () => act('drop-before')],
  ['drop-after', 'carries out the call, cuts the connection', 'POST drop-after', () => act('drop-after')],
  ['hang-after', 'carries out the call, and never answers', 'hang-after', () => act('hang-after')],
  ['refuse=DURATION', 'closes the port for this time', 'refuse=30s', (n) => act('refuse', lasting(n))],
]

/** By a whole word, or by the beginning of one up to its `=`. */
const READERS = new Map(WORDS.map(([form, , , read]) => [form.trim().replace(/=.*/, '='), read]))

/** A fault as words, for --help: a table of 80 columns. */
export const FAULT_WORDS = `A fault is one action and any number of conditions, in any order. The table
lists the conditions first, from GET to for=DURATION, then the actions. The
indented words go with an HTTP status (NUMBER): "503 html" answers with HTML.

${[['name', 'meaning', 'example'] as const, ...WORDS]
  .map(([form, meaning, example]) => form.padEnd(20) + meaning.padEnd(43) + example)
  .join('\n')}

DURATION is ${DURATION_FORM}.`

/** For the command line; throws RollcallError USAGE. */
export function parseFault(text: string): FaultRule {
  return checkOption(faultRule, faultFromWords(text), {
    option: `--fault "${text}"`,
    unknown: 'not known, or in conflict with another word',
    nameOf: (path) => wordFor(text, path),
  })
}

/** The word whose part has this field; `action` where no word has it. */
function wordFor(text: string, path: string): string {
  if (path.includes('"')) return path.slice(path.indexOf('"'))
  const [first = '', second = 'kind'] = path.split('.')
  const inPart = first === 'match' || first === 'action'
  const has = (part: Part) => Object.hasOwn(inPart ? (part[first] ?? {}) : part, inPart ? second : first)
  const word = words(text).find((each) => has(readWord(each)))
  return word === undefined ? 'action' : `"${word}"`
}

/** The words, in any order, as a rule for the schema, which says what is wrong: an unknown or second word is an unknown field. */
export function faultFromWords(text: string): object {
  const parts = words(text).map((word) => [word, readWord(word)] as const)
  const all = (name: 'match' | 'action') => {
    const given = parts.flatMap(([word, part]) =>
      Object.entries(part[name] ?? {}).map(([field, value]) => [field, value, word] as const),
    )
    const twice = given.filter(([one], at) => given.findIndex(([other]) => other === one) < at)
    return Object.fromEntries([...given, ...twice.map(([, , word]) => [`"${word}"`, true])])
  }
  return Object.assign({}, ...parts.map(([, part]) => part), { match: all('match'), action: all('action') })
}

function readWord(word: string): Part {
  if (/^\d+$/.test(word)) return act('status', { status: Number(word) })
  if (word.startsWith('/')) return { match: { path: word } }
  if (METHODS.some((method) => method === word)) return { match: { method: word } }
  const [name = word] = /^[^=]*=/.exec(word) ?? []
  return READERS.get(name)?.(word.slice(name.length)) ?? { [`"${name.replace('=', '')}"`]: true }
}

function act(kind: string, more = {}): Part {
  return { action: { kind, ...more } }
}

const lasting = (time: string) => ({ durationMs: readFigure(time) })

function readLatency(range: string): Part {
  const [minMs, maxMs = minMs] = range.split('..').map(readFigure)
  return act('latency', { minMs, maxMs })
}

function readRetryAfter(time: string): Part {
  const [, date, seconds = ''] = /^(date:)?(.*)$/.exec(time) ?? []
  return { action: { retryAfter: { form: date ? 'date' : 'seconds', seconds: Number(seconds || 'none') } } }
}

/** A number or a duration in milliseconds; NaN, which no field takes, for anything else. */
function readFigure(text: string): number {
  return readDuration(text) ?? (/^\d+\.\d+$/.test(text) ? Number(text) : Number.NaN)
}
