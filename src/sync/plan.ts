import type { ClearWith } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Mapped } from '../model/mapped.ts'
import {
  type DesiredUser,
  type Fields,
  OPTIONAL_FIELDS,
  type OptionalField,
  type Status,
} from '../model/user.ts'
import type { CreateBody, UpdateBody } from '../service/client.ts'
import type { CustomerDigests } from './digest.ts'
import type { Memory } from './memory.ts'

export type Policy = {
  readonly unmanaged: 'keep' | 'clear'
  readonly clearWith: Readonly<Record<OptionalField, ClearWith>>
  readonly onRemove: 'revoke' | 'ignore'
  /** Every updatable field is set by the mapping. */
  readonly fullyManaged: boolean
}

/** What an update writes: the body, and what has to be remembered once it is acknowledged. */
type Update = {
  readonly body: UpdateBody
  readonly fields: readonly OptionalField[]
  readonly carried: boolean
}

export type Plan =
  | {
      readonly kind: 'none'
      readonly why: 'right' | 'no-access-left' | 'ignored' | 'user-of-another-customer'
    }
  | { readonly kind: 'lookup'; readonly why: 'unknown' | 'trial' }
  | { readonly kind: 'create'; readonly body: CreateBody; readonly fields: readonly OptionalField[] }
  | ({ readonly kind: 'replace' } & Update)
  | ({ readonly kind: 'patch' } & Update)
  | { readonly kind: 'revoke'; readonly body: UpdateBody }
  | {
      readonly kind: 'reject'
      readonly code: 'mapping' | 'shared-user-id'
      readonly keys: readonly CustomerKey[]
    }

export type Situation = {
  readonly mapped: Mapped
  readonly memory: Memory
  /** Other customers in scope that claim the same `user_id`. */
  readonly rivals: readonly CustomerKey[]
  readonly policy: Policy
  readonly digests: CustomerDigests
}

/** The fewest calls from what is remembered to what is desired; docs/plan.md shows it as a table. */
export function makePlan(situation: Situation): Plan {
  const { mapped, memory, rivals, policy } = situation
  switch (mapped.kind) {
    case 'rejected':
      return { kind: 'reject', code: 'mapping', keys: [] }
    case 'removed':
    case 'out-of-scope':
      return planWithout(memory, rivals, policy)
    case 'user':
      if (rivals.length > 0) return { kind: 'reject', code: 'shared-user-id', keys: rivals }
      return planUser(mapped, situation)
    default:
      return mapped satisfies never
  }
}

/** A customer who is gone or out of scope loses access, unless somebody else in scope is that user. */
function planWithout(memory: Memory, rivals: readonly CustomerKey[], policy: Policy): Plan {
  if (policy.onRemove === 'ignore') return { kind: 'none', why: 'ignored' }
  if (rivals.length > 0) return { kind: 'none', why: 'user-of-another-customer' }
  if (memory.remote === 'unknown') return { kind: 'lookup', why: 'unknown' }
  if (memory.remote === 'absent') return { kind: 'none', why: 'no-access-left' }
  if ((memory.seenStatus ?? memory.sentStatus) === 0) return { kind: 'none', why: 'no-access-left' }
  return { kind: 'revoke', body: { status: 0 } }
}

function planUser(mapped: Extract<Mapped, { kind: 'user' }>, { memory, policy, digests }: Situation): Plan {
  const { user } = mapped
  if (memory.remote === 'unknown') return { kind: 'lookup', why: 'unknown' }
  const refused = standingRefusals(user, memory, digests)
  const managed = OPTIONAL_FIELDS.filter((field) => user.fields[field] !== undefined && !refused.has(field))
  if (memory.remote === 'absent') return planCreate(user, managed)

  const changed = managed.filter((field) => !fieldIsRight(field, user, memory, digests))
  const statusRight = statusIsRight(user.status, memory)
  const complete = mapped.issues.length === 0 && refused.size === 0
  const replace = complete && mayReplace(policy) && needsReplace({ user, memory, policy, managed, changed })
  if (statusRight && changed.length === 0 && !replace) return { kind: 'none', why: 'right' }

  // A trial ends at the service, and how is not shown: sending 4 again might start it anew. So a change of
  // other fields looks first and carries whatever status the service shows.
  const trial = user.status === 4 && memory.sentStatus === 4 && statusRight
  if (trial && !memory.looked) return { kind: 'lookup', why: 'trial' }
  const status = trial ? asStatus(memory.seenStatus, user.status) : user.status
  const fields = replace ? managed : changed
  const strays = replace ? OPTIONAL_FIELDS.filter((field) => user.fields[field] === undefined) : []
  const body = { status, ...updateFields({ user, fields: [...fields, ...strays], policy, whole: replace }) }
  return { kind: replace ? 'replace' : 'patch', body, fields, carried: trial }
}

