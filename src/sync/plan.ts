import type { CustomerKey } from '../model/customer.ts'
import {
  type DesiredUser,
  entitled,
  OPTIONAL_FIELDS,
  type OptionalField,
  type Status,
} from '../model/user.ts'
import type { CreateBody, UpdateBody } from '../service/client.ts'
import { currentRefusals, withoutConflict } from './conflict.ts'
import { type CustomerDigests, NO_VALUE } from './digest.ts'
import { fieldsToErase } from './erasure.ts'
import { isOutOfScope, type Mapped } from './map.ts'
import { fieldIsRight, type Memory, PHONE, statusIsRight } from './memory.ts'
import { createBody, eraseBody, type Policy, patchBody, putBody } from './write.ts'

/** The content of an update: the body, and what has to be remembered once it is acknowledged. */
type Update = {
  readonly body: UpdateBody
  readonly fields: readonly OptionalField[]
  /** The status is the one that the service shows, not one of ours. */
  readonly keepsStatus: boolean
}

export type Plan =
  | {
      readonly kind: 'none'
      readonly why:
        | 'right'
        | 'no-access-left'
        | 'erased'
        | 'never-ours'
        | 'ignored'
        | 'user-of-another-customer'
        | 'without-access'
    }
  | { readonly kind: 'lookup'; readonly why: 'unknown' | 'unasked' | 'trial' | 'erased' }
  | { readonly kind: 'create'; readonly body: CreateBody; readonly fields: readonly OptionalField[] }
  | ({ readonly kind: 'replace' } & Update)
  | ({ readonly kind: 'patch' } & Update)
  | { readonly kind: 'revoke'; readonly body: UpdateBody }
  | { readonly kind: 'erase'; readonly body: UpdateBody; readonly fields: readonly OptionalField[] }
  | {
      readonly kind: 'reject'
      readonly code: 'mapping' | 'shared-user-id'
      readonly keys: readonly CustomerKey[]
    }

/** One that makes a call. */
export type CallPlan = WritePlan | Extract<Plan, { readonly kind: 'lookup' }>
/** One that sends a body. */
export type WritePlan = Extract<Plan, { readonly body: UpdateBody | CreateBody }>

/** One HTTP call. `userId` is in the path, except for a create. */
export type Call =
  | { readonly method: 'GET' }
  | { readonly method: 'POST'; readonly body: CreateBody }
  | { readonly method: 'PUT' | 'PATCH'; readonly body: UpdateBody }

export function callFor(plan: CallPlan): Call {
  if (plan.kind === 'lookup') return { method: 'GET' }
  if (plan.kind === 'create') return { method: 'POST', body: plan.body }
  return { method: plan.kind === 'replace' ? 'PUT' : 'PATCH', body: plan.body }
}

export type Situation = {
  readonly mapped: Mapped
  readonly memory: Memory
  /** Other customers that claim the same user (sharing.ts): where there are any, nothing is sent. */
  readonly claimants: readonly CustomerKey[]
  readonly policy: Policy
  readonly digests: CustomerDigests
}

/** The fewest calls from what is remembered to what is desired; docs/plan.md shows it as a table. */
export function makePlan(situation: Situation): Plan {
  const { claimants, memory } = situation
  const mapped = withoutConflict(situation.mapped, memory) // plain: as it was
  switch (mapped.kind) {
    case 'rejected':
      return { kind: 'reject', code: 'mapping', keys: [] }
    case 'removed':
    case 'out-of-scope':
      return planNoAccess(situation)
    case 'user':
      if (claimants.length > 0) return { kind: 'reject', code: 'shared-user-id', keys: claimants }
      return planUser(mapped, situation)
    default:
      return mapped satisfies never
  }
}

/**
 * A customer who is gone or out of scope loses access, unless another customer in scope is that user. Before the
 * first call the service may have the user already: a removal asks, or a deleted customer keeps access.
 * A customer who was always out of scope is left alone: others may look after that user.
 */
