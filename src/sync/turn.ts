import type { Writes } from '../ledger/ending.ts'
import type { Reason } from '../ledger/reason.ts'
import { entitled, type OptionalField, USER_FIELDS, type UserField } from '../model/user.ts'
import type { UpdateBody } from '../service/client.ts'
import type { ReadMeaning, WriteMeaning } from './classify.ts'
import type { Memory } from './memory.ts'
import {
  type CallPlan,
  fieldsOf,
  isStatusKept,
  leavesTrial,
  makePlan,
  type Plan,
  type Situation,
} from './plan.ts'

/** How a claim should end; finish.ts adds the times, and ending.ts stores it. */
export type TurnEnd =
  | {
      readonly kind: 'settle'
      readonly state: 'idle' | 'rejected' | 'held' | 'discarded'
      readonly reason: Reason | null
    }
  | {
      readonly kind: 'retry'
      readonly reason: Reason
      /** False: the claim is given up, which says nothing about the customer. Its state stays what it was. */
      readonly failed: boolean
      readonly waitMs?: number
    }
  | { readonly kind: 'unknown'; readonly reason: Reason }

/** The plan to carry out next, or the end that a plan gives the claim. */
export type NextPlan = { readonly plan: CallPlan } | { readonly plan: Plan; readonly end: TurnEnd }

export type SetAside = {
  readonly fields: readonly OptionalField[]
  /** The refused fields whose values another user has. */
  readonly conflicting: readonly OptionalField[]
  readonly alone: boolean
  /** Whether conflict answers name the right fields. False: the call without a named field was refused too. Null: none was named. */
  readonly credible: boolean | null
}

export type MadeCall = {
  readonly plan: Plan
  readonly meaning: WriteMeaning | ReadMeaning
  /** The effect of this request is known, or taken as known. A GET is trusted only if it shows the user, or that there is none. */
  readonly trusted: boolean
}

/** Everything that a claim has learnt so far. */
export type Turn = {
  readonly memory: Memory
  /** In their order. */
  readonly made: readonly MadeCall[]
  /** A create was refused: with which status, and which optional fields it carried. */
  readonly refusedCreate: {
    readonly status: number
    readonly fields: readonly OptionalField[]
    /** The fields that the answer blames. */
    readonly named: readonly OptionalField[]
    /** Another user has something of it, be it the `user_id`. */
    readonly conflict: boolean
  } | null
  /** An update with fields was refused: these are set aside, and the rest goes, or the status alone. */
  readonly setAside: SetAside | null
  /** For the receipt: fields whose clearing was answered with a yes, or taken for one, and what a lookup after an earlier one shows. */
  readonly erasure: {
    readonly cleared: readonly OptionalField[] | null
    readonly left: readonly OptionalField[] | null
  }
}

/** The claim's turn after an answer; `end` when nothing more is to be tried in this claim. */
export type TurnStep = { readonly turn: Turn; readonly end?: TurnEnd }

export function startTurn(memory: Memory): Turn {
  return { memory, made: [], refusedCreate: null, setAside: null, erasure: { cleared: null, left: null } }
}

/** The result of the calls that a claim has made. */
export function resultOfCalls({ made }: Pick<Turn, 'made'>) {
  const writing = made.filter(({ plan }) => plan.kind !== 'lookup')
  const unclear = writing.filter(({ meaning }) => meaning === 'unclear')
  const done = writing.filter(({ meaning }) => meaning === 'done')
  const lost = writing.filter(({ meaning }) => meaning === 'unknown')
  const wasSent = writing.some(({ meaning }) => meaning !== 'not-sent')
  const unanswered: Writes = lost.length > 0 ? 'lost' : wasSent ? 'refused' : 'none'
  return {
    lookups: made.length - writing.length,
    creates: writing.filter(({ plan }) => plan.kind === 'create').length,
    writes: done.length + unclear.length > 0 ? ('accepted' as const) : unanswered,
    /** A call got a trusted answer. */
    sure: made.some(({ trusted }) => trusted),
    /** After a lookup, an answer that is neither yes nor no was taken for a yes. */
    takenForYes: unclear.some(({ trusted }) => trusted),
    /** A call may have ended a trial: a status 0 that is seen later does not show that it ended by itself. */
    mayEndTrial: [...done, ...unclear, ...lost].some(({ plan }) => leavesTrial(plan)),
    /** The fields that a clear yes was about: with the `user_id` the user as a whole. */
    acknowledged: done.flatMap(({ plan }) => acknowledgedBy(plan)),
  }
}

