// A user who is there, field by field: desired, at the service, as last sent, as last seen. Pure; no row holds a value.
import type { Evidence, LookedAt } from '../access/customer.ts'
import { type KnownRecord, NEVER_SETTLED } from '../ledger/record.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { type ComparableField, normalForm, sameField } from '../model/normal.ts'
import {
  type Fields,
  OPTIONAL_FIELDS,
  type OptionalField,
  type Status,
  UNVERIFIABLE_FIELD,
} from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { isLearnt, type Sides } from '../sync/learnt.ts'
import type { Memory } from '../sync/memory.ts'
import { statusIsRight } from '../sync/right.ts'
import {
  type As,
  type Cause,
  type Current,
  causeOf,
  type FieldVerdict,
  type Here,
  type Likeness,
  type There,
  verdictOf,
} from './cause.ts'
import { asSeen, asSent, currentOf, type Remembered } from './remembered.ts'

export type Row = {
  readonly field: 'status' | OptionalField
  readonly here: Here
  /** Why it is left out. */
  readonly issue: FieldIssue['code'] | null
  readonly there: There
  readonly verdict: FieldVerdict
  /** Whether the desired value is the one that was last sent. */
  readonly current: Current
  /** Whether what the service shows is what was last sent, and what a GET showed since. */
  readonly asSent: As
  readonly asSeen: As
  readonly cause: Cause | null
}

/** What rollcall's tables say of this very user, as far as it can be compared. */
export type Standing = {
  readonly record: KnownRecord
  /** There are records to compare with. */
  readonly known: boolean
  /** And their digests were made with the key that is at hand. */
  readonly comparable: boolean
  readonly unknown: boolean
  readonly owed: boolean
  readonly fresh: boolean
}

type Comparing = {
  readonly looked: Pick<LookedAt, 'leftOut'>
  readonly evidence: Pick<Evidence, 'mapped' | 'policy' | 'digests' | 'known'>
  readonly standing: Standing
  readonly memory: Pick<Memory, 'sentStatus'>
  readonly remote: RemoteUser
}

/** The status alone where the customer is gone or out of scope: nothing else is asked for then. */
export function rowsOf(comparing: Comparing): readonly Row[] {
  const { mapped } = comparing.evidence
  switch (mapped.kind) {
    case 'rejected':
      return []
    case 'removed':
    case 'out-of-scope':
      return [statusRow(0, comparing)]
    case 'user':
      return [
        statusRow(mapped.user.status, comparing),
        ...OPTIONAL_FIELDS.map((field) => fieldRow(field, mapped.user.fields, comparing)),
      ]
    default:
      return mapped satisfies never
  }
}

function statusRow(status: Status, { standing, memory, remote }: Comparing): Row {
  const { record, known } = standing
  const { sentStatus } = memory
  const hidden = sentStatus === null && record.sentStatus !== null
  const current: Current = hidden ? 'doubted' : asStatus(sentStatus, status, known)
  const shown = { sentStatus, seenStatus: remote.status }
  const right = statusIsRight(status, shown) ? 'trial-ended' : 'differs'
  const facts = {
    here: 'set' as const,
    verdict: remote.status === status ? 'same' : right,
    current,
    asSeen: asStatus(record.seenStatus, remote.status, known),
  } as const
  const sent = hidden ? 'unknown' : asStatus(sentStatus, remote.status, known)
  const cause = causeOf({ ...facts, ...standing })
  return { field: 'status', ...facts, issue: null, there: 'set', asSent: sent, cause }
}

/** A status that the interface does not have is stored as a negative one. */
function asStatus(stored: number | null, status: number, known: boolean): As {
  if (!known || (stored !== null && stored < 0)) return 'unknown'
  if (stored === null) return 'never'
  return stored === status ? 'yes' : 'no'
}

function fieldRow(field: OptionalField, desired: Fields, comparing: Comparing): Row {
  const { looked, evidence, standing, remote } = comparing
  const issue = looked.leftOut.find((each) => each.field === field)?.code ?? null
  const here = hereOf(desired[field], issue, evidence.policy.unmanaged)
  const sides = { desired, remote: remote.fields }
  const digested = digestsSay(field, sides, comparing)
  const hidden = field === UNVERIFIABLE_FIELD
  const there = hidden ? 'not-shown' : normalForm(field, remote.fields[field]) === null ? 'empty' : 'set'
  const asItWas =
    (digested.current === 'yes' && digested.asSent === 'yes') ||
    (!hidden && isOwnForm(field, sides, comparing))
  const likeness = hidden ? 'none' : likenessOf(field, sides, asItWas)
  const facts = { here, verdict: verdictOf(here, there, likeness), ...digested }
  return { field, ...facts, issue, there, cause: causeOf({ ...facts, ...standing }) }
}

function hereOf(
  value: Fields[OptionalField],
  issue: FieldIssue['code'] | null,
  unmanaged: 'keep' | 'clear',
): Here {
  if (issue !== null) return issue === 'refused' ? 'refused' : 'left-out'
  if (value === undefined) return unmanaged === 'clear' ? 'cleared' : 'unmanaged'
  return value === null ? 'empty' : 'set'
}

/** Half of a phone that is shown joined with the other half is as it was sent, also once the other half has changed. */
function likenessOf(field: ComparableField, { desired, remote }: Sides, asItWas: boolean): Likeness {
  const [want, held] = [desired[field] ?? null, remote[field] ?? null]
  if (String(want ?? '') === String(held ?? '')) return 'letters'
  if (normalForm(field, want) === null && normalForm(field, held) === null) return 'letters'
  return asItWas || sameField(field, desired, remote) ? 'form' : 'none'
}

/** The form that the service was seen to make of just this value. */
function isOwnForm(field: ComparableField, sides: Sides, { standing, evidence }: Comparing): boolean {
  return standing.comparable && isLearnt(field, sides, standing.record.normalised, evidence.digests)
}

const UNKNOWN = { current: 'unknown', asSent: 'unknown', asSeen: 'unknown' } as const

function digestsSay(
  field: OptionalField,
  sides: Sides,
  { standing, evidence }: Comparing,
): Pick<Row, 'current' | 'asSent' | 'asSeen'> {
  if (!standing.comparable) return UNKNOWN
  const { sent, seen } = standing.record
  const blind = evidence.known.owed?.blind ?? false
  const remembered: Remembered = { sent, seen, blind, digests: evidence.digests }
  const current = currentOf(field, sides.desired, remembered)
  if (field === UNVERIFIABLE_FIELD)
    return { current, asSent: current === 'never' ? 'never' : 'unknown', asSeen: 'never' }
  return {
    current,
    asSent: asSent(field, sides, remembered),
    asSeen: asSeen(field, sides, remembered),
  }
}

/** Nothing is remembered of a user with another `user_id` than the record was made under. */
export function recordFor(record: KnownRecord, userId: string | null): KnownRecord {
  const another = userId !== null && record.userId !== null && record.userId !== userId
  return another ? NEVER_SETTLED : record
}
