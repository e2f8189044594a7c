// The kinds of change that the brake counts in a plan. Also the part of a plan that may go while only cleared fields,
// or the erasing after a revocation, are held.
import type { Brake, BrakeKind, HeldKind } from '../brake/brake.ts'
import type { KnownRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import {
  entitled,
  type FieldValue,
  OPTIONAL_FIELDS,
  type OptionalField,
  UNVERIFIABLE_FIELD,
} from '../model/user.ts'
import { type CustomerDigests, NO_VALUE, UNKNOWN_VALUE } from './digest.ts'
import { fieldIsRight, type Memory, PHONE } from './memory.ts'
import { fieldsOf, isStatusKept, type Plan, takesAccess } from './plan.ts'

type Update = Extract<Plan, { readonly kind: 'patch' | 'replace' }>

/** Facts that the memory does not hold. */
export type Before = {
  /** The user was there, as far as the ledger knows. */
  readonly existed: boolean
  /** After its revocation the customer's personal fields are erased. */
  readonly erases: boolean
  readonly hadAccess: boolean
}

/** Access was acknowledged last, and no earlier claim has settled on a lookup that showed none. */
export function hadAccess({ state, seenStatus, sentStatus }: KnownRecord): boolean {
  return sentStatus !== null && entitled(sentStatus) && !(state === 'idle' && seenStatus === 0)
}

/**
 * Every kind of change that carrying out the plan is, by what is known of the user. An unknown (an unknown status, a
 * field that no GET has shown) is no change that could be counted.
 */
export function kindsOf(plan: Plan, memory: Memory, before: Before): readonly BrakeKind[] {
  switch (plan.kind) {
    case 'create':
      return before.existed ? ['create', 'absence', ...lossIn(plan, before)] : ['create']
    case 'patch':
    case 'replace':
      return [
        ...statusKinds(plan, memory, before),
        ...clearedBy(plan, memory).map((field) => `clear:${field}` as const),
      ]
    case 'revoke':
      // A person is shown both at once.
      return [...statusKinds(plan, memory, before), ...(before.erases ? (['erase'] as const) : [])]
    case 'erase':
      return ['erase']
    case 'none':
    case 'lookup':
    case 'reject':
      return []
    default:
      return plan satisfies never
  }
}

/** Were the 404 wrong, the service might take the create for an update. */
function lossIn({ body }: Extract<Plan, { kind: 'create' }>, { hadAccess }: Before): readonly BrakeKind[] {
  return hadAccess && !entitled(body.status) ? ['revocation'] : []
}

function statusKinds(
  plan: Extract<Plan, { kind: 'patch' | 'replace' | 'revoke' }>,
  memory: Memory,
  before: Before,
): BrakeKind[] {
  if (takesAccess(plan, memory)) return ['revocation']
  // A customer that a GET has shown without access is not revoked.
  if (plan.kind !== 'revoke' && writesBackLoss(plan, memory, before)) return ['revocation']
  const known = memory.seenStatus ?? memory.sentStatus
  return known === null || isStatusKept(plan) || known === plan.body.status ? [] : ['status']
}

/**
 * Access was acknowledged, a lookup has just shown none, and the update says so too: were the lookup wrong, the update would
 * take it. One such trial has ended, a hundred at once are a service that shows what is not so.
 */
function writesBackLoss({ body }: Update, { seenStatus }: Memory, before: Before): boolean {
  return body.status === 0 && seenStatus === 0 && before.hadAccess
}

/** Fields that hold a value as far as is known, and that the update takes away, also by leaving them out of a PUT. */
function clearedBy({ kind, body }: Update, { seen, sent }: Memory): OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => {
    const value = body[field]
    if (!isEmpty(value) && !(kind === 'replace' && value === undefined)) return false
    const known = seen[field] ?? sent[field] ?? NO_VALUE
    // A field that no GET shows and that a call may have changed did hold a value once.
    return known !== NO_VALUE && (known !== UNKNOWN_VALUE || field === UNVERIFIABLE_FIELD)
  })
}

