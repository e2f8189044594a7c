// What the step that a look leads to writes. Pure.
import { userIdOf } from '../model/mapped.ts'
import type { Subject } from './compare.ts'
import { isFound, type Looked, type Open, type Step } from './findings.ts'
import { type Lag, MOST_REPAIRS, nextLookMs, postponedMs, secondLookMs } from './looks.ts'
import { type Recorded, recordOf, type Sighted } from './record.ts'
import type { Change, Insertion, Resolution } from './rows.ts'
import { AGREED, DRIFTED } from './share.ts'
import { type DriftVerdict, isRepairable, type Resolved } from './words.ts'

/** A customer after its look. `subject` as it was read before the look. */
export type Given = { readonly subject: Subject; readonly looked: Looked } & Sighted

export type Stored = {
  /** A change came while the GET was under way: what it showed says nothing. */
  readonly moved: boolean
  readonly standing: 'suspected' | 'found' | null
  readonly findingId: string | null
  readonly resolved: Resolved | null
  readonly nextInMs: number | null
  /** Fields besides have been shown by this look alone. */
  readonly more: boolean
  readonly repairing: boolean
  /**
   * Of the finding that goes on, what is kept of it: fields that were shown twice, and the cause of the first look, since
   * afterwards the records hold what that showed and tell another one. Null: there is none, or no look.
   */
  readonly told: DriftVerdict | null
}

/** With the step that its look leads to, from what was open for it. */
export type Stepped = Given & { readonly open: Open | null; readonly moved: boolean; readonly step: Step }

/** Who looks, and whether that is a further look of workers rather than somebody's turn in their round. */
type Looker = { readonly by: string | null; readonly again: boolean }

/**
 * What somebody else's run has suspected is only found when a worker looks once more: it does not count, since that run
 * has looked at many more who agree and are not counted either, and so it is not repaired before its turn in a round.
 */
function ofAnother({ open, step }: Stepped, { by, again }: Looker): boolean {
  return again && step.do === 'confirm' && open !== null && open.ofRun !== null && open.ofRun !== by
}

/**
 * A look counts as agreeing, or as a difference that was shown twice. That counts again at each turn in a round, since what
 * stands for long is no less of a mass; and not at looks in between, which nobody has who agrees.
 */
export function letterOf(stepped: Stepped, looker: Looker): string {
  const { step, looked, moved } = stepped
  if (looked.kind !== 'seen' || moved || ofAnother(stepped, looker)) return ''
  if (step.do === 'keep' && looker.again) return ''
  if (step.do === 'confirm' || step.do === 'keep') return step.told.kind === 'trial-ended' ? AGREED : DRIFTED
  const normal = step.do === 'resolve' && step.how === 'normalised'
  return looked.compared.kind === 'agrees' || normal ? AGREED : ''
}

export function mayRepair(stepped: Stepped, looker: Looker): boolean {
  const { open, step } = stepped
  if (ofAnother(stepped, looker)) return false
  if (open === null || (step.do !== 'confirm' && step.do !== 'keep')) return false
  return isRepairable(step.told.kind) && open.repairs < MOST_REPAIRS
}

/**
 * Of what stands and was never repaired a look between two turns counts nothing, so it repairs nothing either, unless a
 * person has released it: else a mass that the share has held back would be repaired once others have agreed for a while.
 */
export function waitsForTurn({ open, step }: Stepped, { again }: Pick<Looker, 'again'>): boolean {
  return again && step.do === 'keep' && open?.repairs === 0
}

type Deciding = Stepped & { readonly repair: boolean; readonly waits: boolean }

type Writing = {
  readonly stored: Stored
  readonly forget?: string
  readonly postpone?: string
  readonly resolve?: Resolution
  readonly change?: Change
  readonly insert?: Insertion
  readonly record?: Recorded
}

export const LEFT: Stored = {
  moved: false,
  standing: null,
  findingId: null,
  resolved: null,
  nextInMs: null,
  more: false,
  repairing: false,
  told: null,
}

export function writesOf(
  { subject, looked, sight, open, moved, step, repair, waits }: Deciding,
  { by, ...lag }: Lag & Pick<Looker, 'by'>,
): Writing {
  const left: Stored = { ...LEFT, moved, findingId: open?.id ?? null }
  const seen = looked.kind === 'seen' && !moved
  const told = { key: subject.key, userId: userIdOf(subject.mapped), desired: subject.desired }
  switch (step.do) {
    case 'nothing':
      return seen ? { stored: left, record: recordOf({ subject, sight, agrees: true }) } : { stored: left }
    case 'forget': {
      const stored = { ...left, findingId: null }
      const others = open !== null && open.countedIn !== null && open.countedIn !== by
      const gone = others ? { postpone: open.id } : { forget: open?.id ?? '' }
      return seen
        ? { stored, ...gone, record: recordOf({ subject, sight, agrees: true }) }
        : { stored, ...gone }
    }
    case 'wait': {
      const kept = seen && open !== null && (isFound(open) || open.kind === looked.compared.kind)
      const standing = open ? standingOf(open) : null
      // What it has shown is not stored yet; that there was an answer is, or a round would ask again.
      return {
        stored: { ...left, standing, nextInMs: open?.nextInMs ?? null, told: kept ? toldOf(open) : null },
        ...(seen && { record: recordOf({ subject, sight: null, agrees: false }) }),
      }
    }
    case 'postpone':
      return {
        stored: { ...left, standing: open ? standingOf(open) : null, nextInMs: postponedMs(lag) },
        postpone: open?.id ?? '',
      }
    case 'suspect': {
      const nextInMs = secondLookMs(lag)
      const record = recordOf({ subject, sight: null, agrees: false })
      const stored: Stored = { ...left, standing: 'suspected', nextInMs, resolved: step.ends }
      const insert = { ...told, ...step.told, nextInMs }
      if (!open) return { stored, insert, record }
      if (step.ends) return { stored, insert, record, resolve: { id: open.id, how: step.ends } }
      const change = { ...insert, id: open.id, looks: 1, anew: true, repaired: false }
      return { stored, change, record }
    }
    case 'confirm':
    case 'keep': {
      const { repairs, looks, id } = open ?? { repairs: 0, looks: 1, id: '' }
      const pending = step.told.pending.length > 0
      const nextInMs = nextLookMs({ repaired: repair, repairs, waits, pending }, lag)
      const change = { ...told, ...step.told, id, looks: looks + 1, anew: false, repaired: repair, nextInMs }
      const record = recordOf({ subject, sight, agrees: false, learnt: step.learnt })
      const stored: Stored = {
        ...left,
        standing: 'found',
        nextInMs,
        more: pending,
        repairing: repair,
        told: toldOf(step.told),
      }
      return { stored, change, record }
    }
    case 'resolve': {
      const resolve = { id: open?.id ?? '', how: step.how }
      const stored = { ...left, resolved: step.how }
      if (!seen) return { stored, resolve }
      return { stored, resolve, record: recordOf({ subject, sight, agrees: true, learnt: step.learnt }) }
    }
    default:
      return step satisfies never
  }
}

function toldOf({ kind, fields, cause, access }: DriftVerdict): DriftVerdict {
  return { kind, fields, cause, access }
}

function standingOf(open: Open): 'suspected' | 'found' {
  return isFound(open) ? 'found' : 'suspected'
}