function planNoAccess(situation: Situation): Plan {
  const { mapped, memory, claimants, policy } = situation
  if (policy.onRemove === 'ignore') return { kind: 'none', why: 'ignored' }
  if (claimants.length > 0) return { kind: 'none', why: 'user-of-another-customer' }
  if (memory.remote === 'unasked' && isOutOfScope(mapped)) return { kind: 'none', why: 'never-ours' }
  if (memory.remote === 'unasked') return { kind: 'lookup', why: 'unasked' }
  if (memory.remote === 'unknown') return { kind: 'lookup', why: 'unknown' }
  if (memory.remote === 'absent') return { kind: 'none', why: 'no-access-left' }
  if (mayHaveAccess(memory)) return { kind: 'revoke', body: { status: 0 } }
  return isToErase(situation) ? planErasure(memory, policy) : { kind: 'none', why: 'no-access-left' }
}

/** Whether the personal fields go too, once access is gone. */
export function isToErase({ mapped, claimants, policy }: Omit<Situation, 'memory' | 'digests'>): boolean {
  return mapped.kind === 'removed' && !mapped.spared && claimants.length === 0 && policy.onRemove === 'erase'
}

/**
 * Only after access is gone, in a call of its own: whatever the service has against it cannot keep access alive.
 * All optional fields, since what another system has stored there is personal too. Then one lookup. A field that it
 * still shows is cleared once more. A field that the service refused to clear is tried again with each claim.
 */
function planErasure(memory: Memory, policy: Policy): Plan {
  if (memory.erased === 'sent' && !memory.lookedUp) return { kind: 'lookup', why: 'erased' }
  const fields = fieldsToErase(memory)
  if (fields.length === 0) return { kind: 'none', why: 'erased' }
  return { kind: 'erase', body: eraseBody(fields, policy), fields }
}

/** `plain`: the values where only a status differs, from 0 to 2 (before the PATCH). `check`: where a GET shows another e-mail. */
function planUser(mapped: Extract<Mapped, { kind: 'user' }>, { memory, policy, digests }: Situation): Plan {
  const { user } = mapped
  if (memory.remote === 'unknown') return { kind: 'lookup', why: 'unknown' }
  // Some services take a create of a user that they know for an update: that may be a loss of access.
  if (memory.remote === 'unasked' && user.status === 0) return { kind: 'lookup', why: 'unasked' }
  // Only once a lookup has shown that there is no user to be revoked.
  if (memory.remote === 'absent' && user.status === 0 && !policy.createWithoutAccess)
    return { kind: 'none', why: 'without-access' }
  const { managed, wrong, complete } = sortFields(mapped, memory, digests)
  if (memory.remote !== 'present') return { kind: 'create', body: createBody(user, managed), fields: managed }

  const changed = withWholePhone(wrong, managed, memory) // plain: none; check: email
  const statusRight = statusIsRight(user.status, memory) // plain: false; check: true
  const replace = complete && needsReplace({ user, memory, policy, managed, changed }) // both: false
  if (statusRight && changed.length === 0 && !replace) return { kind: 'none', why: 'right' } // plain: after the PATCH

  // A trial ends at the service, and how is not shown: sending 4 again might start it anew. So a change of
  // other fields makes a lookup first and carries whatever status the service shows.
  const keepsStatus = user.status === 4 && statusRight // both: false
  if (keepsStatus && !memory.lookedUp) return { kind: 'lookup', why: 'trial' }
  const status: Status = keepsStatus && memory.seenStatus === 0 ? 0 : user.status
  // Both: a patch, which always carries the status.
  return replace
    ? { kind: 'replace', body: putBody({ user, status, policy }), fields: managed, keepsStatus }
    : { kind: 'patch', body: patchBody({ user, status, changed, policy }), fields: changed, keepsStatus }
}

type Replacing = {
  readonly user: DesiredUser
  readonly memory: Memory
  readonly policy: Policy
  readonly managed: readonly OptionalField[]
  readonly changed: readonly OptionalField[]
}

/**
 * A PUT where a PATCH cannot say it (a field cleared by leaving it out, unmanaged fields), or when everything changed.
 * It carries the complete set (section 4.6, rule 1): what the mapping does not set would be lost. The caller
 * rules it out while a field is left out because its value is invalid or was refused.
 */
