import type { OptionalField } from '../model/user.ts'
import type { Called, CalledGet, Facts } from './call.ts'
import type { WriteMeaning } from './classify.ts'
import { conflictOnceCreated, userWithoutConflict } from './conflict.ts'
import { fieldsShown, rememberErased } from './erasure.ts'
import { type Memory, PHONE } from './memory.ts'
import { type Absorbed, type ClaimSituation, resultOfCalls, retry, withCall } from './next-plan.ts'
import { type CallPlan, fieldsOf, isStatusKept, type WritePlan } from './plan.ts'
import {
  absorbRefusal,
  absorbUnclear,
  afterRefusedCreate,
  blamed,
  reasonOf,
  rememberRefused,
} from './refusal.ts'
import { rememberAbsent, rememberSeen, rememberUnknown, withoutForms } from './remember.ts'

type Answered = { readonly plan: CallPlan; readonly called: Called }

/** Changes the memory by an answer, and perhaps ends the claim. */
export function absorb(memory: Memory, { plan, called }: Answered, situation: ClaimSituation): Absorbed {
  const desired = userWithoutConflict(situation.mapped, memory) // plain: the mapped user
  const facts = { ...situation, ...factsOf(called), plan, desired }
  if (called.method === 'GET') return absorbRead(memory, called, facts)
  return absorbWrite(memory, called.meaning, facts)
}

function factsOf({ outcome, named, conflict }: Called) {
  if (outcome.kind === 'error') return { status: null, error: outcome.error, named, conflict }
  const { status, retryAfterMs: waitMs } = outcome
  return { status, ...(waitMs === undefined ? {} : { wait: { waitMs } }), named, conflict }
}

/** A GET that failed changes nothing that is remembered. */
function absorbRead(
  before: Memory,
  { meaning, observed }: Pick<CalledGet, 'meaning' | 'observed'>,
  facts: Facts,
): Absorbed {
  const trusted = meaning === 'present' || meaning === 'absent'
  const memory = withCall(before, facts.plan, { meaning, trusted })
  const { refusedCreate } = before
  switch (meaning) {
    case 'present': {
      if (!observed) throw new Error('a GET that means present must come with the user')
      const known = { ...memory, creating: before.creating || refusedCreate !== null }
      const seen = rememberSeen(known, observed, facts.desired, facts.digests)
      return { memory: { ...seen, erasure: erasureSeen(before, fieldsShown(seen)) } }
    }
    case 'absent': {
      const known = { ...rememberAbsent(memory), erasure: erasureSeen(before, []) }
      return refusedCreate ? afterRefusedCreate(known, refusedCreate, facts) : { memory: known }
    }
    case 'later':
    case 'denied':
    case 'failed':
      return { memory, end: retry(reasonOf(meaning, facts), facts.wait) }
    default:
      return meaning satisfies never
  }
}

function erasureSeen({ erased, erasure }: Memory, left: readonly OptionalField[]): Memory['erasure'] {
  return erased === 'sent' ? { ...erasure, left } : erasure
}

export function absorbWrite(before: Memory, meaning: WriteMeaning, facts: Facts): Absorbed {
  const { plan } = facts
  // With this call in the memory: its effect is known, or it is not.
  const afterKnown = withCall(before, plan, { meaning, trusted: true })
  const afterUnknown = withCall(before, plan, { meaning, trusted: false })
  switch (meaning) {
    case 'done': // plain
      return { memory: acknowledged(afterKnown, facts) }
    case 'unclear':
      return absorbUnclear(before, { counted: acknowledged(afterKnown, facts, true), afterUnknown }, facts)
    case 'absent': {
      const { lookups, writes } = resultOfCalls(before)
      // Just written, or just shown by a GET, a user may only seem to be gone: a revocation would be settled, and access stay.
      if (facts.lookupAfterMs > 0 || lookups > 0 || writes === 'accepted')
        return {
          memory: { ...afterUnknown, remote: 'unknown', setAside: null },
          end: retry(reasonOf('not-there-yet', facts), facts.wait),
        }
      return { memory: { ...rememberAbsent(afterKnown), setAside: null } }
    }
    case 'refused':
      return absorbRefusal(afterKnown, facts)
    case 'later':
      return { memory: afterKnown, end: retry(reasonOf(meaning, facts), facts.wait) }
    case 'denied': {
      const create = plan.kind === 'create'
      // Not the key or the customer: the answer names some of the fields. A create waits for `accessFirst`, since what it
      // carries would count as refused before one without it was taken.
      if (!create && facts.status === 403 && blamed(facts.named, fieldsOf(plan)).length > 0)
        return absorbRefusal(afterKnown, facts)
      // A 403 may be about this customer, who then may exist; a 401 was not processed.
      const remote = create && facts.status === 403 ? 'unknown' : before.remote
      return { memory: { ...afterKnown, remote }, end: retry(reasonOf(meaning, facts), facts.wait) }
    }
    case 'not-sent':
      return { memory: afterUnknown, end: retry(reasonOf(meaning, facts), facts.wait) }
    case 'unknown':
      return {
        memory: rememberUnknown(afterUnknown, plan),
        end: { kind: 'unknown', reason: reasonOf(meaning, facts) },
      }
    default:
      return meaning satisfies never
  }
}

function acknowledged(memory: Memory, { plan, desired, digests }: Facts, unclear = false): Memory {
  if (!('body' in plan)) return memory
  const taken = rememberSent(memory, plan, { desired, digests }, unclear)
  const known = memory.setAside ? rememberRefused(taken, memory.setAside, { desired, digests }) : taken // plain: taken
  const erasure = plan.kind === 'erase' ? { ...memory.erasure, cleared: plan.fields } : memory.erasure
  return { ...known, setAside: null, erasure }
}

type Sending = Pick<Facts, 'desired' | 'digests'>

/** The service acknowledged a write: what it carried is now what is known, in place of what was seen. Plain: only the status changes. */
export function rememberSent(memory: Memory, plan: WritePlan, sending: Sending, unclear = false): Memory {
  const { desired, digests } = sending
  if (plan.kind === 'erase') return rememberErased(memory, plan, unclear)
  const replacesAll = plan.kind === 'create' || plan.kind === 'replace'
  const sent: Partial<Record<OptionalField, string>> = replacesAll ? {} : { ...memory.sent }
  const seen: Partial<Record<OptionalField, string>> = replacesAll ? {} : { ...memory.seen }
  for (const field of fieldsOf(plan)) {
    const value = desired?.fields[field]
    if (value === undefined) continue
    sent[field] = digests.exact(field, value)
    // A GET may show a number joined with its prefix: of one half it says nothing once the other half is written.
    for (const half of PHONE.includes(field) ? PHONE : [field]) delete seen[half]
  }
  const status = isStatusKept(plan) ? {} : { sentStatus: plan.body.status, seenStatus: null } // plain: 2, null
  const conflict = plan.kind === 'create' ? conflictOnceCreated(memory.conflict) : memory.conflict
  const observedForms = unclear ? withoutForms(memory.observedForms, fieldsOf(plan)) : memory.observedForms
  return { ...memory, ...status, remote: 'present', sent, seen, conflict, observedForms, creating: false }
}
