// The demo's result, as JSON and in words. Pure.
import type { DemoComparison } from './compare.ts'
import { type CallCounts, type Latency, latencyOf, METERED_KINDS, type Meter, totals } from './meter.ts'
import type { Demo } from './open.ts'
import { callsOfAll, countOf, duration, type Paint } from './view.ts'

type Row = { readonly captured: number; readonly calls: CallCounts; readonly arrival: Latency }

/** `rollcall demo --json`. Latencies are from the change to the arrival at the service, in milliseconds. */
export type Summary = DemoComparison &
  Row & {
    readonly agree: boolean
    readonly target: string
    readonly seconds: number
    readonly phases: readonly (Row & { readonly name: string })[]
  }

export function summarize(meter: Meter, comparison: DemoComparison, now: number): Summary {
  const { captured, calls, latencies } = totals(meter)
  return {
    agree: comparison.differences.length === 0,
    target: meter.target,
    seconds: Math.round((now - meter.startedAt) / 100) / 10,
    ...comparison,
    captured,
    calls,
    arrival: latencyOf(latencies),
    phases: meter.phases.map(({ latencies, ...phase }) => ({ ...phase, arrival: latencyOf(latencies) })),
  }
}

/** More customers than this are only counted. */
const MAX_NAMED = 10

/** One row for each phase. At most 78 characters wide. */
export function renderTable({ phases, captured, calls }: Summary, paint: Paint): readonly string[] {
  const counts = ({ captured, calls }: Pick<Row, 'captured' | 'calls'>) => [
    count(captured).padStart(7),
    ...METERED_KINDS.map((kind) =>
      paint(calls[kind] > 0 ? kind : 'dim', count(calls[kind]).padStart(WIDTH[kind])),
    ),
  ]
  const times = ({ medianMs, p95Ms }: Latency) =>
    paint('dim', `${duration(medianMs).padStart(8)}${duration(p95Ms).padStart(8)}`)
  const row = (name: string, ...cells: readonly string[]) => ` ${name.padEnd(19)}${cells.join('')}`
  const titles = `changes${METERED_KINDS.map((kind) => kind.padStart(WIDTH[kind])).join('')}  median     p95`
  return [
    row('', paint('dim', titles)),
    ...phases.map((phase) => row(phase.name, ...counts(phase), times(phase.arrival))),
    row('altogether', ...counts({ captured, calls })),
    ` ${paint('dim', 'median, p95: from a change to its arrival; a bulk waits for the pace')}`,
  ]
}

const WIDTH: CallCounts = { create: 7, replace: 8, patch: 6, revoke: 7, lookup: 7 }

function count(value: number): string {
  return value === 0 ? '·' : String(value)
}

/** One line if all customers agree; otherwise the customers that differ. */
export function renderVerdict(summary: Summary, paint: Paint): readonly string[] {
  const { agree, customers, former, differences, calls } = summary
  if (agree) {
    return [
      ` ${paint('good', `All ${customers} customers agree with the service.`)}`,
      ` ${countOf(former, 'former customer has', 'former customers have')} no access there. It took ${countOf(callsOfAll(calls), 'call')}.`,
    ]
  }
  const more = differences.length - MAX_NAMED
  return [
    ` ${paint('bad', `${countOf(differences.length, 'customer')} of ${customers + former} do not agree with the service:`)}`,
    ...differences.slice(0, MAX_NAMED).map(({ key, differs }) => `   ${key}: ${differs.join(', ')}`),
    ...(more > 0 ? [`   and ${more} more`] : []),
  ]
}

/** The next steps with the viewer's own database. */
export function renderNextSteps(paint: Paint): readonly string[] {
  const commands = {
    'npx rollcall sync <key> --dry-run': 'sends nothing',
    'npx rollcall migrate && npx rollcall capture install': 'tables and triggers',
    'npx rollcall worker': 'and it runs',
    'npm run demo -- --keep': 'play with it',
  }
  return [
    ' Next, with your own database and a rollcall.config.ts (see examples/):',
    ...Object.entries(commands).map(([text, why]) => `   ${text.padEnd(54)}${paint('dim', why)}`),
  ]
}

/** The settings of the running demo. The keys are made for this run and worthless after it. */
export function renderKept({ env, configFile }: Demo): readonly string[] {
  const { DATABASE_URL, QUEUE_URL: _theSame, ...rest } = env
  return [
    ' Everything keeps running. In another terminal:',
    `   export DATABASE_URL='${DATABASE_URL}'`,
    '   export QUEUE_URL="$DATABASE_URL"',
    ...Object.entries(rest).map(([name, value]) => `   export ${name}='${value}'`),
    '',
    `   psql "$DATABASE_URL" -c "UPDATE clientes SET idioma = 'en'"`,
    `   npx rollcall sync C-0001 --config '${configFile}'`,
    '   curl -s "$SERVICE_URL/_sandbox/users"',
    '',
  ]
}
