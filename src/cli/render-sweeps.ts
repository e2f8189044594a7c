// Checks of all customers, and what they say that capture has missed.
import {
  MISSED_HOW,
  type Missed,
  type SweepKind,
  type SweepReport,
  type SweepsReport,
} from '../ledger/runs.ts'
import { counted, figure, minute } from '../report/figures.ts'

const STANDS_STILL_MS = 60_000

const BY_WORKER = 'start a worker, or read the log of the running worker'

/** Says what a sweep does, and which process goes on with one that stands still. */
const SWEEPS: Readonly<Record<SweepKind, readonly [what: string, goesOn: string]>> = {
  backfill: ['backfill', 'run `rollcall backfill` again with the same options to continue'],
  mapping: ['applying the mapping', 'start a worker with this mapping, or read its log if it runs'],
  gap: ['comparing all customers after a gap in capture', BY_WORKER],
  resync: ['comparing all customers (resync)', 'run `rollcall capture resync` again; it starts over'],
  check: ['check of capture (a search for missed changes)', BY_WORKER],
}

export function renderSweeps({ unfinished, check }: SweepsReport) {
  return [
    ...unfinished.map(renderUnfinished),
    check &&
      `the last check of capture (${minute(check.endedAt ?? '')}) compared ${counted(check.customers, 'customer')} with the ledger: capture had missed ${renderMissed(check.missed)}`,
  ]
}

function renderUnfinished({ kind, customers, total, differ, startedAt, silentMs }: SweepReport): string {
  const [what, goesOn] = SWEEPS[kind]
  // Customers with a record and no row come after all those counted.
  const of = total === null || customers > total ? '' : ` of ${figure(total)}`
  const still = silentMs > STANDS_STILL_MS ? `; no progress: ${goesOn}` : ''
  return `${what}, begun at ${minute(startedAt)}: ${figure(customers)}${of} customers compared, ${figure(differ)} differ${still}`
}

/** Missed changes are repaired; the program that writes without triggers goes on until a person finds it. */
export function sweepsNeed({ unfinished, check, missedSince }: SweepsReport): readonly string[] {
  const sums = MISSED_HOW.map((how) => [how, (check?.missed[how] ?? 0) + missedSince[how]])
  const missed: Missed = Object.fromEntries(sums)
  const ofWorkers = unfinished.filter(({ kind }) => kind !== 'backfill' && kind !== 'resync')
  const still = ofWorkers.filter(({ silentMs }) => silentMs > STANDS_STILL_MS).map(renderUnfinished)
  if (allMissed(missed) === 0) return still
  return [
    ...still,
    `capture had missed ${renderMissed(missed)}. ${SYNCED_NOW} Then run \`rollcall capture resync\` to end this warning`,
  ]
}

export const SYNCED_NOW =
  'rollcall syncs the customers of all missed changes now. Find the cause (docs/capture.md says how).'

export function allMissed(missed: Missed): number {
  return MISSED_HOW.reduce((sum, how) => sum + missed[how], 0)
}

export function renderMissed(missed: Missed): string {
  if (allMissed(missed) === 0) return 'no change'
  const parts = MISSED_HOW.flatMap((how) =>
    missed[how] > 0 ? `${figure(missed[how])} ${how} row${missed[how] === 1 ? '' : 's'}` : [],
  )
  return `${counted(allMissed(missed), 'change')} (${parts.join(', ')})`
}

export const OTHERS_SWEEP =
  'a worker or another command compares all customers now: this command waits until it ends'

/** Keys, to find what wrote without triggers; none is kept of those that an earlier process has found. */
export function renderExamples(examples: readonly string[]): string {
  return examples.length === 0
    ? ''
    : `, for example ${examples.length === 1 ? 'customer' : 'customers'} ${examples.join(', ')}`
}
