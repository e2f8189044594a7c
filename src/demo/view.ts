// The live view: a pure function from what was seen to the lines of one picture.
import { counted, duration, fitLine, type Line, seconds, spread } from './line.ts'
import { CALL_KINDS, type Called, type Meter, quantile } from './meter.ts'
import { owedCustomers, type Standing } from './standing.ts'

export type ViewOptions = {
  /** Of the terminal, in characters and lines. */
  readonly columns: number
  readonly rows: number
  readonly now: number
}

/** Longer lines are hard to read, and the last column makes some terminals wrap. */
const MOST_COLUMNS = 110
const MOST_EVENTS = 24
/** After the story, so that what was printed above stays in sight. */
const FEW_EVENTS = 5
/** Latency and pace are those of the last moments. */
const LATENCY_WINDOW_MS = 10_000
const PACE_WINDOW_MS = 2000
const BAR = 24

export function view(meter: Meter, options: ViewOptions): readonly Line[] {
  const width = Math.min(options.columns - 1, MOST_COLUMNS)
  const head = [header(meter, options, width), [], ...story(meter)]
  const body = meter.standing === null ? [] : [[], ...figures(meter, meter.standing, options.now)]
  const told = meter.phase !== null && meter.phase.number > 0
  const room = Math.min(options.rows - 3 - head.length - body.length, told ? MOST_EVENTS : FEW_EVENTS)
  return [...head, ...body, ...events(meter, room, width)].map((line) => fitLine(line, width))
}

function header({ startedAt, phase, target }: Meter, { now }: ViewOptions, width: number): Line {
  const place = phase !== null && phase.number > 0 ? `   ${phase.number}/${phase.of}` : ''
  return spread(
    [
      ' ',
      { text: 'rollcall demo', tone: 'strong' },
      { text: target === null ? '' : `   ${target}`, tone: 'dim' },
    ],
    [{ text: `${seconds(now - startedAt)}${place}`, tone: 'dim' }],
    width,
  )
}

function story({ phase }: Meter): Line[] {
  if (phase === null) return []
  return [
    [' ', { text: '●', tone: 'good' }, ' ', { text: phase.says, tone: 'strong' }],
    ['   ', { text: phase.look, tone: 'dim' }],
  ]
}

function figures(meter: Meter, standing: Standing, now: number): Line[] {
  const { captured, calls, spared } = meter
  const { customers, users } = standing
  return [
    figure(
      'tables',
      `${counted(customers, 'customer')} in Postgres, ${counted(users, 'user')} at the service`,
    ),
    figure('captured', counted(captured, 'change') + (spared > 0 ? `; ${spared} needed no call` : '')),
    [
      ...figure('calls', ''),
      ...CALL_KINDS.flatMap(
        (kind): Line => [{ text: kind, tone: kind }, ` ${String(calls[kind]).padEnd(6)}`],
      ),
    ],
    figure('pace', pace(meter, standing, now)),
    figure('arrival', arrival(meter, now)),
    figure('owed', owed(standing)),
    retrying(standing),
    ...leftOut(standing),
  ]
}

function figure(label: string, text: string): Line {
  return ['   ', { text: label.padEnd(10), tone: 'dim' }, text]
}

function pace({ recent }: Meter, { ceiling }: Standing, now: number): string {
  const calls = recent.filter(({ at }) => at > now - PACE_WINDOW_MS).length
  const rate = Math.round(calls / (PACE_WINDOW_MS / 1000))
  const filled = Math.min(BAR, Math.round((rate / ceiling) * BAR))
  return `${bar(filled, BAR)} ${rate} of ${ceiling} calls a second`
}

function bar(filled: number, length: number): string {
  return '█'.repeat(filled) + '░'.repeat(length - filled)
}

function arrival({ recent }: Meter, now: number): string {
  const latencies = recent.flatMap(({ at, latencyMs }) =>
    at > now - LATENCY_WINDOW_MS && latencyMs !== null ? [latencyMs] : [],
  )
  if (latencies.length === 0) return '–'
  const [median, p95] = [quantile(latencies, 0.5), quantile(latencies, 0.95)]
  return `median ${duration(median)}, p95 ${duration(p95)} after the change`
}

function owed(standing: Standing): string {
  const total = owedCustomers(standing)
  if (total === 0) return standing.outbox === 0 ? 'nothing' : 'changes captured a moment ago'
  const { due, queued, active, waiting } = standing.owed
  const parts = [`${due} due`, `${queued} queued`, `${active} active`, `${waiting} waiting`]
  return `${counted(total, 'customer')}: ${parts.join(', ')}`
}

function retrying({ failing, unknown }: Standing): Line {
  const total = failing.reduce((sum, { customers }) => sum + customers, 0)
  if (total === 0 && unknown === 0) return figure('retrying', 'nobody')
  const reasons = failing.map(({ why, customers }) => `${customers} × ${why}`)
  return [
    ...figure('retrying', ''),
    { text: reasons.join(', ') || 'nobody', tone: 'bad' },
    `; ${counted(unknown, 'outcome')} unknown`,
  ]
}

function leftOut({ leftOut }: Standing): Line[] {
  if (leftOut.length === 0) return []
  const fields = leftOut.map(({ field, customers }) => `${customers} × ${field}`)
  return [
    [...figure('left out', ''), { text: fields.join(', '), tone: 'bad' }, ': the value cannot be right'],
  ]
}

const KEY = 8
const KIND = 9
const ANSWER = 24
const AFTER = 7

function events({ recent, startedAt }: Meter, room: number, width: number): Line[] {
  if (recent.length === 0 || room < 1) return []
  const about = Math.max(10, width - 11 - KEY - KIND - ANSWER - AFTER)
  const titles = `${'time'.padStart(7)} ${'customer'.padEnd(KEY)} ${'call'.padEnd(KIND - 1)}${'what'.padEnd(about)}`
  return [
    [],
    ['  ', { text: `${titles}${'answer'.padEnd(ANSWER)}${'after'.padStart(AFTER)}`, tone: 'dim' }],
    ...recent
      .slice(-room)
      .toReversed()
      .map((called) => event(called, startedAt, about)),
  ]
}

function event(called: Called, startedAt: number, about: number): Line {
  const { at, key, kind, good, answer, latencyMs } = called
  const what = called.about.length >= about ? `${called.about.slice(0, about - 2)}…` : called.about
  const after = latencyMs === null ? '' : duration(latencyMs)
  return [
    '  ',
    { text: ((at - startedAt) / 1000).toFixed(2).padStart(7), tone: 'dim' },
    ` ${key.padEnd(KEY)} `,
    { text: kind.padEnd(KIND - 1), tone: kind },
    what.padEnd(about),
    { text: answer.padEnd(ANSWER), tone: good ? 'good' : 'bad' },
    { text: after.padStart(AFTER), tone: 'dim' },
  ]
}
