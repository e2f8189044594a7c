// The live view of the demo, and where it is drawn. The view is a pure function of the meter.
import { styleText } from 'node:util'
import { createLogUpdate } from 'log-update'
import { arrivalOf, type DemoSnapshot, METERED_KINDS, type Meter, measure } from './meter.ts'

const STYLES = {
  strong: 'bold',
  dim: 'dim',
  good: 'green',
  bad: 'red',
  create: 'green',
  replace: 'blue',
  patch: 'cyan',
  revoke: 'magenta',
  lookup: 'yellow',
} as const
export type Paint = (tone: keyof typeof STYLES, text: string) => string

export type Screen = ReturnType<typeof terminalScreen>

const FRAME_MS = 100

/** Colours unless the terminal has none or NO_COLOR is set. */
export function terminalScreen(meter: Meter, terminal: NodeJS.WriteStream) {
  const paint: Paint = (tone, text) => styleText(STYLES[tone], text, { stream: terminal })
  const picture = createLogUpdate(terminal)
  const draw = () => {
    const { columns = 80, rows = 24 } = terminal
    picture(renderView(meter, { columns, rows, now: Date.now(), paint }).join('\n'))
  }
  const timer = setInterval(draw, FRAME_MS)
  return {
    paint,
    /** A phase of the story, or a step before or after it. */
    show(shown: Meter['shown']): void {
      meter.shown = shown
      draw()
    },
    /** Lines that stay. */
    print(lines: readonly string[]): void {
      // log-update would break a long line: a printed address has to stay whole to be copied.
      picture.clear()
      terminal.write(`${lines.join('\n')}\n`)
    },
    /** Removes the view; lines can still be printed. */
    close(): void {
      clearInterval(timer)
      picture.clear()
      picture.done()
    },
  }
}

/** For logs and pipes: a line for each phase. */
export function plainScreen({ startedAt }: Meter, write: (line: string) => void): Screen {
  return {
    paint: (_tone, text) => text,
    show: ({ place, says }) =>
      write(`${seconds(Date.now() - startedAt).padStart(7)}  ${`${place} ${says}`.trim()}`),
    print: (lines) => lines.forEach(write),
    close() {},
  }
}

type ViewOptions = {
  readonly columns: number
  readonly rows: number
  readonly now: number
  readonly paint: Paint
}

/** Longer lines are hard to read. */
const MAX_COLUMNS = 110
const MAX_EVENTS = 24
/** After the story the view stays short, so that the summary above it stays in sight. */
const FEW_EVENTS = 5
const LATENCY_WINDOW_MS = 10_000
const PACE_WINDOW_S = 2
const BAR = 24

export function renderView(meter: Meter, { columns, rows, now, paint }: ViewOptions): readonly string[] {
  const { startedAt, target, shown, snapshot } = meter
  // The last column makes some terminals wrap.
  const width = Math.min(columns - 1, MAX_COLUMNS)
  const clock = `${seconds(now - startedAt)}   ${shown.place}`.trimEnd()
  const head = [
    ` ${paint('strong', 'rollcall demo')}   ${paint('dim', target.padEnd(width - 18 - clock.length))} ${paint('dim', clock)}`,
    '',
    ` ${paint('good', '●')} ${paint('strong', shown.says)}`,
    `   ${paint('dim', shown.hint)}`,
    ...(snapshot === null ? [] : ['', ...figures(meter, snapshot, now, paint)]),
  ]
  const room = Math.min(rows - 3 - head.length, shown.place === '' ? FEW_EVENTS : MAX_EVENTS)
  return [...head, ...events(meter, room, width, paint)]
}

function figures(meter: Meter, snapshot: DemoSnapshot, now: number, paint: Paint): string[] {
  const { captured, calls } = measure(meter.phases)
  const within = (ms: number) =>
    meter.phases.flatMap((phase) => phase.calls.filter(({ at }) => at > now - ms))
  const rate = Math.round(within(PACE_WINDOW_S * 1000).length / PACE_WINDOW_S)
  const filled = Math.min(BAR, Math.round((rate / meter.ceiling) * BAR))
  const { medianMs, p95Ms } = arrivalOf(within(LATENCY_WINDOW_MS))
  const { due, queued, active, waiting } = snapshot.owed
  const failing = snapshot.reasons
    .filter(({ state }) => state === 'failing')
    .map(({ code, status, customers }) => `${customers} × ${status ?? code}`)
  const leftOut = snapshot.fieldIssues.map(({ field, customers }) => `${customers} × ${field}`)
  const rows = {
    tables: `${snapshot.customers} customers in Postgres, ${snapshot.users} users at the service`,
    captured: `${captured} changes; syncs without a call: ${meter.spared}`,
    calls: METERED_KINDS.map((kind) => `${paint(kind, kind)} ${String(calls[kind]).padEnd(6)}`).join(''),
    pace: `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${rate} of ${meter.ceiling} calls a second`,
    arrival: `median ${duration(medianMs)}, p95 ${duration(p95Ms)} after the change`,
    owed: `${due + queued + active + waiting} customers: ${due} due now, ${queued} queued, ${active} active, ${waiting} due later`,
    retrying: `${failing.length > 0 ? paint('bad', failing.join(', ')) : 'none'}; outcomes unknown: ${snapshot.unknown}`,
    'left out': leftOut.length > 0 ? `${paint('bad', leftOut.join(', '))}: the value is invalid` : 'none',
  }
  return Object.entries(rows).map(([label, text]) => `   ${paint('dim', label.padEnd(10))}${text}`)
}

function events({ phases, startedAt }: Meter, room: number, width: number, paint: Paint): string[] {
  if (room < 1) return []
  const recent = phases.flatMap(({ calls }) => calls).slice(-room)
  if (recent.length === 0) return []
  const about = width - 59
  const titles = ['   time customer call   ', 'fields'.padEnd(about), 'answer'.padEnd(24), ' after'].join(' ')
  const lines = recent.map((called) => {
    const time = ((called.at - startedAt) / 1000).toFixed(2)
    const cut = called.about.length > about ? `${called.about.slice(0, about - 1)}…` : called.about
    const after = called.latencyMs === null ? '' : duration(called.latencyMs)
    return [
      paint('dim', time.padStart(7)),
      called.key.padEnd(8),
      paint(called.kind, called.kind.padEnd(7)),
      cut.padEnd(about),
      paint(called.good ? 'good' : 'bad', called.answer.padEnd(24)),
      paint('dim', after.padStart(6)),
    ].join(' ')
  })
  return ['', paint('dim', titles), ...lines.toReversed()].map((line) => line && `  ${line}`)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

export function duration(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1000 ? `${ms} ms` : seconds(ms)
}
