// Customers, memories and policies for tests of the plan.
import {
  type Fields,
  type FieldValue,
  OPTIONAL_FIELDS,
  type OptionalField,
  type Status,
} from '../../src/model/user.ts'
import { type CustomerDigests, forCustomer, makeDigester } from '../../src/sync/digest.ts'
import type { Mapped } from '../../src/sync/map.ts'
import { type Memory, NO_CALLS } from '../../src/sync/memory.ts'
import { makePlan, type Plan } from '../../src/sync/plan.ts'
import type { Policy } from '../../src/sync/write.ts'

const made = forCustomer(makeDigester('a digest key of thirty-two chars!'), '7')

/** Tables of many cases ask for the same few digests again and again. */
export const digests: CustomerDigests = {
  keyId: made.keyId,
  exact: kept(made.exact),
  normal: kept(made.normal),
  ofForm: kept(made.ofForm),
}

function kept<V extends FieldValue>(digest: (field: OptionalField, value: V) => string) {
  const known = new Map<string, string>()
  return (field: OptionalField, value: V): string => {
    const name = `${field} ${JSON.stringify(value)}`
    const found = known.get(name) ?? digest(field, value)
    known.set(name, found)
    return found
  }
}

export const KEEP: Policy = {
  unmanaged: 'keep',
  clearWith: clearing('null'),
  onRemove: 'revoke',
  createWithoutAccess: true,
  fullyManaged: false,
}
export const CLEAR: Policy = { ...KEEP, unmanaged: 'clear' }
export const FULL: Policy = { ...KEEP, fullyManaged: true }

export function clearing(how: 'null' | 'empty' | 'omit'): Policy['clearWith'] {
  return Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, how])) as Policy['clearWith']
}

export function user(
  status: Status,
  fields: Fields = {},
  issues: Extract<Mapped, { kind: 'user' }>['issues'] = [],
): Mapped {
  return { kind: 'user', user: { userId: 'u7', status, fields }, issues }
}

export const LEFT_OUT = { field: 'email', code: 'invalid', expected: 'an e-mail address' } as const

export const ABSENT: Memory = {
  remote: 'absent',
  sentStatus: null,
  seenStatus: null,
  sent: {},
  seen: {},
  refused: {},
  conflict: null,
  erased: null,
  observedForms: {},
  lookedUp: false,
  creating: false,
  ...NO_CALLS,
}
export const UNKNOWN: Memory = { ...ABSENT, remote: 'unknown' }
export const UNASKED: Memory = { ...ABSENT, remote: 'unasked' }

/** Known by what was acknowledged. */
export function sent(status: Status, fields: Fields = {}, rest: Partial<Memory> = {}): Memory {
  return { ...ABSENT, remote: 'present', sentStatus: status, sent: marks(fields), ...rest }
}

/** Known by what a GET showed. */
export function seen(status: number, fields: Fields = {}, rest: Partial<Memory> = {}): Memory {
  const forms = OPTIONAL_FIELDS.filter((field) => fields[field] !== undefined).map((field) => [
    field,
    digests.normal(field, fields[field] ?? null),
  ])
  return {
    ...ABSENT,
    remote: 'present',
    seenStatus: status,
    seen: Object.fromEntries(forms),
    lookedUp: true,
    ...rest,
  }
}

export function marks(fields: Fields): Memory['sent'] {
  return Object.fromEntries(
    OPTIONAL_FIELDS.filter((field) => fields[field] !== undefined).map((field) => [
      field,
      digests.exact(field, fields[field] ?? null),
    ]),
  )
}

export type Given = {
  readonly mapped: Mapped
  readonly memory: Memory
  readonly policy?: Policy
  readonly claimants?: readonly string[]
}

export function plan({ mapped, memory, policy = KEEP, claimants = [] }: Given): Plan {
  return makePlan({ mapped, memory, policy, claimants, digests })
}

/** Kind and body, or kind and reason. */
export function brief(given: Given): unknown[] {
  const made = plan(given)
  return 'body' in made ? [made.kind, made.body] : [made.kind, 'why' in made ? made.why : made.code]
}

export const GONE: readonly Mapped[] = [
  { kind: 'removed', userId: 'u7' },
  { kind: 'out-of-scope', userId: 'u7' },
]

/** The part of a memory that a GET fills. */
export function pick({ seenStatus, seen: forms }: Memory): Partial<Memory> {
  return { seenStatus, seen: forms }
}
