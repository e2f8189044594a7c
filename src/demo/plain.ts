// The same without a terminal: a line for each phase and a line of figures now and then. Pure.
import { counted, duration, seconds } from './line.ts'
import { CALL_KINDS, type CallCounts, type Meter, quantile, totalCalls } from './meter.ts'
import { owedCustomers } from './standing.ts'

export function sayPhase({ phase, startedAt }: Meter, now: number): string {
  const place = phase === null || phase.number === 0 ? '' : `${phase.number}/${phase.of} `
  return `${stamp(now - startedAt)}  ${place}${phase?.says ?? ''}`
}

/** Null as long as there is nothing to tell. */
export function sayFigures(
  { standing, captured, calls, recent, startedAt }: Meter,
  now: number,
): string | null {
  if (standing === null) return null
  const failing = standing.failing.reduce((sum, { customers }) => sum + customers, 0)
  const latencies = recent.slice(-100).flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))
  const parts = [
    `${counted(captured, 'change')} captured`,
    sayCalls(calls),
    `${owedCustomers(standing)} owed`,
    ...(failing > 0 ? [`${failing} retrying`] : []),
    ...(standing.unknown > 0 ? [`${standing.unknown} unknown`] : []),
    `median ${duration(quantile(latencies, 0.5))}, p95 ${duration(quantile(latencies, 0.95))}`,
  ]
  return `${stamp(now - startedAt)}      ${parts.join('; ')}`
}

export function sayCalls(calls: CallCounts): string {
  const kinds = CALL_KINDS.filter((kind) => calls[kind] > 0).map((kind) => `${kind} ${calls[kind]}`)
  return [counted(totalCalls(calls), 'call'), ...(kinds.length > 0 ? [`(${kinds.join(', ')})`] : [])].join(
    ' ',
  )
}

function stamp(ms: number): string {
  return seconds(ms).padStart(7)
}