/** Create leaves nulls out: only `description` is documented as nullable (section 2.6). */
function planCreate(user: DesiredUser, managed: readonly OptionalField[]): Plan {
  const given = managed.filter((field) => user.fields[field] !== null)
  const body: CreateBody = { user_id: user.userId, status: user.status, ...picked(user, given) }
  return { kind: 'create', body, fields: managed }
}

/**
 * PUT carries the complete set (section 4.6, rule 1): what the mapping does not set would be lost, and so
 * would a field that is left out because its value is invalid or was refused.
 */
function mayReplace(policy: Policy): boolean {
  return policy.fullyManaged || policy.unmanaged === 'clear'
}

type Replacing = {
  readonly user: DesiredUser
  readonly memory: Memory
  readonly policy: Policy
  readonly managed: readonly OptionalField[]
  readonly changed: readonly OptionalField[]
}

/** A PUT when a PATCH cannot say it (a field cleared by leaving it out, strays), or when everything changed. */
function needsReplace({ user, memory, policy, managed, changed }: Replacing): boolean {
  if (policy.unmanaged === 'clear' && memory.strays.length > 0) return true
  if (changed.some((field) => user.fields[field] === null && policy.clearWith[field] === 'omit')) return true
  return managed.length > 1 && changed.length === managed.length
}

type Writing = {
  readonly user: DesiredUser
  readonly fields: readonly OptionalField[]
  readonly policy: Policy
  /** The body is that of a PUT, where leaving a field out clears it. */
  readonly whole: boolean
}

function updateFields({ user, fields, policy, whole }: Writing): Fields {
  const given = fields.filter((field) => (user.fields[field] ?? null) !== null)
  const body = picked(user, given)
  for (const field of fields) {
    const how = policy.clearWith[field]
    if (given.includes(field) || (how === 'omit' && whole)) continue
    body[field] = how === 'empty' ? '' : null
  }
  return body
}

function picked(user: DesiredUser, fields: readonly OptionalField[]): Fields {
  return Object.fromEntries(fields.map((field) => [field, user.fields[field] ?? null]))
}

/** Whether carrying out the plan may shut somebody out who is not known to be shut out already. */
export function takesAccess(plan: Plan, memory: Memory): boolean {
  if (plan.kind !== 'revoke' && plan.kind !== 'patch' && plan.kind !== 'replace') return false
  return plan.body.status === 0 && (memory.seenStatus ?? memory.sentStatus) !== 0
}

/** Known, and neither what was acknowledged nor what was seen since speaks against it. */
function fieldIsRight(
  field: OptionalField,
  user: DesiredUser,
  memory: Memory,
  digests: CustomerDigests,
): boolean {
  const value = user.fields[field] ?? null
  const sent = memory.sent[field]
  const seen = memory.seen[field]
  if (sent === undefined && seen === undefined) return false
  if (sent !== undefined && sent !== digests.exact(field, value)) return false
  return seen === undefined || seen === digests.normal(field, value)
}

/** Status 0 seen where 4 was acknowledged is a trial that ended, and stays ended. */
export function statusIsRight(status: Status, memory: Pick<Memory, 'sentStatus' | 'seenStatus'>): boolean {
  const { sentStatus, seenStatus } = memory
  if (seenStatus === null) return sentStatus === status
  return seenStatus === status || (status === 4 && sentStatus === 4 && seenStatus === 0)
}

function asStatus(shown: number | null, otherwise: Status): Status {
  return shown === 0 || shown === 2 || shown === 4 ? shown : otherwise
}

/**
 * Values that the service refused are not sent again until one of them changes; then all are tried again,
 * because which of them it refused is not shown.
 */
export function standingRefusals(
  user: DesiredUser,
  memory: Memory,
  digests: CustomerDigests,
): ReadonlySet<OptionalField> {
  const refused = OPTIONAL_FIELDS.filter((field) => memory.refused[field] !== undefined)
  const stand = refused.every((field) => {
    const value = user.fields[field]
    return value !== undefined && digests.exact(field, value) === memory.refused[field]
  })
  return new Set(stand ? refused : [])
}
