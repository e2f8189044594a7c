import type { Reason } from '../ledger/record.ts'
import { entitled, type OptionalField, type UserField } from '../model/user.ts'
import type { CreateBody, UpdateBody } from '../service/client.ts'
import type { Memory } from './memory.ts'
import { makePlan, type Plan, type Situation } from './plan.ts'

/** One HTTP call that a turn asks for. `userId` is in the path, except for a create. */
export type Call =
  | { readonly method: 'GET' }
  | { readonly method: 'POST'; readonly body: CreateBody }
  | { readonly method: 'PUT' | 'PATCH'; readonly body: UpdateBody }

/** How a claim should end; the shell adds times and stores it. */
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

export type Move = { readonly plan: Plan } & ({ readonly call: Call } | { readonly end: TurnEnd })

export type SetAside = {
  readonly fields: readonly OptionalField[]
  /** The refused fields whose values another user has. */
  readonly taken: readonly OptionalField[]
  readonly alone: boolean
  /** Whether to go by the names in the answers: not where one is refused without them. Null: a conflict named none. */
  readonly believed: boolean | null
}

/** Everything that a claim has learnt so far. */
export type Turn = {
  readonly memory: Memory
  readonly creates: number
  readonly lookups: number
  /** A writing request may have been sent. */
  readonly wrote: boolean
  /** A writing request may have been carried out. */
  readonly landed: boolean
  /** One that takes a customer out of a trial may have been. */
  readonly lowered: boolean
  readonly sure: boolean
  readonly acknowledged: boolean
  /** After a look, an update was answered neither yes nor no. The next such answer counts as a yes, and a look follows. */
  readonly unclear: boolean
  /** The fields that a clear yes of this claim was about: with the `user_id` the user as a whole. */
  readonly confirmed: readonly UserField[]
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
  /** For the receipt: fields whose clearing was acknowledged, and what a look after an earlier one shows. */
  readonly erasure: {
    readonly cleared: readonly OptionalField[] | null
    readonly left: readonly OptionalField[] | null
  }
}

export function startTurn(memory: Memory): Turn {
  return {
    memory,
    creates: 0,
    lookups: 0,
    wrote: false,
    landed: false,
    lowered: false,
    sure: false,
    acknowledged: false,
    unclear: false,
    confirmed: [],
    refusedCreate: null,
    setAside: null,
    erasure: { cleared: null, left: null },
  }
}

export type TurnSituation = Omit<Situation, 'memory'> & {
  /** How long a GET, or a "not there", cannot be believed yet, because it may show what was there before our last write. */
  readonly lookAfterMs: number
  /** The same after a write of this very claim. */
  readonly consistencyDelayMs: number
  /** Set after several failed attempts: access goes alone, and the fields follow in a call of their own. */
  readonly accessFirst?: boolean
}

/**
 * Whether it is time for that: from the third failure on, unless the last attempt was refused. A service may insist on a
 * field: then the whole is tried again.
 */
export function isAccessFirst(attempts: number, last: Reason | null): boolean {
  return attempts >= 3 && last?.code !== 'refused' && last?.code !== 'conflict'
}

/**
 * Otherwise a field that makes the service fail each time, or an answer too late for a second call, would keep access
 * wrong for ever.
 */
function withAccessFirst(plan: Plan, { memory: { seenStatus, sentStatus } }: Turn): Plan {
  if (plan.kind === 'create' && entitled(plan.body.status)) {
    const { user_id, status } = plan.body
    // Fields without a value are as they should be after it.
    const empty = plan.fields.filter((field) => plan.body[field] === undefined)
    return { kind: 'create', body: { user_id, status }, fields: empty }
  }
  const isUpdate = plan.kind === 'patch' || plan.kind === 'replace'
  if (!isUpdate || plan.carried || plan.body.status === (seenStatus ?? sentStatus)) return plan
  return { kind: 'patch', body: { status: plan.body.status }, fields: [], carried: false }
}

/** Code of the reason with which a claim ends that came too early for a look. */
export const JUST_WRITTEN = 'just-written'

export function givenUp(code: Reason['code'], waitMs: number): TurnEnd {
  return { kind: 'retry', reason: { code }, failed: false, waitMs }
}

/**
 * The next step of a claim. At most one create and one lookup: a service whose writes show up late could
 * otherwise be asked in circles; whatever would need a second one waits for `due_at`.
 */
export function nextMove(turn: Turn, situation: TurnSituation): Move {
  const whole = makePlan({ ...situation, memory: turn.memory })
  const plan = situation.accessFirst ? withAccessFirst(whole, turn) : whole
  switch (plan.kind) {
    case 'none':
      return { plan, end: { kind: 'settle', state: 'idle', reason: null } }
    case 'reject':
      return { plan, end: { kind: 'settle', state: 'rejected', reason: rejection(plan, situation) } }
    case 'lookup':
      // Never in the claim that has written: a GET may go on showing what was there before.
      if (turn.acknowledged) return { plan, end: givenUp(JUST_WRITTEN, situation.consistencyDelayMs) }
      if (turn.lookups > 0)
        return { plan, end: { kind: 'retry', reason: { code: 'looked-already' }, failed: true } }
      return situation.lookAfterMs > 0
        ? { plan, end: givenUp(JUST_WRITTEN, situation.lookAfterMs) }
        : { plan, call: { method: 'GET' } }
    case 'create':
      if (turn.creates > 0)
        return { plan, end: { kind: 'retry', reason: { code: 'created-already' }, failed: true } }
      return { plan, call: { method: 'POST', body: plan.body } }
    case 'replace':
    case 'patch': {
      if (turn.setAside) {
        // With whatever status the refused update carried: for a trial that is the one that the service shows.
        const rest = { kind: 'patch', ...keptOf(plan, turn.setAside), carried: plan.carried } as const
        return { plan: rest, call: { method: 'PATCH', body: rest.body } }
      }
      return { plan, call: { method: plan.kind === 'patch' ? 'PATCH' : 'PUT', body: plan.body } }
    }
    case 'revoke':
      return { plan, call: { method: 'PATCH', body: plan.body } }
    case 'erase': {
      const { body, fields } = turn.setAside ? keptOf(plan, turn.setAside) : plan
      return { plan: { kind: 'erase', body, fields }, call: { method: 'PATCH', body } }
    }
    default:
      return plan satisfies never
  }
}

type Fielded = { readonly body: UpdateBody; readonly fields: readonly OptionalField[] }

function keptOf({ body, fields }: Fielded, { fields: aside, alone }: SetAside): Fielded {
  const kept = fields.filter((field) => !alone && !aside.includes(field) && body[field] !== undefined)
  const rest = Object.fromEntries(kept.map((field) => [field, body[field]]))
  return { body: { status: body.status, ...rest }, fields: kept }
}

function rejection(plan: Plan & { kind: 'reject' }, { mapped }: Pick<Situation, 'mapped'>): Reason {
  const fields = mapped.kind === 'rejected' ? mapped.issues.map((issue) => issue.field) : []
  return { code: plan.code, fields, keys: plan.keys }
}
