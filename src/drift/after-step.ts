// Turns the step of a check into the finding that its caller is told of, and into the rows that are written. Pure.
import { userIdOf } from '../model/mapped.ts'
import type { Snapshot } from '../sync/snapshot.ts'
import {
  type FindingStep,
  isFound,
  type Lag,
  MOST_REPAIRS,
  postponedMs,
  type Told,
  verdictIn,
} from './findings.ts'
import type { FindingRow, OpenFinding } from './found.ts'
import { type Checked, type DriftVerdict, REPAIRABLE_KINDS, type Resolved } from './words.ts'

export type FindingAfter = Pick<
  Checked,
  'findingState' | 'findingId' | 'resolved' | 'lookAgainInMs' | 'more'
> & {
  /** A repair would help, and was not owed too often. */
  readonly repairable: boolean
  /**
   * The drift that two checks have shown, with the cause of the first one: afterwards the records hold what that showed,
   * and tell another cause. Null: this check's own verdict holds.
   */
  readonly told: DriftVerdict | null
}

export const NO_FINDING: FindingAfter = {
  findingState: null,
  findingId: null,
  resolved: null,
  lookAgainInMs: null,
  more: false,
  repairable: false,
  told: null,
}

export type StepOptions = Lag & {
  /** Workers repair what is found, and have to check for it. */
  readonly mendsLater: boolean
}

export function findingAfter(
  step: FindingStep,
  open: OpenFinding | null,
  options: StepOptions,
): FindingAfter {
  const same = { ...NO_FINDING, findingId: open?.id ?? null }
  switch (step.do) {
    case 'nothing':
      return same
    case 'forget':
      return NO_FINDING
    case 'wait': {
      const findingState = open && (isFound(open) ? 'found' : 'suspected')
      return { ...same, findingState, lookAgainInMs: open?.nextInMs ?? null, told: step.kept }
    }
    case 'postpone':
      return { ...same, lookAgainInMs: postponedMs(options) }
    case 'doubt':
      return { ...same, findingState: 'suspected' }
    case 'suspect': {
      const lookAgainInMs = options.consistencyDelayMs
      return { ...same, findingState: 'suspected', lookAgainInMs, resolved: step.ends }
    }
    case 'confirm':
    case 'keep':
      return { ...same, ...confirmed(open, step.told, options) }
    case 'resolve':
      return { ...same, resolved: step.how }
    default:
      return step satisfies never
  }
}

function confirmed(open: OpenFinding | null, told: Told, options: StepOptions) {
  const more = told.pending.length > 0
  const repairs = open && open.fields.join() === told.fields.join() ? open.repairs : 0
  const repairable = REPAIRABLE_KINDS.some((kind) => kind === told.kind) && repairs < MOST_REPAIRS
  const later = repairable && options.mendsLater ? postponedMs(options) : null
  const lookAgainInMs = more ? options.consistencyDelayMs : later
  return { findingState: 'found', lookAgainInMs, more, repairable, told: verdictIn(told) } as const
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
  const nextInMs = after.lookAgainInMs
  const shown = { id: open?.id ?? null, key, userId, desired, nextInMs, seen: true, anew: false, how: null }
  /** As the finding was: this check has not shown it. */
  const asItWas = (nextInMs: number | null, how: Resolved | null = null): readonly FindingRow[] =>
    open ? [{ ...open, key, userId, nextInMs, seen: false, anew: false, how }] : []
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
      const row = { ...shown, ...step.told, looks: 1, anew: true }
      return step.ends === null ? [row] : [...asItWas(null, step.ends), { ...row, id: null }]
    }
    case 'confirm':
    case 'keep':
      return [{ ...shown, ...step.told, looks: (open?.looks ?? 1) + 1 }]
    case 'resolve':
      return asItWas(null, step.how)
    default:
      return step satisfies never
  }
}
