// Findings that need a person, because waiting does not help. Each as one text.
import { brakeNeedsPerson, type KindHeld } from '../brake/list.ts'
import type { CaptureMark, Gap } from '../capture/marks.ts'
import type { TableStatus } from '../capture/status.ts'
import { quotedName } from '../customers/problems.ts'
import type { VerificationReport } from '../drift/coverage.ts'
import { DRIFT_KINDS } from '../drift/words.ts'
import type { MappingStatus } from '../ledger/generation.ts'
import type { Overview } from '../ledger/overview.ts'
import { renderDuration } from '../model/duration.ts'
import type { PaceReport } from '../pace/read.ts'
import { driftingOf, wrongAccess } from '../report/conclude.ts'
import { counted } from '../report/figures.ts'
import type { Swept } from '../sweep/sweep.ts'
import { applying, span } from './render.ts'
import { letsThrough } from './render-held.ts'

/** Workers note changes and take what is due within a second, unless the pace holds them up. */
const WAITS_LONG_MS = 60_000

export function overviewNeeds({ states: { rejected, failing }, owed, outbox }: Overview): readonly string[] {
  return applying([
    rejected > 0 &&
      `${counted(rejected, 'customer is', 'customers are')} rejected: see \`rollcall failures\``,
    failing > 0 &&
      `${counted(failing, 'customer fails and is', 'customers fail and are')} tried again: see \`rollcall failures\``,
    (outbox.oldestAgeMs ?? 0) > WAITS_LONG_MS &&
      'changes are captured and not noted: no worker runs, or it hangs; its log tells',
    (owed.waitsForWorkerMs ?? 0) > WAITS_LONG_MS &&
      'a customer is due for more than a minute: no worker syncs by the active mapping, the queue takes no jobs, or it is far behind',
  ])
}

/** For a table with many partitions `rollcall capture status` names each. */
const NAMED_UNFIT = 3

type Capture = {
  readonly tables: readonly TableStatus[]
  readonly marks: readonly CaptureMark[]
  readonly gap: Gap
}

export function captureNeeds({ tables, marks, gap }: Capture): readonly string[] {
  const unfit = tables.filter(({ state }) => state !== 'fits')
  const named = unfit.map(({ relation, reasons }) => `${quotedName(relation)} (${reasons.join('; ')})`)
  const which = applying([
    ...named.slice(0, NAMED_UNFIT),
    named.length > NAMED_UNFIT && `${named.length - NAMED_UNFIT} more`,
  ])
  const misnamed = unfit.some(({ state }) => state === 'misnamed')
  const first = misnamed ? 'correct the configuration or the table, then ' : ''
  return applying([
    unfit.length > 0 &&
      `not captured as configured: ${which.join(', ')}: ${first}run \`rollcall capture install\``,
    ...marks.map(renderMark),
    gap.ids.length > 0 &&
      `all customers are to be checked for a gap of capture: ${gap.ready ? 'a running worker does it' : 'end the transactions that were open then'}`,
  ])
}

export function renderMark({ kind, relation, since }: CaptureMark): string {
  return kind === 'truncate'
    ? `${relation} was truncated at ${since}, and no customer was revoked for it. A mistake: put the rows back, then \`rollcall capture resync --dismiss\`. Meant: \`rollcall capture resync\` revokes the customers without a row`
    : `changes of ${relation} since ${since} were not captured; a running worker checks all customers again`
}

export function brakeNeeds(brake: readonly KindHeld[]): readonly string[] {
  return brake.filter(brakeNeedsPerson).map(({ kind, held, taken, trippedAt }) => {
    if (held === 0)
      return `the brake (${kind}) has been tripped since ${trippedAt}, no customer is held: ${letsThrough(kind)}`
    const since = trippedAt === null ? '' : `; it let ${taken} through before it tripped at ${trippedAt}`
    return `the brake holds ${counted(held, 'customer')} (${kind})${since}: see \`rollcall held\``
  })
}

/** Calls go on by themselves once the service does; with the wrong keys they do not. */
export function paceNeeds(pace: PaceReport | null): readonly string[] {
  if (!pace?.cause) return []
  const [why, who] =
    pace.cause === 'credentials'
      ? ['the service refuses keys', 'workers that have them make']
      : ['the service is out of order', 'workers make']
  return [
    `${why} since ${pace.openedAt}: ${who} a probe now and then, and no other call; see \`rollcall pace\``,
  ]
}