function needsReplace({ user, memory, policy, managed, changed }: Replacing): boolean {
  if (!policy.fullyManaged && policy.unmanaged !== 'clear') return false
  if (policy.unmanaged === 'clear' && unmanagedOf(user, memory).length > 0) return true
  if (changed.some((field) => user.fields[field] === null && policy.clearWith[field] === 'omit')) return true
  return managed.length > 1 && changed.length === managed.length
}

/** Fields that the mapping does not set and that hold a value at the service, seen there or once sent by us. */
function unmanagedOf(user: DesiredUser, { sent, seen }: Pick<Memory, 'sent' | 'seen'>): OptionalField[] {
  return OPTIONAL_FIELDS.filter(
    (field) => user.fields[field] === undefined && (seen[field] ?? sent[field] ?? NO_VALUE) !== NO_VALUE,
  )
}

/** `wrong`: those whose value is not known to be at the service (plain: none). `complete`: no field is left out (plain: true). */
function sortFields(
  { user, issues }: Extract<Mapped, { kind: 'user' }>,
  memory: Memory,
  digests: CustomerDigests,
) {
  const refused = currentRefusals(user, memory, digests) // plain: none
  const managed = OPTIONAL_FIELDS.filter((field) => user.fields[field] !== undefined && !refused.has(field))
  const wrong = managed.filter((field) => !fieldIsRight(field, user, memory, digests))
  return { managed, wrong, complete: issues.length === 0 && refused.size === 0 }
}

/**
 * The reasons for an update, without the fields that travel along: the status, fields with another
 * value, and fields that the mapping does not set and that are to be cleared. In the order of section 2.6.
 */
export function wrongFields(situation: Omit<Situation, 'claimants'>): readonly ('status' | OptionalField)[] {
  const { mapped, memory, policy, digests } = situation
  const sendable = withoutConflict(mapped, memory)
  if (sendable.kind !== 'user') return []
  const { user } = sendable
  const { wrong, complete } = sortFields(sendable, memory, digests)
  const unmanaged = complete && policy.unmanaged === 'clear' ? unmanagedOf(user, memory) : []
  const fields = OPTIONAL_FIELDS.filter((field) => wrong.includes(field) || unmanaged.includes(field))
  return statusIsRight(user.status, memory) ? fields : ['status', ...fields]
}

/** A half of a phone that only a GET has shown may be joined with the other (section 2.6, rule 3): both are written. */
function withWholePhone(
  changed: readonly OptionalField[],
  managed: readonly OptionalField[],
  { sent }: Memory,
): readonly OptionalField[] {
  if (!changed.some((field) => PHONE.includes(field))) return changed
  const half = (field: OptionalField) => PHONE.includes(field) && sent[field] === undefined
  return managed.filter((field) => changed.includes(field) || half(field))
}

/** Whether the plan may take access away: false if the user is known to have none. */
export function takesAccess(plan: Plan, memory: Memory): boolean {
  if (plan.kind !== 'revoke' && plan.kind !== 'patch' && plan.kind !== 'replace') return false
  return plan.body.status === 0 && mayHaveAccess(memory)
}

/** Whether the customer has access once the plan is carried out; null: the plan writes nothing. */
export function accessAfter(plan: Plan): boolean | null {
  return 'body' in plan ? entitled(plan.body.status) : null
}

/** Whether it sends the status that the service shows, and not one of ours. */
export function isStatusKept(plan: Plan): boolean {
  return 'keepsStatus' in plan && plan.keepsStatus
}

export function fieldsOf(plan: Plan): readonly OptionalField[] {
  return 'fields' in plan ? plan.fields : []
}

/** Whether its status would end a trial, if there is one: a status 0 that is seen later is then no trial that ended by itself. */
export function leavesTrial(plan: Plan): boolean {
  return 'body' in plan && plan.body.status !== 4 && !isStatusKept(plan)
}

/** The status of a GET is later than the acknowledged one: a write drops it. */
function mayHaveAccess({ seenStatus, sentStatus }: Pick<Memory, 'seenStatus' | 'sentStatus'>): boolean {
  return (seenStatus ?? sentStatus) !== 0
}
