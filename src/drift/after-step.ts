// Turns the step of a check into the finding that its caller reports, and into the rows that are written. Pure.
import { userIdOf } from '../sync/map.ts'
import type { Snapshot } from '../sync/snapshot.ts'
import type { FindingRow, OpenFinding } from './open-findings.ts'
import { type FindingStep, isFound, type KeptDrift, type Lag, MOST_REPAIRS, postponedMs } from './step.ts'
import { type Checked, type DriftVerdict, REPAIRABLE_KINDS, type Resolved } from './words.ts'

export type FindingAfter = Omit<Checked, 'key' | 'verdict' | 'shown' | 'repairing'> & {
  /**
   * The drift as it is stored, with the cause that the first check found: a later sync may change the record, and with
   * it the cause. Null: this check's own verdict holds.
   */
  readonly kept: DriftVerdict | null
}

export const NO_FINDING: FindingAfter = {
  findingState: null,
  findingId: null,
  resolved: null,
  nextInMs: null,
  more: false,
  repairable: false,
  kept: null,
}

export type StepOptions = Lag & {
  /** Workers repair what is found, and have to check for it. */
  readonly repairsLater: boolean
}

type Checking = {
  readonly snapshot: Pick<Snapshot, 'key' | 'work' | 'mapped' | 'desiredDigest'>
  readonly open: OpenFinding | null
}

/** For workers; a run asks again a moment later. The service may say something else before long. */
const NOT_CREDIBLE_MS = 600_000

/** `rows`: those of findings that are to be changed or made. */
type AfterStep = { readonly after: FindingAfter; readonly rows: readonly FindingRow[] }

export function afterStep(step: FindingStep, { snapshot, open }: Checking, options: StepOptions): AfterStep {
  const { key, work, mapped, desiredDigest } = snapshot
  const same = { ...NO_FINDING, findingId: open?.id ?? null }
  const userId = userIdOf(mapped)
  const base = { id: same.findingId, key, userId, desiredDigest, seen: true, anew: false, how: null }
  /** As the finding was: this check has not shown it. */
  const asItWas = (nextInMs: number | null, how: Resolved | null = null): readonly FindingRow[] =>
    open ? [{ ...open, key, userId, nextInMs, seen: false, anew: false, how }] : []
  switch (step.do) {
    case 'nothing':
      return { after: same, rows: [] }
    case 'forget':
      return { after: NO_FINDING, rows: [] }
    case 'wait': {
      const findingState = open && (isFound(open) ? 'found' : 'suspected')
      const nextInMs = open?.nextInMs ?? null
      return { after: { ...same, findingState, nextInMs, kept: step.kept }, rows: [] }
    }
    case 'postpone': {
      const nextInMs = postponedMs(options)
      return { after: { ...same, nextInMs }, rows: asItWas(nextInMs) }
    }
    case 'not-credible':
      return { after: { ...same, findingState: 'suspected' }, rows: asItWas(NOT_CREDIBLE_MS) }
    case 'suspect': {
      // the first check of the example: `checks` is 1
      const { drift, ends: resolved } = step
      const nextInMs = options.consistencyDelayMs
      const row = { ...base, ...drift, nextInMs, checks: 1, anew: true }
      const rows = resolved === null ? [row] : [...asItWas(null, resolved), { ...row, id: null }]
      return { after: { ...same, findingState: 'suspected', nextInMs, resolved }, rows }
    }
    case 'confirm': // its second check: `checks` is 2
    case 'keep': {
      const found = confirmed(open, step.drift, { ...options, known: work.known })
      const row = { ...base, ...step.drift, nextInMs: found.nextInMs, checks: (open?.checks ?? 1) + 1 }
      return { after: { ...same, ...found }, rows: [row] }
    }
    case 'resolve':
      return { after: { ...same, resolved: step.how }, rows: asItWas(null, step.how) }
    default:
      return step satisfies never
  }
}

function confirmed(
  open: OpenFinding | null,
  { pending, ...drift }: KeptDrift,
  options: StepOptions & { known: boolean },
) {
  const more = pending.length > 0
  const repairs = open && open.fields.join() === drift.fields.join() ? open.repairs : 0
  const repairable =
    options.known && REPAIRABLE_KINDS.some((kind) => kind === drift.kind) && repairs < MOST_REPAIRS
  const later = repairable && options.repairsLater ? postponedMs(options) : null
  const nextInMs = more ? options.consistencyDelayMs : later
  return { findingState: 'found', nextInMs, more, repairable, kept: drift } as const
}