/** With what it would change, as far as that was compared. */
export type MappingCompared = MappingStatus & { readonly differ: Swept | null }

export function mappingNeeds(mapping: MappingCompared | null): readonly string[] {
  if (!mapping || mapping.current) return []
  const which = mapping.earlier ? 'was replaced by a later one' : 'is not applied'
  const differ = mapping.differ ? ` (${renderDiffer(mapping.differ)})` : ''
  return [
    `the mapping of this configuration ${which}: nothing is sent by it${differ}; to apply it, run \`rollcall backfill --mapping\``,
  ]
}

function renderDiffer({ tally: { customers, verdicts }, ended }: Swept): string {
  return ended
    ? `${verdicts.differs} of ${customers} customers differ`
    : `at least ${verdicts.differs} differ, of the first ${customers} customers`
}

// Whether the service agrees: how far that was checked, and what was found.

export function renderVerified({ coverage }: VerificationReport): string {
  const { periodMs, customers, within, never, oldestAgeMs, proof } = coverage
  if (periodMs === null) return 'not by workers: reconcile.period is false'
  if (customers === 0) return 'no customer is at the service yet'
  // Never 100 % while a customer is missing.
  const percent = Math.floor((within / customers) * 1000) / 10
  return [
    `${percent} % of ${customers} customers within ${renderDuration(periodMs)}`,
    oldestAgeMs === null ? '' : `, the oldest check ${span(oldestAgeMs)} ago`,
    never > 0 ? `, ${never} never yet` : '',
    proof
      ? `; from commit to verified: ${span(proof.medianMs)} (median), ${span(proof.p95Ms)} (95 %), of the last ${proof.customers}`
      : '',
  ].join('')
}

/** Access first: a customer is shut out, or let in at your cost. */
export function renderDrift({ open, notCredible, ...about }: VerificationReport): string {
  const wrong = renderWrongAccess(about)
  const kinds = DRIFT_KINDS.filter((kind) => open[kind] > 0).map((kind) => `${open[kind]} ${kind}`)
  return applying([
    wrong !== '' && wrong,
    kinds.length > 0 ? kinds.join(', ') : `none ${wrong === '' ? '' : 'else '}found`,
    notCredible && `${renderNotCredible(notCredible)}, which is not credible`,
  ]).join('; ')
}

function renderWrongAccess(of: Pick<VerificationReport, 'access' | 'heldAccess'>): string {
  return wrongAccess(of)
    .map(({ many, means }) => `${many} ${means}`)
    .join(', ')
}

function renderNotCredible({ denied, asked }: NonNullable<VerificationReport['notCredible']>): string {
  return `of the ${counted(asked, 'user')} asked at random, ${denied} are not there by what the service says, or cannot be read`
}

/** Some are always passed over: something is owed to them, or the service does not answer for them. */
const FEW = 0.05

export function verificationNeeds(verification: VerificationReport): readonly string[] {
  const { coverage, open, notCredible, access, heldAccess } = verification
  const { customers, overdue, periodMs } = coverage
  const drift = driftingOf({ kinds: open })
  // Findings of customers who are not held: those who are held need a decision instead.
  const found = { lost: access.lost - heldAccess.lost, undue: access.undue - heldAccess.undue }
  const wrong = renderWrongAccess({ access: found, heldAccess: { lost: 0, undue: 0 } })
  return applying([
    drift > 0 &&
      `the service differs from the database for ${counted(drift, 'customer')}${wrong && `, ${wrong}`}: see \`rollcall drift --from-ledger\``,
    notCredible &&
      `${renderNotCredible(notCredible)}: that is reported of no single customer, and none of them is repaired; is it still the right service, and not an emptied one? If it is meant, \`rollcall drift --credible --why …\` says so`,
    periodMs !== null &&
      overdue > Math.max(3, customers * FEW) &&
      `${overdue} of ${customers} customers were not verified within ${renderDuration(periodMs ?? 0)}: workers are too few or stopped, or the pace is too slow for reconcile.period`,
  ])
}