function isEmpty(value: FieldValue | undefined): boolean {
  return value === null || value === ''
}

type Known = { readonly memory: Memory; readonly digests: CustomerDigests }

/**
 * The rest of an update of which only fields are held, as a PATCH: access matters more. They are cleared ones, or those of a
 * discarded repair. A revocation
 * goes as a whole if only the erasing after it is held. Null when nothing is left to do, or when anything else is
 * held. Fields that a PUT clears by leaving them out wait as well, since a PATCH cannot clear them so. A phone waits as a whole,
 * because half of it is another number.
 */
export function withoutHeld(plan: Plan, kinds: readonly HeldKind[], { memory, digests }: Known): Plan | null {
  if (plan.kind === 'revoke') return kinds.every((kind) => kind === 'erase') ? plan : null
  if (plan.kind !== 'patch' && plan.kind !== 'replace') return null
  const held = OPTIONAL_FIELDS.filter((field) => kinds.includes(`clear:${field}`))
  if (held.length === 0 || kinds.some((kind) => !kind.startsWith('clear:'))) return null
  const phoneHeld = PHONE.some((half) => held.includes(half))
  const free = plan.fields.filter(
    (field) =>
      plan.body[field] !== undefined && !held.includes(field) && !(phoneHeld && PHONE.includes(field)),
  )
  const fields = plan.kind === 'patch' ? free : stillWrong(plan, free, { memory, digests })
  const known = memory.seenStatus ?? memory.sentStatus
  if (fields.length === 0 && (plan.keepsStatus || known === plan.body.status)) return null
  const values = Object.fromEntries(fields.map((field) => [field, plan.body[field]]))
  return {
    kind: 'patch',
    body: { status: plan.body.status, ...values },
    fields,
    keepsStatus: plan.keepsStatus,
  }
}

/** A PUT carries what is right already; sent again with every look up a customer who is held, it would never end. */
function stillWrong(
  plan: Update,
  free: readonly OptionalField[],
  { memory, digests }: Known,
): OptionalField[] {
  const user = { userId: '', status: plan.body.status, fields: plan.body }
  const isRight = (field: OptionalField) =>
    fieldIsRight(field, isEmpty(plan.body[field]) ? { ...user, fields: {} } : user, memory, digests)
  const wrong = free.filter((field) => !isRight(field))
  const phone = wrong.some((field) => PHONE.includes(field))
  return free.filter((field) => wrong.includes(field) || (phone && PHONE.includes(field)))
}

type Asking = Known & {
  readonly brake: Brake
  readonly key: CustomerKey
  readonly desiredDigest: string
  readonly before: Before
  /** Held whatever the brake says. */
  readonly left: readonly HeldKind[]
}

type Braked = {
  readonly plan: Plan | null
  /** For which kinds the rest waits; none: nothing does. */
  readonly held: readonly HeldKind[]
}

/** The brake is asked again about the rest of a plan: none of it was counted while a part was held. */
export async function askBrake(
  plan: Plan,
  { brake, key, desiredDigest, before, left, ...known }: Asking,
): Promise<Braked> {
  // A field that is left says nothing of a call without fields, or of a user that is missing.
  const isOfFields = plan.kind !== 'create' && plan.kind !== 'revoke' && fieldsOf(plan).length > 0
  const held = new Set<HeldKind>(isOfFields ? left : left.filter((kind) => kind === 'repair'))
  const status = known.memory.seenStatus ?? known.memory.sentStatus
  const hasAccess = status !== null && entitled(status)
  let rest = held.size > 0 ? withoutHeld(plan, [...held], known) : plan
  for (; rest; rest = withoutHeld(rest, [...held], known)) {
    const kinds = kindsOf(rest, known.memory, before).filter((kind) => !held.has(kind))
    const answer = await brake({ key, desiredDigest, kinds, hasAccess })
    if (answer.length === 0) return { plan: rest, held: [...held] }
    for (const kind of answer) held.add(kind)
  }
  return { plan: null, held: [...held] }
}