/** A create and a PUT are about the user as a whole. */
function acknowledgedBy(plan: Plan): readonly UserField[] {
  if (plan.kind === 'create' || plan.kind === 'replace') return USER_FIELDS
  return isStatusKept(plan) ? fieldsOf(plan) : ['status', ...fieldsOf(plan)]
}

export type TurnSituation = Omit<Situation, 'memory'> & {
  /** How long a GET, or a "not there", cannot be credible yet, because it may show what was there before our last write. */
  readonly lookupAfterMs: number
  /** The same after a write of this very claim. */
  readonly consistencyDelayMs: number
  /** Set after several failed attempts: access goes alone, and the fields follow in a call of their own. */
  readonly accessFirst?: boolean
}

/** Access goes alone from the third failure on, but not after a refusal: the service may insist on a field. */
export function isAccessFirst(attempts: number, last: Reason | null): boolean {
  return attempts >= 3 && last?.code !== 'refused' && last?.code !== 'conflict'
}

/** A field may make each call fail, or an answer may come too late for a second call: access would stay wrong for ever. */
function withAccessFirst(plan: Plan, { memory: { seenStatus, sentStatus } }: Turn): Plan {
  if (plan.kind === 'create' && entitled(plan.body.status)) {
    const { user_id, status } = plan.body
    // Fields without a value are as they should be after it.
    const empty = plan.fields.filter((field) => plan.body[field] === undefined)
    return { kind: 'create', body: { user_id, status }, fields: empty }
  }
  const isUpdate = plan.kind === 'patch' || plan.kind === 'replace'
  if (!isUpdate || plan.keepsStatus || plan.body.status === (seenStatus ?? sentStatus)) return plan
  return { kind: 'patch', body: { status: plan.body.status }, fields: [], keepsStatus: false }
}

/** Code of the reason with which a claim ends that came too early for a lookup. */
export const JUST_WRITTEN = 'just-written'
const justWritten = (waitMs: number) => retry({ code: JUST_WRITTEN }, { failed: false, waitMs })

type Retry = Extract<TurnEnd, { readonly kind: 'retry' }>

/** Tried again as a failed attempt after the back-off, unless `otherwise` says more. */
export function retry(reason: Reason, otherwise: Partial<Pick<Retry, 'failed' | 'waitMs'>> = {}): Retry {
  return { kind: 'retry', reason, failed: true, ...otherwise }
}

/**
 * The next plan of a claim. At most one create and one lookup: a service whose writes show up late could
 * otherwise be asked in circles; whatever would need a second one waits for `due_at`.
 */
export function nextPlan(turn: Turn, situation: TurnSituation): NextPlan {
  const { writes, lookups, creates } = resultOfCalls(turn)
  const full = makePlan({ ...situation, memory: turn.memory })
  const plan = situation.accessFirst ? withAccessFirst(full, turn) : full
  switch (plan.kind) {
    case 'none':
      return { plan, end: { kind: 'settle', state: 'idle', reason: null } }
    case 'reject':
      return { plan, end: { kind: 'settle', state: 'rejected', reason: rejection(plan, situation) } }
    case 'lookup':
      // Never in the claim that has written: a GET may go on showing what was there before.
      if (writes === 'accepted') return { plan, end: justWritten(situation.consistencyDelayMs) }
      if (lookups > 0) return { plan, end: retry({ code: 'needs-lookup' }) }
      return situation.lookupAfterMs > 0 ? { plan, end: justWritten(situation.lookupAfterMs) } : { plan }
    case 'create':
      if (creates > 0) return { plan, end: retry({ code: 'created-already' }) }
      return { plan }
    case 'replace':
    case 'patch':
      if (!turn.setAside) return { plan }
      // With whatever status the refused update carried: for a trial that is the one that the service shows.
      return { plan: { kind: 'patch', ...restOf(plan, turn.setAside), keepsStatus: plan.keepsStatus } }
    case 'revoke':
      return { plan }
    case 'erase':
      return { plan: turn.setAside ? { kind: 'erase', ...restOf(plan, turn.setAside) } : plan }
    default:
      return plan satisfies never
  }
}

type Fielded = { readonly body: UpdateBody; readonly fields: readonly OptionalField[] }

function restOf({ body, fields }: Fielded, { fields: aside, alone }: SetAside): Fielded {
  const kept = fields.filter((field) => !alone && !aside.includes(field) && body[field] !== undefined)
  const rest = Object.fromEntries(kept.map((field) => [field, body[field]]))
  return { body: { status: body.status, ...rest }, fields: kept }
}

function rejection(plan: Plan & { kind: 'reject' }, { mapped }: Pick<Situation, 'mapped'>): Reason {
  const fields = mapped.kind === 'rejected' ? mapped.issues.map((issue) => issue.field) : []
  return { code: plan.code, fields, keys: plan.keys }
}
