// Turns the step of a check into the finding that its caller is told of, and into the rows that are written. Pure.
import { userIdOf } from '../model/mapped.ts'
import type { Snapshot } from '../sync/snapshot.ts'
import type { FindingRow, OpenFinding } from './found.ts'
import { type FindingStep, isFound, type KeptDrift, type Lag, MOST_REPAIRS, postponedMs } from './step.ts'
import { type Checked, type DriftVerdict, REPAIRABLE_KINDS, type Resolved } from './words.ts'

export type FindingAfter = Omit<Checked, 'key' | 'verdict' | 'shown' | 'repairing'> & {
  /**
   * The drift as it is stored, with the cause that the first check told: afterwards the records hold what that showed,
   * and tell another cause. Null: this check's own verdict holds.
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

export function afterStep(step: FindingStep, open: OpenFinding | null, options: StepOptions): FindingAfter {
  const same = { ...NO_FINDING, findingId: open?.id ?? null }
  switch (step.do) {
    case 'nothing':
      return same
    case 'forget':
      return NO_FINDING
    case 'wait': {
      const findingState = open && (isFound(open) ? 'found' : 'suspected')
      return { ...same, findingState, nextInMs: open?.nextInMs ?? null, kept: step.kept }
    }
    case 'postpone':
      return { ...same, nextInMs: postponedMs(options) }
    case 'doubt':
      return { ...same, findingState: 'suspected' }
    case 'suspect': {
      const nextInMs = options.consistencyDelayMs
      return { ...same, findingState: 'suspected', nextInMs, resolved: step.ends }
    }
    case 'confirm':
    case 'keep':
      return { ...same, ...confirmed(open, step.drift, options) }
    case 'resolve':
      return { ...same, resolved: step.how }
    default:
      return step satisfies never
  }
}

function confirmed(open: OpenFinding | null, { pending, ...drift }: KeptDrift, options: StepOptions) {
  const more = pending.length > 0
  const repairs = open && open.fields.join() === drift.fields.join() ? open.repairs : 0
  const repairable = REPAIRABLE_KINDS.some((kind) => kind === drift.kind) && repairs < MOST_REPAIRS
  const later = repairable && options.repairsLater ? postponedMs(options) : null
  const nextInMs = more ? options.consistencyDelayMs : later
  return { findingState: 'found', nextInMs, more, repairable, kept: drift } as const
}

/** For workers; a run asks again a moment later. The service may say something else before long. */
const DOUBTED_MS = 600_000

type Decided = {
  readonly subject: Pick<Snapshot, 'key' | 'mapped' | 'desired'>
  readonly open: OpenFinding | null
  readonly step: FindingStep
  readonly after: FindingAfter
}

/** The rows of findings that are to be changed or made. */
export function rowsOf({ subject, open, step, after }: Decided): readonly FindingRow[] {
  const { key, mapped, desired } = subject
  const userId = userIdOf(mapped)
  const { nextInMs } = after
  const shown = { id: open?.id ?? null, key, userId, desired, nextInMs, seen: true, anew: false, how: null }
  /** As the finding was: this check has not shown it. */
  const asItWas = (next: number | null, how: Resolved | null = null): readonly FindingRow[] =>
    open ? [{ ...open, key, userId, nextInMs: next, seen: false, anew: false, how }] : []
  switch (step.do) {
    case 'nothing':
    case 'forget':
    case 'wait':
      return []
    case 'postpone':
      return asItWas(nextInMs)
    case 'doubt':
      return asItWas(DOUBTED_MS)
    case 'suspect': {
      const row = { ...shown, ...step.drift, looks: 1, anew: true }
      return step.ends === null ? [row] : [...asItWas(null, step.ends), { ...row, id: null }]
    }
    case 'confirm':
    case 'keep':
      return [{ ...shown, ...step.drift, looks: (open?.looks ?? 1) + 1 }]
    case 'resolve':
      return asItWas(null, step.how)
    default:
      return step satisfies never
  }
}
