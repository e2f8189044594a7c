// Findings that need a person, because waiting does not help. Each as one text.
import { brakeNeedsPerson, type KindHeld } from '../brake/list.ts'
import type { CaptureMark, Gap } from '../capture/marks.ts'
import type { TableStatus } from '../capture/status.ts'
import { quotedName } from '../customers/problems.ts'
import type { VerificationReport } from '../drift/coverage.ts'
import { DRIFT_KINDS } from '../drift/words.ts'
import { MAPPING_INACTIVE } from '../explain/verdicts.ts'
import type { MappingStatus } from '../ledger/generation.ts'
import type { Overview } from '../ledger/overview.ts'
import { renderDuration } from '../model/duration.ts'
import type { PaceReport } from '../pace/read.ts'
import { driftingOf, wrongAccess } from '../report/conclude.ts'
import { counted, figure, minute } from '../report/figures.ts'
import { MANY_MISSING } from '../report/words.ts'
import type { Swept } from '../sweep/sweep.ts'
import { applying, span } from './render.ts'
import { letsThrough } from './render-held.ts'

/** Workers note changes and take what is due within a second, unless the pace holds them up. */
const WAITS_LONG_MS = 60_000

export function renderCustomers({ customers, states }: Pick<Overview, 'customers' | 'states'>): string {
  const { idle, released, owed, ...stopped } = states
  const counts = { settled: idle, ...stopped, released, 'owed a sync': owed }
  const rest = customers - Object.values(counts).reduce((sum, many) => sum + many, 0)
  const parts = Object.entries({ ...counts, 'never in scope': rest }).flatMap(([state, many]) =>
    many > 0 ? `${figure(many)} ${state}` : [],
  )
  return `${figure(customers)} known${customers > 0 ? `: ${parts.join(', ')}` : ''}`
}

export function overviewNeeds({ states: { rejected, failing }, owed, outbox }: Overview): readonly string[] {
  return applying([
    rejected > 0 &&
      `${counted(rejected, 'customer is', 'customers are')} rejected: see \`rollcall failures\``,
    failing > 0 &&
      `${counted(failing, 'customer fails and is', 'customers fail and are')} retried: see \`rollcall failures\``,
    (outbox.oldestAgeMs ?? 0) > WAITS_LONG_MS &&
      'changes have waited in the outbox for over a minute: start a worker, or read the log of the running worker',
    (owed.waitsForWorkerMs ?? 0) > WAITS_LONG_MS &&
      'a sync has been due for over a minute: check that the queue (QUEUE_URL) answers, and that a worker runs with the active mapping. If both are fine, start more workers or raise pace.ceiling',
  ])
}

export function captureNeeds({
  tables,
  marks,
  gap,
}: {
  tables: readonly TableStatus[]
  marks: readonly CaptureMark[]
  gap: Gap
}): readonly string[] {
  const unfit = tables.filter(({ state }) => state !== 'fits' && state !== 'leftover')
  return applying([
    unfit.length > 0 &&
      `changes of ${unfit.map(({ relation }) => quotedName(relation)).join(', ')} may be missed: \`rollcall capture status\` shows what is wrong with the triggers`,
    ...marks.map(renderMark),
    gap.ids.length > 0 &&
      `capture may have missed changes, so rollcall must compare all customers${gap.ready ? ': check that a worker runs' : '. It waits until older transactions have ended: end those that hang (see pg_stat_activity)'}`,
  ])
}

export function renderMark({ kind, relation, since }: CaptureMark): string {
  return kind === 'truncate'
    ? `${relation} was truncated at ${minute(since)}, and no customer loses access until you decide. If the TRUNCATE was a mistake, restore the rows, then run \`rollcall capture resync --dismiss\`. If the triggers were disabled during the restore, leave out --dismiss. If the TRUNCATE was intended, run \`rollcall capture resync\`: it revokes access that the rows no longer give, up to the brake's limit`
    : `changes of ${relation} since ${minute(since)} were not captured, so a worker must compare all customers: check that a worker runs`
}

export function brakeNeeds(brake: readonly KindHeld[]): readonly string[] {
  return brake.filter(brakeNeedsPerson).map(({ kind, held, taken, trippedAt }) => {
    if (held === 0)
      return `the brake (${kind}) has been tripped since ${minute(trippedAt ?? '')}, but holds no customer: ${letsThrough(kind)}`
    const since =
      trippedAt === null
        ? ''
        : `; it let ${counted(taken, 'customer')} through before it tripped at ${minute(trippedAt)}`
    return `the brake holds ${counted(held, 'customer')} (${kind})${since}: see \`rollcall held\``
  })
}

/** Calls go on by themselves once the service does; with the wrong keys they do not. */
export function paceNeeds(pace: PaceReport | null): readonly string[] {
  if (!pace?.cause) return []
  const since = `since ${minute(pace.openedAt ?? '')}`
  const probes = 'may make only probes (test calls); see `rollcall pace`'
  if (pace.cause === 'outage') return [`the service has failed ${since}: workers ${probes}`]
  const correct = 'correct SERVICE_API_KEY or SERVICE_SECRET_KEY'
  return [`the service has refused the keys ${since}: ${correct}; workers with these keys ${probes}`]
}

