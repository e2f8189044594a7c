import type { OptionalField } from '../model/user.ts'
import type { Called, CalledGet } from './call.ts'
import type { WriteMeaning } from './classify.ts'
import { conflictOnceCreated, userWithoutConflict } from './conflict.ts'
import { fieldsShown, rememberErased } from './erasure.ts'
import { type Memory, PHONE } from './memory.ts'
import { fieldsOf, isStatusKept, type Plan, type WritePlan } from './plan.ts'
import {
  absorbRefusal,
  absorbUnclear,
  afterRefusedCreate,
  blamed,
  type Facts,
  reasonOf,
  rememberRefused,
} from './refusal.ts'
import { rememberAbsent, rememberSeen, rememberUnknown, withoutForms } from './remember.ts'
import { type MadeCall, resultOfCalls, retry, type Turn, type TurnSituation, type TurnStep } from './turn.ts'

type Answered = { readonly plan: Plan; readonly called: Called }

function withCall(turn: Turn, call: MadeCall): Turn {
  return { ...turn, made: [...turn.made, call] }
}

/** The next turn: the memory changed by an answer, and perhaps an end. */
export function absorb(turn: Turn, { plan, called }: Answered, situation: TurnSituation): TurnStep {
  const desired = userWithoutConflict(situation.mapped, turn.memory)
  const facts = { ...situation, ...factsOf(called), plan, desired }
  return called.method === 'GET' ? absorbRead(turn, called, facts) : absorbWrite(turn, called.meaning, facts)
}

function factsOf({ outcome, named, conflict }: Called) {
  if (outcome.kind === 'error') return { status: null, error: outcome.error, named, conflict }
  const { status, retryAfterMs: waitMs } = outcome
  return { status, ...(waitMs === undefined ? {} : { wait: { waitMs } }), named, conflict }
}

/** Changes the memory by the meaning of a GET. One that failed changes nothing that is remembered. */
function absorbRead(
  turn: Turn,
  { meaning, observed }: Pick<CalledGet, 'meaning' | 'observed'>,
  facts: Facts,
): TurnStep {
  const shown = withCall(turn, {
    plan: facts.plan,
    meaning,
    trusted: meaning === 'present' || meaning === 'absent',
  })
  switch (meaning) {
    case 'present': {
      if (!observed) throw new Error('a GET that means present must come with the user')
      const known = { ...turn.memory, creating: turn.memory.creating || turn.refusedCreate !== null }
      const memory = rememberSeen(known, observed, facts.desired, facts.digests)
      return { turn: { ...shown, memory, erasure: erasureSeen(turn, fieldsShown(memory)) } }
    }
    case 'absent': {
      const known = { ...shown, memory: rememberAbsent(turn.memory), erasure: erasureSeen(turn, []) }
      return turn.refusedCreate ? afterRefusedCreate(known, turn.refusedCreate, facts) : { turn: known }
    }
    case 'later':
    case 'denied':
    case 'failed':
      return { turn: shown, end: retry(reasonOf(meaning, facts), facts.wait) }
    default:
      return meaning satisfies never
  }
}

function erasureSeen({ memory, erasure }: Turn, left: readonly OptionalField[]): Turn['erasure'] {
  return memory.erased === 'sent' ? { ...erasure, left } : erasure
}

export function absorbWrite(turn: Turn, meaning: WriteMeaning, facts: Facts): TurnStep {
  const { plan } = facts
  const sure = withCall(turn, { plan, meaning, trusted: true })
  const unsure = withCall(turn, { plan, meaning, trusted: false })
  switch (meaning) {
    case 'done':
      return { turn: done(sure, facts) }
    case 'unclear':
      return absorbUnclear(turn, { counted: done(sure, facts, true), unsure }, facts)
    case 'absent': {
      const { lookups, writes } = resultOfCalls(turn)
      // Just written, or just shown by a GET, a user may only seem to be gone: a revocation would be settled, and access stay.
      if (facts.lookupAfterMs > 0 || lookups > 0 || writes === 'accepted') {
        const memory = { ...turn.memory, remote: 'unknown' as const }
        return {
          turn: { ...unsure, memory, setAside: null },
          end: retry(reasonOf('not-there-yet', facts), facts.wait),
        }
      }
      return { turn: { ...sure, memory: rememberAbsent(turn.memory), setAside: null } }
    }
    case 'refused':
      return absorbRefusal(sure, facts)
    case 'later':
      return { turn: sure, end: retry(reasonOf(meaning, facts), facts.wait) }
    case 'denied': {
      const create = plan.kind === 'create'
      // Not the key or the customer: the answer names some of the fields. A create waits for `accessFirst`, since what it
      // carries would count as refused before one without it was taken.
      if (!create && facts.status === 403 && blamed(facts.named, fieldsOf(plan)).length > 0)
        return absorbRefusal(sure, facts)
      // A 403 may be about this customer, who then may exist; a 401 was not processed.
      const remote = create && facts.status === 403 ? 'unknown' : turn.memory.remote
      return {
        turn: { ...sure, memory: { ...turn.memory, remote } },
        end: retry(reasonOf(meaning, facts), facts.wait),
      }
    }
    case 'not-sent':
      return { turn: unsure, end: retry(reasonOf(meaning, facts), facts.wait) }
    case 'unknown':
      return {
        turn: { ...unsure, memory: rememberUnknown(turn.memory, plan) },
        end: { kind: 'unknown', reason: reasonOf(meaning, facts) },
      }
    default:
      return meaning satisfies never
  }
}

function done(turn: Turn, { plan, desired, digests }: Facts, unclear = false): Turn {
  if (!('body' in plan)) return turn
  const taken = rememberSent(turn.memory, plan, { desired, digests }, unclear)
  const memory = turn.setAside ? rememberRefused(taken, turn.setAside, { desired, digests }) : taken
  const erasure = plan.kind === 'erase' ? { ...turn.erasure, cleared: plan.fields } : turn.erasure
  return { ...turn, memory, setAside: null, erasure }
}

type Sending = Pick<Facts, 'desired' | 'digests'>

/** The service acknowledged a write: what it carried is now what is known, in place of what was seen. */
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
  const status = isStatusKept(plan) ? {} : { sentStatus: plan.body.status, seenStatus: null }
  const conflict = plan.kind === 'create' ? conflictOnceCreated(memory.conflict) : memory.conflict
  const observedForms = unclear ? withoutForms(memory.observedForms, fieldsOf(plan)) : memory.observedForms
  return { ...memory, ...status, remote: 'present', sent, seen, conflict, observedForms, creating: false }
}
