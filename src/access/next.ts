// Whether what the service has is what the customer should have. Pure: plan, memory and
// comparison are those of every sync, so that nothing is called a difference here that a sync would leave alone.
import type { LedgerRecord } from '../ledger/record.ts'
import { sameField } from '../model/normal.ts'
import { OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { type Memory, rememberFor, startMemory } from '../sync/memory.ts'
import { makePlan, type Plan, type Situation } from '../sync/plan.ts'
import { rememberAbsent, rememberSeen } from '../sync/remember.ts'
import type { Known } from './knowledge.ts'

/** What a sync would find to do, having seen what the GET showed. `unsaid`: nothing was seen. */
export type Next =
  | { readonly kind: 'right' | 'unsaid' }
  | {
      readonly kind: 'left-alone'
      readonly why: 'never-ours' | 'ignored' | 'user-of-another-customer' | 'without-access'
    }
  | {
      readonly kind: 'differs'
      readonly act: 'create' | 'update' | 'revoke' | 'erase'
      /** The status that the service should have, when it has another. */
      readonly status: number | null
      readonly fields: readonly OptionalField[]
    }
  | {
      readonly kind: 'blocked'
      readonly why: 'mapping' | 'shared-user-id'
      readonly keys: readonly string[]
    }

/** What a GET showed: the user, or that there is none; undefined when it was not answered. */
export type Seen = RemoteUser | 'absent' | undefined

export type Asked = Omit<Situation, 'memory'> & {
  readonly known: Pick<Known, 'record' | 'owed'>
  readonly seen: Seen
  readonly digestKey: string
}

/** What a sync would do by what is remembered, and, where a GET was answered, by what it has shown. */
export type Plans = { readonly now: Plan; readonly looked: Plan | null; readonly memory: Memory }

export function plansFor({ known: { record, owed }, seen, digestKey, ...situation }: Asked): Plans {
  const { mapped, digests } = situation
  const start = startMemory({ record, ...doubtsOf(owed), digestKey })
  const memory = rememberFor(start, { mapped, record, digests })
  const now = makePlan({ ...situation, memory })
  if (seen === undefined) return { now, looked: null, memory }
  return { now, looked: makePlan({ ...situation, memory: learnt(memory, seen, situation) }), memory }
}

export function nextStep(asked: Asked): Next {
  const { seen, known } = asked
  const { now, looked } = plansFor(asked)
  const before = decided(now)
  if (before) return before
  if (seen === undefined || looked === null) return { kind: 'unsaid' }
  return compared(looked, seen, { ...asked, heldBack: heldBackBy(known.record) })
}

/** The status that was last agreed on for this user, as a sync that starts now would believe it. */
export function agreedStatus({ record, owed }: Pick<Known, 'record' | 'owed'>, userId: string | null) {
  if (record.userId !== userId) return null
  return startMemory({ record, ...doubtsOf(owed), digestKey: '' }).sentStatus
}

function doubtsOf(owed: Known['owed']) {
  return {
    unknown: owed?.unknown ?? false,
    blind: owed?.blind ?? false,
    statusDoubted: owed?.statusDoubted ?? false,
    replanInMs: owed?.replanInMs ?? null,
  }
}

/** What holds whatever a GET shows. */
function decided(plan: Plan): Next | null {
  if (plan.kind === 'reject') return { kind: 'blocked', why: plan.code, keys: plan.keys }
  if (plan.kind !== 'none') return null
  if (plan.why === 'right' || plan.why === 'no-access-left' || plan.why === 'erased') return null
  return { kind: 'left-alone', why: plan.why }
}

function learnt(memory: Memory, seen: RemoteUser | 'absent', { mapped, digests }: Omit<Situation, 'memory'>) {
  if (seen === 'absent') return rememberAbsent(memory)
  return rememberSeen(memory, seen, mapped.kind === 'user' ? mapped.user : null, digests)
}

/** Names of the fields that the service has refused, or that another user has. */
export function heldBackBy({ refused, conflict }: Pick<LedgerRecord, 'refused' | 'conflict'>): string[] {
  return [...Object.keys(refused), ...Object.keys(conflict?.values ?? {})]
}

type Comparing = Pick<Situation, 'mapped'> & { readonly heldBack: readonly string[] }

function compared(plan: Plan, seen: RemoteUser | 'absent', { mapped, heldBack }: Comparing): Next {
  switch (plan.kind) {
    case 'none':
    case 'reject':
      return decided(plan) ?? { kind: 'right' }
    case 'lookup':
      return { kind: 'unsaid' }
    case 'create':
      return { kind: 'differs', act: 'create', status: plan.body.status, fields: [] }
    case 'revoke':
      return { kind: 'differs', act: 'revoke', status: 0, fields: [] }
    case 'erase':
      return { kind: 'differs', act: 'erase', status: null, fields: plan.fields }
    case 'replace':
    case 'patch': {
      if (mapped.kind !== 'user' || seen === 'absent') return { kind: 'unsaid' }
      const desired = mapped.user.fields
      // A value that was refused stands as it is; whether it does can only be told with the digest key.
      const fields = OPTIONAL_FIELDS.filter(
        (field) =>
          field !== UNVERIFIABLE_FIELD &&
          desired[field] !== undefined &&
          !heldBack.includes(field) &&
          !sameField(field, desired, seen.fields),
      )
      const status = plan.body.status === seen.status ? null : plan.body.status
      if (status === null && fields.length === 0) return { kind: 'right' }
      return { kind: 'differs', act: 'update', status, fields }
    }
    default:
      return plan satisfies never
  }
}
