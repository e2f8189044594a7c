import type { CaptureMark } from '../capture/marks.ts'
import type { TableStatus } from '../capture/status.ts'
import type { Config } from '../config/config.ts'
import type { Overview } from '../ledger/overview.ts'
import { describeTarget } from '../service/target.ts'

export type Status = {
  readonly overview: Overview
  readonly capture: { readonly tables: readonly TableStatus[]; readonly marks: readonly CaptureMark[] }
  /** Something needs a person; exit code 3. */
  readonly attention: readonly string[]
}

/** The status as lines for a person: what it is about, what is owed, what is wrong. */
export function sayOverview({ overview, capture, attention }: Status, config: Config): string[] {
  const { owed, outbox, pace, states, target } = overview
  const total = owed.deletion + owed.change + owed.repair + owed.backfill
  const captured = capture.tables.filter(({ state }) => state === 'fits').length
  return [
    line('service', target ? describeTarget(target.origin, config) : 'not bound yet: no call was ever made'),
    line(
      'customers',
      `${overview.customers} known, ${states.idle} settled, ${states.failing} failing, ${states.rejected} rejected`,
    ),
    line(
      'capture',
      `${captured} of ${capture.tables.length} tables; ${outbox.rows} changes not noted yet${age(outbox.oldestAgeMs)}`,
    ),
    line(
      'owed',
      total === 0
        ? 'nothing'
        : `${total}: ${owed.due} due, ${owed.queued} queued, ${owed.active} active, ${owed.waiting} waiting${age(owed.oldestAgeMs)}`,
    ),
    ...(overview.unknown > 0
      ? [line('unknown', `${overview.unknown} users have to be looked up first`)]
      : []),
    line(
      'pace',
      pace
        ? `${pace.rate} of ${pace.ceiling} calls/s${pace.heldForMs > 0 ? `, held for ${seconds(pace.heldForMs)}` : ''}`
        : 'not set yet',
    ),
    line('revocations', `${overview.revocationsLastMinute} in the last minute (at most 10)`),
    ...reasons(overview),
    ...attention.map((what) => line('attention', what)),
  ]
}

function reasons({ reasons, fieldIssues }: Overview): string[] {
  return [
    ...reasons.map(({ state, code, status, customers }) =>
      line(state, `${customers} × ${code}${status === null ? '' : ` (${status})`}`),
    ),
    ...fieldIssues.map(({ field, code, customers }) => line('left out', `${customers} × ${field}: ${code}`)),
  ]
}

function line(label: string, text: string): string {
  return `${label.padEnd(12)} ${text}`
}

function age(ms: number | null): string {
  return ms === null ? '' : `, oldest ${seconds(ms)}`
}

function seconds(ms: number): string {
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}