export function mappingNeeds(mapping: (MappingStatus & { differ: Swept | null }) | null): readonly string[] {
  if (!mapping || mapping.current) return []
  return [`${MAPPING_INACTIVE}${mapping.differ ? `. ${renderDiffer(mapping.differ)}` : ''}`]
}

function renderDiffer({ tally: { customers, verdicts }, ended }: Swept): string {
  const never = verdicts['never-asked'] > 0 ? `, ${figure(verdicts['never-asked'])} were never synced` : ''
  return ended
    ? `The mapping of this configuration would change ${figure(verdicts.differs)} of ${figure(customers)} customers${never}`
    : `The mapping of this configuration would change at least ${figure(verdicts.differs)} of the first ${figure(customers)} customers`
}

// Whether the service agrees: how far that was checked, and what was found.

export function renderVerified(
  { coverage }: VerificationReport,
  overview: Pick<Overview, 'customers' | 'states'>,
): string | string[] {
  const { periodMs, customers, within, never, oldestAgeMs } = coverage
  if (periodMs === null) return 'workers check no customer: reconcile.period is false'
  if (customers === 0) return `no customer can be checked now (${renderCustomers(overview)})`
  // Never 100 % while a customer is missing.
  const percent = Math.floor((within / customers) * 1000) / 10
  return applying([
    `in the last ${renderDuration(periodMs)}: ${figure(within)} of ${counted(customers, 'checkable customer')} (${percent} %)`,
    oldestAgeMs !== null && `the oldest check was ${span(oldestAgeMs)} ago`,
    never > 0 && `${counted(never, 'was', 'were')} never checked`,
  ])
}

export function renderDelay({ coverage: { proof } }: VerificationReport): string | null {
  return (
    proof &&
    `from a change to the GET that confirms it: median ${span(Math.max(1000, proof.medianMs))}, 95th percentile ${span(Math.max(1000, proof.p95Ms))}`
  )
}

/** Access first: a customer is shut out, or let in at your cost. */
export function renderDrift({ open, notCredible, coverage, ...about }: VerificationReport): string[] {
  const wrong = renderWrongAccess(about)
  const found = DRIFT_KINDS.filter((kind) => kind !== 'trial-ended' && open[kind] > 0)
  const kinds = found.map((kind) => `${figure(open[kind])} × ${kind}`)
  const { customers, oldestAgeMs } = coverage
  const unchecked = customers === 0 ? 'no customer can be checked now' : 'no customer was checked yet'
  const [unknown, none] =
    wrong.length > 0
      ? ['other drift is not known', 'checks found no other drift']
      : ['not known', 'checks found none']
  return applying([
    notCredible && 'further missing users are not counted (see "attention")',
    ...wrong,
    kinds.length > 0
      ? `found by checks: ${kinds.join(', ')}`
      : !notCredible && (oldestAgeMs === null ? `${unknown}: ${unchecked}` : none),
    open['trial-ended'] > 0 &&
      `${counted(open['trial-ended'], 'ended trial')} found by checks (not counted as drift)`,
  ])
}

function renderWrongAccess(of: Pick<VerificationReport, 'access' | 'heldAccess'>): string[] {
  return wrongAccess(of).map(({ many, means }) => `${figure(many)} ${means}`)
}

function renderNotCredible({ missing, asked }: NonNullable<VerificationReport['notCredible']>): string {
  return `${figure(missing)} of ${counted(asked, 'user')} picked at random are missing or unreadable at the service`
}

/** Some are always passed over: something is owed to them, or the service does not answer for them. */
const FEW = 0.05

export function verificationNeeds(verification: VerificationReport): readonly string[] {
  const { coverage, open, notCredible, access, heldAccess } = verification
  const { customers, overdue, periodMs } = coverage
  const drift = driftingOf({ kinds: open })
  // Findings of customers who are not held: those who are held need a decision instead.
  const found = { lost: access.lost - heldAccess.lost, undue: access.undue - heldAccess.undue }
  const wrong = renderWrongAccess({ access: found, heldAccess: { lost: 0, undue: 0 } }).join(', ')
  return applying([
    drift > 0 &&
      `the service differs from the database for ${counted(drift, 'customer')}${wrong && ` (${wrong})`}${heldAccess.lost + heldAccess.undue > 0 ? ', held customers not counted' : ''}: see \`rollcall drift --from-ledger\``,
    notCredible && `${renderNotCredible(notCredible)}. ${MANY_MISSING}`,
    periodMs !== null &&
      overdue > Math.max(3, customers * FEW) &&
      `${figure(overdue)} of ${figure(customers)} customers were not checked within ${renderDuration(periodMs ?? 0)}: start more workers, raise pace.ceiling, or lengthen reconcile.period`,
  ])
}
