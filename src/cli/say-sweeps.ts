import type { SweepKind } from '../ledger/runs.ts'
import { MISSED_HOW, type Missed, type SweepReport, type SweepsReport } from '../ledger/runs.ts'
import { counted, figure } from '../report/figures.ts'

/** A page takes seconds at the most. */
const STANDS_STILL_MS = 60_000

const WHAT: Readonly<Record<SweepKind, string>> = {
  backfill: 'backfill',
  mapping: 'applying the mapping',
  gap: 'everybody again after a gap in capture',
  resync: 'everybody again (resync)',
  check: 'checking what capture has missed',
}

/** Who goes on with one that nobody is at. */
const GOES_ON: Readonly<Record<SweepKind, string>> = {
  backfill: 'run the command again to go on',
  resync: 'run the command again, which begins anew',
  mapping: 'it waits for a worker with this mapping',
  gap: 'it waits for a worker',
  check: 'it waits for a worker',
}

/** The lines of a status about looks at everybody, as label and text. */
export function sayShownSweeps(sweeps: SweepsReport): readonly (readonly [string, string])[] {
  const { unfinished, check, missedSince } = sweeps
  const since = check ? 'since then' : 'before everybody was looked at'
  return [
    ...unfinished.map((sweep) => ['sweep', sayUnfinished(sweep)] as const),
    ...(check ? [['check', sayCheck(check)] as const] : []),
    ...(allMissed(missedSince) > 0
      ? [
          [
            'check',
            `${since}, a look at some customers has found that capture had missed ${sayMissed(missedSince)}`,
          ] as const,
        ]
      : []),
  ]
}

function sayUnfinished({ kind, customers, total, differ, startedAt, silentMs }: SweepReport): string {
  // Who has a record and no row comes after all who were counted.
  const of = total === null || customers > total ? '' : ` of ${total}`
  const still = silentMs > STANDS_STILL_MS ? `; stands still: ${GOES_ON[kind]}` : ''
  return `${WHAT[kind]}: ${customers}${of} customers looked at, ${differ} differ, since ${startedAt}${still}`
}

function sayCheck({ customers, endedAt, missed }: SweepReport): string {
  const found = allMissed(missed) === 0 ? 'missed nothing' : `missed ${sayMissed(missed)}`
  return `capture had ${found} when ${customers} customers were looked at, until ${endedAt}`
}

export function allMissed(missed: Missed): number {
  return MISSED_HOW.reduce((sum, how) => sum + missed[how], 0)
}

/** `3 changes (1 inserted, 2 changed)`. */
export function sayMissed(missed: Missed): string {
  const parts = MISSED_HOW.flatMap((how) => (missed[how] > 0 ? [`${figure(missed[how])} ${how}`] : []))
  const all = allMissed(missed)
  return `${counted(all, 'change')} (${parts.join(', ')})`
}

/** One at a time; for whoever waits meanwhile. */
export const OTHERS_SWEEP =
  'a worker, or another command, looks at everybody just now: this waits until that has ended'

/** Keys, for whoever looks for what wrote without triggers; of those whom an earlier process has found none is kept. */
export function sayExamples(examples: readonly string[]): string {
  return examples.length === 0 ? '' : `, for example ${examples.join(', ')}`
}
