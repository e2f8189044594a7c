// What the step that a look leads to writes. Pure.
import { userIdOf } from '../model/mapped.ts'
import type { Snapshot } from '../sync/snapshot.ts'
import { isFound, type Looked, type Open, type Step } from './findings.ts'
import { type Lag, MOST_REPAIRS, postponedMs, secondLookMs } from './looks.ts'
import { type Judged, type Recorded, recordOf, type Sighted } from './record.ts'
import type { Change, Insertion, Resolution } from './rows.ts'
import { type DriftVerdict, isRepairable, type Resolved } from './words.ts'

/** A customer after its look. `subject` as it was read before the look. */
export type Given = {
  readonly subject: Snapshot
  readonly looked: Looked
  /** Of the check; null: it has none. */
  readonly token: string | null
} & Sighted

export type Stored = {
  /** A change came while the GET was under way: what it showed says nothing. */
  readonly moved: boolean
  readonly standing: 'suspected' | 'found' | null
  readonly findingId: string | null
  readonly resolved: Resolved | null
  readonly nextInMs: number | null
  /** Fields besides have been shown by this look alone. */
  readonly more: boolean
  /** A repair would mend it, and was not owed too often. */
  readonly mend: boolean
  /**
   * Of the finding that goes on, what is kept of it: fields that were shown twice, and the cause of the first look, since
   * afterwards the records hold what that showed and tell another one. Null: there is none, or no look.
   */
  readonly told: DriftVerdict | null
}

/** With the step that its look leads to, from what was open for it. */
export type Stepped = Given & { readonly open: Open | null; readonly moved: boolean; readonly step: Step }

type Writing = {
  readonly stored: Stored
  readonly forget?: string
  readonly postpone?: string
  readonly doubt?: string
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
  mend: false,
  told: null,
}

/** For workers; a run asks again a moment later. The service may say something else before long. */
export const DOUBTED_MS = 600_000

export function writesOf(
  { subject, looked, sight, open, moved, step }: Stepped,
  { mendsLater, ...lag }: Lag & { readonly mendsLater: boolean },
): Writing {
  const left: Stored = { ...LEFT, moved, findingId: open?.id ?? null }
  const seen = looked.kind === 'seen' && !moved
  const told = { key: subject.key, userId: userIdOf(subject.mapped), desired: subject.desired }
  switch (step.do) {
    case 'nothing':
      return seen
        ? { stored: left, record: recordOf({ subject, sight, verdict: 'agrees' }) }
        : { stored: left }
    case 'forget': {
      const gone = { stored: { ...left, findingId: null }, forget: open?.id ?? '' }
      return seen ? { ...gone, record: recordOf({ subject, sight, verdict: 'agrees' }) } : gone
    }
    case 'wait': {
      const kept = seen && open !== null && (isFound(open) || open.kind === looked.compared.kind)
      const standing = open ? standingOf(open) : null
      // What it has shown is not stored yet; that there was an answer is, or a round would ask again.
      return {
        stored: { ...left, standing, nextInMs: open?.nextInMs ?? null, told: kept ? toldOf(open) : null },
        ...(seen && { record: recordOf({ subject, sight: null, verdict: kindOf(looked) }) }),
      }
    }
    case 'doubt': {
      const stored = { ...left, standing: 'suspected' as const }
      const record = recordOf({ subject, sight: null, verdict: kindOf(looked) })
      return { stored, doubt: open?.id ?? '', record }
    }
    case 'postpone':
      return {
        stored: { ...left, standing: open ? standingOf(open) : null, nextInMs: postponedMs(lag) },
        postpone: open?.id ?? '',
      }
    case 'suspect': {
      const nextInMs = secondLookMs(lag)
      const record = recordOf({ subject, sight: null, verdict: kindOf(looked) })
      const stored: Stored = { ...left, standing: 'suspected', nextInMs, resolved: step.ends }
      const insert = { ...told, ...step.told, nextInMs }
      if (!open) return { stored, insert, record }
      if (step.ends) return { stored, insert, record, resolve: { id: open.id, how: step.ends } }
      const change = { ...insert, id: open.id, looks: 1, anew: true }
      return { stored, change, record }
    }
    case 'confirm':
    case 'keep': {
      const { looks, id } = open ?? { looks: 1, id: '' }
      const pending = step.told.pending.length > 0
      const mend = mayMend(step.told.kind, open)
      const nextInMs = pending ? secondLookMs(lag) : mend && mendsLater ? postponedMs(lag) : null
      const change = {
        ...told,
        ...step.told,
        id,
        looks: looks + 1,
        anew: false,
        nextInMs,
      }
      const record = recordOf({ subject, sight, verdict: kindOf(looked) })
      const stored: Stored = {
        ...left,
        standing: 'found',
        nextInMs,
        more: pending,
        mend,
        told: toldOf(step.told),
      }
      return { stored, change, record }
    }
    case 'resolve': {
      const resolve = { id: open?.id ?? '', how: step.how }
      const stored = { ...left, resolved: step.how }
      if (!seen) return { stored, resolve }
      return { stored, resolve, record: recordOf({ subject, sight, verdict: 'agrees' }) }
    }
    default:
      return step satisfies never
  }
}

function kindOf(looked: Looked): Judged {
  return looked.kind === 'seen' ? looked.compared.kind : 'agrees'
}

function mayMend(kind: DriftVerdict['kind'], open: Open | null): boolean {
  return isRepairable(kind) && (open?.repairs ?? 0) < MOST_REPAIRS
}

function toldOf({ kind, fields, cause, access }: DriftVerdict): DriftVerdict {
  return { kind, fields, cause, access }
}

function standingOf(open: Open): 'suspected' | 'found' {
  return isFound(open) ? 'found' : 'suspected'
}
