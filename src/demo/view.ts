// The live view and, without a terminal, its plain lines. Pure functions of the meter.
import { type CallCounts, latencyOf, METERED_KINDS, type Meter, type MeteredCall, totals } from './meter.ts'
import { type DemoSnapshot, owedCustomers } from './snapshot.ts'

export type DemoTone = 'strong' | 'dim' | 'good' | 'bad' | keyof CallCounts
export type Paint = (tone: DemoTone, text: string) => string

type ViewOptions = {
  /** Of the terminal, in characters and lines. */
  readonly columns: number
  readonly rows: number
  readonly now: number
  readonly paint: Paint
}

/** Longer lines are hard to read. */
const MAX_COLUMNS = 110
/** In a narrower terminal the lines wrap. */
const MIN_COLUMNS = 79
const MAX_EVENTS = 24
/** After the story the view stays short, so that the summary above it stays in sight. */
const FEW_EVENTS = 5
const LATENCY_WINDOW_MS = 10_000
const PACE_WINDOW_MS = 2000
const BAR = 24

export function renderView(meter: Meter, { columns, rows, now, paint }: ViewOptions): readonly string[] {
  const { startedAt, target, shown, snapshot } = meter
  // The last column makes some terminals wrap.
  const width = Math.max(MIN_COLUMNS, Math.min(columns - 1, MAX_COLUMNS))
  const clock = `${seconds(now - startedAt)}   ${shown.place}`.trimEnd()
  const head = [
    ` ${paint('strong', 'rollcall demo')}   ${paint('dim', target.padEnd(width - 18 - clock.length))} ${paint('dim', clock)}`,
    '',
    ` ${paint('good', '●')} ${paint('strong', shown.says)}`,
    `   ${paint('dim', shown.look)}`,
    ...(snapshot === null ? [] : ['', ...figures(meter, snapshot, now, paint)]),
  ]
  const room = Math.min(rows - 3 - head.length, shown.place === '' ? FEW_EVENTS : MAX_EVENTS)
  return [...head, ...events(meter, room, width, paint)]
}

function figures(meter: Meter, snapshot: DemoSnapshot, now: number, paint: Paint): string[] {
  const { captured, calls } = totals(meter)
  const { recent, spared } = meter
  const { ceiling, leftOut } = snapshot
  const rate = Math.round(
    recent.filter(({ at }) => at > now - PACE_WINDOW_MS).length / (PACE_WINDOW_MS / 1000),
  )
  const filled = Math.min(BAR, Math.round((rate / ceiling) * BAR) || 0)
  const rows = {
    tables: `${countOf(snapshot.customers, 'customer')} in Postgres, ${countOf(snapshot.users, 'user')} at the service`,
    captured: countOf(captured, 'change') + (spared > 0 ? `; ${spared} needed no call` : ''),
    calls: METERED_KINDS.map((kind) => `${paint(kind, kind)} ${String(calls[kind]).padEnd(6)}`).join(''),
    pace: `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${rate} of ${ceiling} calls a second`,
    arrival: `${renderLatency(recent.filter(({ at }) => at > now - LATENCY_WINDOW_MS))} after the change`,
    owed: renderOwed(snapshot),
    retrying: renderRetrying(snapshot, paint),
    ...(leftOut.length > 0 && { 'left out': renderLeftOut(snapshot, paint) }),
  }
  return Object.entries(rows).map(([label, text]) => `   ${paint('dim', label.padEnd(10))}${text}`)
}

function renderLatency(recent: readonly MeteredCall[]): string {
  const { medianMs, p95Ms } = latencyOf(
    recent.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs])),
  )
  return `median ${duration(medianMs)}, p95 ${duration(p95Ms)}`
}

function renderOwed(snapshot: DemoSnapshot): string {
  const total = owedCustomers(snapshot)
  if (total === 0) return snapshot.outbox === 0 ? 'nothing' : 'changes captured a moment ago'
  const { due, queued, active, waiting } = snapshot.owed
  return `${countOf(total, 'customer')}: ${due} due, ${queued} queued, ${active} active, ${waiting} waiting`
}

function renderRetrying({ failing, unknown }: DemoSnapshot, paint: Paint): string {
  if (failing.length === 0 && unknown === 0) return 'none'
  const reasons = failing.map(({ why, customers }) => `${customers} × ${why}`)
  return `${paint('bad', reasons.join(', ') || 'none')}; ${countOf(unknown, 'outcome')} unknown`
}

function renderLeftOut({ leftOut }: DemoSnapshot, paint: Paint): string {
  const fields = leftOut.map(({ field, customers }) => `${customers} × ${field}`)
  return `${paint('bad', fields.join(', '))}: the value is invalid`
}

/** Columns of the list of calls: time, key, kind, about, answer, after. */
function events({ recent, startedAt }: Meter, room: number, width: number, paint: Paint): string[] {
  if (recent.length === 0 || room < 1) return []
  const about = width - 58
  const row = (time: string, key: string, kind: string, fields: string) =>
    [time.padStart(7), ` ${key.padEnd(8)} `, kind.padEnd(8), fields.padEnd(about)] as const
  const titles = row('time', 'customer', 'call', 'fields').join('')
  return [
    '',
    `  ${paint('dim', `${titles}${'answer'.padEnd(24)}${'after'.padStart(7)}`)}`,
    ...recent
      .slice(-room)
      .toReversed()
      .map(({ at, key, kind, about: text, answer, good, latencyMs }) => {
        const cut = text.length >= about ? `${text.slice(0, about - 2)}…` : text
        const [time, customer, call, fields] = row(((at - startedAt) / 1000).toFixed(2), key, kind, cut)
        const after = latencyMs === null ? '' : duration(latencyMs)
        return `  ${paint('dim', time)}${customer}${paint(kind, call)}${fields}${paint(good ? 'good' : 'bad', answer.padEnd(24))}${paint('dim', after.padStart(7))}`
      }),
  ]
}

/** For a log: the phase that begins. */
export function renderPhase({ shown, startedAt }: Meter, now: number): string {
  return `${stamp(now - startedAt)}  ${[shown.place, shown.says].filter(Boolean).join(' ')}`
}

/** For a log: the figures of the moment. */
export function renderFigures(meter: Meter, snapshot: DemoSnapshot): string {
  const { captured, calls } = totals(meter)
  const kinds = METERED_KINDS.filter((kind) => calls[kind] > 0).map((kind) => `${kind} ${calls[kind]}`)
  const failing = snapshot.failing.reduce((sum, { customers }) => sum + customers, 0)
  return [
    `${countOf(captured, 'change')} captured`,
    `${countOf(callsOfAll(calls), 'call')} (${kinds.join(', ') || 'none'})`,
    `${owedCustomers(snapshot)} owed`,
    ...(failing > 0 ? [`${failing} retrying`] : []),
    ...(snapshot.unknown > 0 ? [`${snapshot.unknown} unknown`] : []),
    renderLatency(meter.recent.slice(-100)),
  ].join('; ')
}

export function callsOfAll(calls: CallCounts): number {
  return METERED_KINDS.reduce((sum, kind) => sum + calls[kind], 0)
}

export function stamp(ms: number): string {
  return seconds(ms).padStart(7)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** A dash when there is none. */
export function duration(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1000 ? `${ms} ms` : seconds(ms)
}

export function countOf(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
