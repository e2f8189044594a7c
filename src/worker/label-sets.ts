// Every value that a label of a metric can have. The compiler holds these complete: a new code has no way round them.
import { HELD_KINDS, type HeldKind } from '../brake/brake.ts'
import type { CustomerState, ReasonCode } from '../ledger/record.ts'
import type { SweepKind } from '../ledger/runs.ts'
import type { Method, ReadMeaning, WriteMeaning } from '../sync/classify.ts'
import type { TurnEnd } from '../sync/turn.ts'

/** What became of a claim; a settle by the state that it leaves. */
type EndKind = 'settled' | Exclude<CustomerState, 'idle' | 'failing'> | 'retry' | 'unknown'
type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'none'
/** `new`: no claim has ended for it yet; `released`: it was held, and a person has let it go on. */
type ShownState = CustomerState | 'new' | 'released'

function all<T extends string>(table: Readonly<Record<T, true>>): readonly T[] {
  return Object.keys(table) as T[]
}

export const METHODS = all<Method>({ GET: true, POST: true, PUT: true, PATCH: true })
export const MEANINGS = all<WriteMeaning | ReadMeaning>({
  done: true,
  unclear: true,
  refused: true,
  denied: true,
  absent: true,
  later: true,
  'not-sent': true,
  unknown: true,
  present: true,
  failed: true,
})
export const STATUS_CLASSES = all<StatusClass>({
  '1xx': true,
  '2xx': true,
  '3xx': true,
  '4xx': true,
  '5xx': true,
  none: true,
})
export const END_KINDS = all<EndKind>({
  settled: true,
  rejected: true,
  held: true,
  discarded: true,
  retry: true,
  unknown: true,
})
export const REASONS = all<ReasonCode | 'none'>({
  none: true,
  mapping: true,
  'shared-user-id': true,
  refused: true,
  conflict: true,
  'customer-unreadable': true,
  unwatched: true,
  denied: true,
  later: true,
  failed: true,
  'not-noted': true,
  'not-sent': true,
  unknown: true,
  unclear: true,
  'not-there-yet': true,
  'looked-already': true,
  'created-already': true,
  'out-of-time': true,
  stopping: true,
  'just-written': true,
  held: true,
  paused: true,
  'brake-busy': true,
})
export const STATES = all<ShownState>({
  new: true,
  idle: true,
  rejected: true,
  failing: true,
  held: true,
  released: true,
  discarded: true,
})
export const BRAKE_KINDS: readonly HeldKind[] = HELD_KINDS.filter((kind) => kind !== 'truncated')
export const BREAKER_CAUSES = ['outage', 'credentials'] as const

export const SWEEP_KINDS = all<SweepKind>({
  backfill: true,
  mapping: true,
  gap: true,
  resync: true,
  check: true,
})

export function endKindOf(end: TurnEnd): EndKind {
  if (end.kind !== 'settle') return end.kind
  return end.state === 'idle' ? 'settled' : end.state
}

/** `none`: there was no answer. */
export function statusClassOf(status: number | null): string {
  return status === null ? 'none' : `${Math.floor(status / 100)}xx`
}
