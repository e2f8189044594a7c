import type { Reason } from '../ledger/record.ts'
import { type DesiredUser, OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import type { ReadMeaning, WriteMeaning } from './classify.ts'
import type { CustomerDigests } from './digest.ts'
import { type Memory, rememberAbsent, rememberSeen, rememberSent } from './memory.ts'
import type { Plan } from './plan.ts'
import type { Turn, TurnEnd } from './turn.ts'

/** What is known of the answer besides its meaning; `status` is null when there was none. */
export type Facts = {
  readonly plan: Plan
  readonly status: number | null
  readonly error?: string
  readonly waitMs?: number
  readonly desired: DesiredUser | null
  readonly digests: CustomerDigests
}

/** What the claim knows after an answer; `end` when nothing more is to be tried in this claim. */
type Step = { readonly turn: Turn; readonly end?: TurnEnd }

/** What a GET's meaning changes. One that failed changes nothing that is remembered. */
export function absorbRead(turn: Turn, meaning: ReadMeaning, remote: RemoteUser | null, facts: Facts): Step {
  const looked = { ...turn, lookups: turn.lookups + 1 }
  switch (meaning) {
    case 'present': {
      if (!remote) throw new Error('a GET that means present must come with the user')
      const memory = rememberSeen(turn.memory, remote, facts.desired, facts.digests)
      return { turn: { ...looked, memory, sure: true } }
    }
    case 'absent': {
      const known = { ...looked, memory: rememberAbsent(turn.memory), sure: true }
      return turn.refusedCreate ? afterRefusedCreate(known, turn.refusedCreate, facts) : { turn: known }
    }
    case 'later':
    case 'denied':
    case 'failed':
      return { turn: looked, end: retry(meaning, facts) }
    default:
      return meaning satisfies never
  }
}

/** What a writing request's meaning changes. */
export function absorbWrite(turn: Turn, meaning: WriteMeaning, facts: Facts): Step {
  const { plan } = facts
  const create = plan.kind === 'create'
  const tried = {
    ...turn,
    creates: turn.creates + (create ? 1 : 0),
    wrote: turn.wrote || meaning !== 'not-sent',
  }
  switch (meaning) {
    case 'done':
      return { turn: done(tried, facts) }
    case 'absent':
      return { turn: { ...tried, memory: rememberAbsent(turn.memory), sure: true, setAside: null } }
    case 'refused':
      return refused({ ...tried, sure: true }, facts)
    case 'later':
      return { turn: { ...tried, sure: true }, end: retry(meaning, facts) }
    case 'denied': {
      // A 403 may be about this customer, who then may exist; a 401 was not looked at.
      const remote = create && facts.status === 403 ? 'unknown' : turn.memory.remote
      return {
        turn: { ...tried, sure: true, memory: { ...turn.memory, remote } },
        end: retry(meaning, facts),
      }
    }
    case 'not-sent':
      return { turn: tried, end: retry(meaning, facts) }
    case 'unknown':
      return {
        turn: { ...tried, memory: doubtful(turn.memory, facts) },
        end: { kind: 'unknown', reason: reasonOf(meaning, facts) },
      }
    default:
      return meaning satisfies never
  }
}

function done(turn: Turn, { plan, desired, digests }: Facts): Turn {
  if (plan.kind === 'none' || plan.kind === 'lookup' || plan.kind === 'reject') return turn
  const fields = fieldsOf(plan)
  const carried = 'carried' in plan && plan.carried
  const write = { desired, verb: plan.kind, fields, status: plan.body.status, carried }
  const memory = rememberSent(turn.memory, write, digests)
  const aside = turn.setAside ? refusalMarks(turn.setAside.fields, { desired, digests }) : {}
  return {
    ...turn,
    memory: { ...memory, refused: { ...memory.refused, ...aside } },
    sure: true,
    acknowledged: true,
    setAside: null,
  }
}

function fieldsOf(plan: Plan): readonly OptionalField[] {
  return plan.kind === 'create' || plan.kind === 'replace' || plan.kind === 'patch' ? plan.fields : []
}

/**
 * Create refused in any way: the user may exist, so look. Update refused: which field it was is not shown
 * and access matters most, so the status goes alone; refused alone as well, it is for a person.
 */
function refused(turn: Turn, facts: Facts): Step {
  const { plan, status } = facts
  const code = status ?? 0
  if (plan.kind === 'create') {
    const fields = OPTIONAL_FIELDS.filter((field) => plan.body[field] !== undefined)
    const after = {
      ...turn,
      memory: { ...turn.memory, remote: 'unknown' as const },
      refusedCreate: { status: code, fields },
    }
    return turn.lookups > 0 ? afterRefusedCreate(after, { status: code, fields }, facts) : { turn: after }
  }
  const fields = fieldsOf(plan)
  if (fields.length === 0 || turn.setAside) {
    return {
      turn: { ...turn, setAside: null },
      end: { kind: 'settle', state: 'rejected', reason: reasonOf('refused', facts) },
    }
  }
  return { turn: { ...turn, setAside: { status: code, fields } } }
}

/**
 * The create was refused although nobody is there. 409 claims that somebody is: the service may lag, try
 * later. Else the optional fields are set aside and the next create carries the required ones only.
 */
function afterRefusedCreate(turn: Turn, refusal: NonNullable<Turn['refusedCreate']>, facts: Facts): Step {
  const reason: Reason = { code: 'refused', status: refusal.status, fields: refusal.fields }
  if (refusal.status === 409) return { turn, end: { kind: 'retry', reason, failed: true } }
  if (refusal.fields.length === 0) return { turn, end: { kind: 'settle', state: 'rejected', reason } }
  const marks = refusalMarks(refusal.fields, facts)
  const memory = { ...turn.memory, refused: { ...turn.memory.refused, ...marks } }
  return { turn: { ...turn, memory }, end: { kind: 'retry', reason, failed: true } }
}

function refusalMarks(
  fields: readonly OptionalField[],
  { desired, digests }: Pick<Facts, 'desired' | 'digests'>,
) {
  const marks = fields.map((field) => [field, digests.exact(field, desired?.fields[field] ?? null)] as const)
  return Object.fromEntries(marks) as Partial<Record<OptionalField, string>>
}

/** What a GET cannot show must be sent again after a call whose outcome is unknown carried it. */
function doubtful(memory: Memory, { plan }: Facts): Memory {
  if (!fieldsOf(plan).includes(UNVERIFIABLE_FIELD)) return memory
  const { [UNVERIFIABLE_FIELD]: _doubtful, ...sent } = memory.sent
  return { ...memory, sent }
}

function retry(code: string, facts: Facts): TurnEnd {
  const wait = facts.waitMs === undefined ? {} : { waitMs: facts.waitMs }
  return { kind: 'retry', reason: reasonOf(code, facts), failed: true, ...wait }
}

function reasonOf(code: string, { plan, status, error }: Facts): Reason {
  const fields = fieldsOf(plan)
  return {
    code,
    ...(status === null ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(fields.length > 0 ? { fields } : {}),
  }
}
