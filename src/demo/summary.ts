// What the demo found, as JSON and in words. Pure.
import type { Comparison } from './compare.ts'
import { counted, duration, type Line } from './line.ts'
import { CALL_KINDS, type CallCounts, type Meter, type PhaseTotals, quantile, totalCalls } from './meter.ts'

export type Latency = { readonly medianMs: number | null; readonly p95Ms: number | null }

/** `rollcall demo --json`. Latencies are from the change to the arrival at the service, in milliseconds. */
export type Summary = {
  readonly agree: boolean
  readonly target: string
  readonly seconds: number
  readonly customers: number
  readonly former: number
  readonly differences: Comparison['differences']
  readonly captured: number
  readonly calls: CallCounts
  readonly arrival: Latency
  readonly phases: readonly {
    readonly name: string
    readonly captured: number
    readonly calls: CallCounts
    readonly arrival: Latency
  }[]
}

type Found = {
  readonly meter: Meter
  readonly comparison: Comparison
  readonly target: string
  readonly now: number
}

export function summarize({ meter, comparison, target, now }: Found): Summary {
  return {
    agree: comparison.differences.length === 0,
    target,
    seconds: Math.round((now - meter.startedAt) / 100) / 10,
    ...comparison,
    captured: meter.captured,
    calls: meter.calls,
    arrival: latencyOf(meter.phases.flatMap(({ latencies }) => latencies)),
    phases: meter.phases.map(({ name, captured, calls, latencies }) => ({
      name,
      captured,
      calls,
      arrival: latencyOf(latencies),
    })),
  }
}

function latencyOf(latencies: PhaseTotals['latencies']): Latency {
  const rounded = (share: number) => {
    const value = quantile(latencies, share)
    return value === null ? null : Math.round(value)
  }
  return { medianMs: rounded(0.5), p95Ms: rounded(0.95) }
}

/** At most this many customers are named one by one. */
const NAMED = 10
const NAME = 19

/** The table of phases: what each cost, and how soon it arrived. At most 78 characters wide. */
export function sayTable({ phases, captured, calls }: Summary): readonly Line[] {
  const titles = ['changes', ...CALL_KINDS, 'median', 'p95'].map((title, i) => cell(title, i))
  const note = 'median, p95: from a change to its arrival; a bulk waits for the pace'
  return [
    [' ', { text: ''.padEnd(NAME) + titles.join(''), tone: 'dim' }],
    ...phases.map(({ arrival, ...counts }): Line => {
      const times = [arrival.medianMs, arrival.p95Ms].map((ms, i) => cell(duration(ms), TIMES + i))
      return [...tableRow(counts), { text: times.join(''), tone: 'dim' }]
    }),
    [...tableRow({ name: 'altogether', captured, calls })],
    [' ', { text: note, tone: 'dim' }],
  ]
}

function tableRow({ name, captured, calls }: Omit<Summary['phases'][number], 'arrival'>): Line {
  const number = (value: number, column: number) => cell(value === 0 ? '·' : String(value), column)
  return [
    ` ${name.padEnd(NAME)}${number(captured, 0)}`,
    ...CALL_KINDS.map((kind, i) => ({
      text: number(calls[kind], i + 1),
      tone: calls[kind] > 0 ? kind : ('dim' as const),
    })),
  ]
}

/** Of changes, the kinds of call, and the two times. */
const WIDTHS = [7, 7, 8, 6, 7, 7, 8, 8]
const TIMES = 6

function cell(text: string, column: number): string {
  return text.padStart(WIDTHS[column] ?? 8)
}

/** Whether all agree, in one line; below it who does not. */
export function sayVerdict({ agree, customers, former, differences, calls }: Summary): readonly Line[] {
  const all = totalCalls(calls)
  if (agree) {
    return [
      [' ', { text: `All ${customers} customers agree with the service.`, tone: 'good' }],
      [
        ` ${counted(former, 'former customer has', 'former customers have')} no access there. It took ${counted(all, 'call')}.`,
      ],
    ]
  }
  const wrong = counted(differences.length, 'customer')
  return [
    [' ', { text: `${wrong} of ${customers + former} do not agree with the service:`, tone: 'bad' }],
    ...differences.slice(0, NAMED).map(({ key, differs }): Line => [`   ${key}: ${differs.join(', ')}`]),
    ...(differences.length > NAMED ? [[`   and ${differences.length - NAMED} more`]] : []),
  ]
}

/** What to do next, with one's own database. */
export function sayNext(): readonly Line[] {
  const command = (text: string, why: string): Line => [`   ${text.padEnd(54)}`, { text: why, tone: 'dim' }]
  return [
    [' Next, with your own database and a rollcall.config.ts (see examples/):'],
    command('npx rollcall sync <key> --dry-run', 'sends nothing'),
    command('npx rollcall migrate && npx rollcall capture install', 'tables and triggers'),
    command('npx rollcall worker', 'and it runs'),
    command('npm run demo -- --keep', 'play with it'),
  ]
}
