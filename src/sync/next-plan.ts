import type { Writes } from '../ledger/ending.ts'
import type { Reason } from '../ledger/reason.ts'
import { entitled, type OptionalField, USER_FIELDS, type UserField } from '../model/user.ts'
import type { UpdateBody } from '../service/client.ts'
import type { MadeCall, Memory, SetAside } from './memory.ts'
import {
  type CallPlan,
  callFor,
  fieldsOf,
  isStatusKept,
  leavesTrial,
  makePlan,
  type Plan,
  type Situation,
} from './plan.ts'

/** The decision how a claim ends. finish.ts makes of it the `Ending`, which is stored. */
export type ClaimEnd =
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
export type NextPlan = { readonly plan: CallPlan } | { readonly plan: Plan; readonly end: ClaimEnd }

/** The memory after an answer; `end` when nothing more is to be tried in this claim. */
export type Absorbed = { readonly memory: Memory; readonly end?: ClaimEnd }

type Learnt = Pick<MadeCall, 'meaning' | 'trusted'>

export function withCall(memory: Memory, plan: CallPlan, learnt: Learnt): Memory {
  const { method } = callFor(plan)
  const made = { ...learnt, method, fields: acknowledgedBy(plan), leavesTrial: leavesTrial(plan) }
  return { ...memory, made: [...memory.made, made] }
}

export type CallsResult = ReturnType<typeof resultOfCalls>

/** The result of the calls that a claim has made. `plain`: the values after one PATCH of the status that was answered with 200. */
export function resultOfCalls({ made }: Pick<Memory, 'made'>) {
  const writing = made.filter(({ method }) => method !== 'GET')
  const unclear = writing.filter(({ meaning }) => meaning === 'unclear')
  const done = writing.filter(({ meaning }) => meaning === 'done')
  const lost = writing.filter(({ meaning }) => meaning === 'unknown')
  const wasSent = writing.some(({ meaning }) => meaning !== 'not-sent')
  const unanswered: Writes = lost.length > 0 ? 'lost' : wasSent ? 'refused' : 'none'
  return {
    lookups: made.length - writing.length, // plain: 0
    creates: writing.filter(({ method }) => method === 'POST').length, // plain: 0
    writes: done.length + unclear.length > 0 ? ('accepted' as const) : unanswered, // plain: accepted
    /** A call got a trusted answer. */
    anyTrusted: made.some(({ trusted }) => trusted), // plain: true
    /** After a lookup, an answer that is neither yes nor no was taken for a yes. */
    takenForYes: unclear.some(({ trusted }) => trusted), // plain: false
    /** A call may have ended a trial: a status 0 that is seen later does not show that it ended by itself. Plain: true, and without effect. */
    mayEndTrial: [...done, ...unclear, ...lost].some((call) => call.leavesTrial),
    /** The fields that a clear yes was about: with the `user_id` the user as a whole. */
    acknowledged: done.flatMap(({ fields }) => fields), // plain: status
  }
}

/** A create and a PUT are about the user as a whole. */
function acknowledgedBy(plan: Plan): readonly UserField[] {
  if (plan.kind === 'create' || plan.kind === 'replace') return USER_FIELDS
  return isStatusKept(plan) ? fieldsOf(plan) : ['status', ...fieldsOf(plan)]
}

export type ClaimSituation = Omit<Situation, 'memory'> & {
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
export function withAccessFirst(plan: Plan, { seenStatus, sentStatus }: Memory): Plan {
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

type Retry = Extract<ClaimEnd, { readonly kind: 'retry' }>

/** Tried again as a failed attempt after the back-off, unless `otherwise` says more. */
export function retry(reason: Reason, otherwise: Partial<Pick<Retry, 'failed' | 'waitMs'>> = {}): Retry {
  return { kind: 'retry', reason, failed: true, ...otherwise }
}

/**
 * The next plan of a claim. At most one create and one lookup: a service whose writes show up late could
 * otherwise be asked in circles; whatever would need a second one waits for `due_at`.
 */
export function nextPlan(memory: Memory, situation: ClaimSituation): NextPlan {
  const { writes, lookups, creates } = resultOfCalls(memory)
  const full = makePlan({ ...situation, memory })
  const plan = situation.accessFirst ? withAccessFirst(full, memory) : full
  switch (plan.kind) {
    case 'none':
      return { plan, end: { kind: 'settle', state: 'idle', reason: null } } // plain: after the PATCH
    case 'reject':
      return { plan, end: { kind: 'settle', state: 'rejected', reason: rejection(plan, situation) } }
    case 'lookup':
      // Never in the claim that has written: a GET may go on showing what was there before.
      if (writes === 'accepted') return { plan, end: justWritten(situation.consistencyDelayMs) }
      if (lookups > 0) return { plan, end: retry({ code: 'needs-lookup' }) }
      return situation.lookupAfterMs > 0 ? { plan, end: justWritten(situation.lookupAfterMs) } : { plan }
    case 'create':
      return creates > 0 ? { plan, end: retry({ code: 'created-already' }) } : { plan }
    case 'replace':
    case 'patch':
      if (!memory.setAside) return { plan } // plain: the PATCH
      // With whatever status the refused update carried: for a trial that is the one that the service shows.
      return { plan: { kind: 'patch', ...restOf(plan, memory.setAside), keepsStatus: plan.keepsStatus } }
    case 'revoke':
      return { plan }
    case 'erase':
      return { plan: memory.setAside ? { kind: 'erase', ...restOf(plan, memory.setAside) } : plan }
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
