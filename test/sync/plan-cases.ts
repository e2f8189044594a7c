// Every case that the plan can meet: a customer, what is remembered of its user, and the policy.
import type { ClearWith } from '../../src/config/define.ts'
import { type Fields, OPTIONAL_FIELDS, type OptionalField, type Status } from '../../src/model/user.ts'
import { NO_VALUE } from '../../src/sync/digest.ts'
import type { Mapped } from '../../src/sync/map.ts'
import type { Memory } from '../../src/sync/memory.ts'
import { ABSENT, clearing, LEFT_OUT, marks, seen, user } from '../support/plan-scene.ts'

const FACTS = {
  customer: ['status 0', 'status 2', 'status 4', 'removed', 'out of scope', 'rejected'],
  claimants: ['no', 'yes'],
  remote: ['unasked', 'unknown', 'absent', 'present'],
  status: ['as desired', 'another', 'sent 4 but seen 0', 'nothing'],
  /** Whether user and fields are known by what was acknowledged or by what a GET showed. */
  known: ['sent', 'seen'],
  change: ['nothing', 'one', 'one cleared', 'everything'],
  heldBack: ['no', 'left out', 'refused'],
  /** Something is known to be in a field that the mapping does not set. */
  extra: ['no', 'yes'],
  fullyManaged: ['no', 'yes'],
  unmanaged: ['keep', 'clear'],
  clearWith: ['null', 'empty', 'omit'],
  onRemove: ['revoke', 'erase', 'ignore'],
  createWithoutAccess: ['yes', 'no'],
  lookedUp: ['no', 'yes'],
  /** The user's fields were cleared; of one who has come back nothing of it is remembered. */
  erased: ['no', 'sent', 'verified'],
  /** Whether a lookup shows a field that was cleared a second time. */
  again: ['no', 'yes'],
} as const

type Facts = typeof FACTS
export type PlanCase = { readonly [K in keyof Facts]: Facts[K][number] }

/** All that can be. Each has all its properties from the start: half a million objects of one shape are quick. */
export function planCases(): readonly PlanCase[] {
  let cases: Partial<PlanCase>[] = [Object.fromEntries(Object.keys(FACTS).map((name) => [name, undefined]))]
  for (const [name, values] of Object.entries(FACTS))
    cases = cases.flatMap((given) => values.map((value) => ({ ...given, [name]: value })).filter(canBe))
  return cases as PlanCase[]
}

function canBe(given: Partial<PlanCase>): boolean {
  const { customer, remote, known, extra, fullyManaged, createWithoutAccess, erased = 'no', again } = given
  const gone = customer === 'removed' || customer === 'out of scope'
  // Where every field is managed, none is unmanaged.
  if (extra === 'yes' && fullyManaged === 'yes') return false
  if (createWithoutAccess === 'no' && customer !== 'status 0') return false
  if (known === 'seen' && remote !== 'present') return false
  if (erased !== 'no' && !(gone && remote === 'present')) return false
  return again !== 'yes' || (erased !== 'no' && known === 'seen')
}

const SOME: readonly OptionalField[] = ['email', 'first_name', 'last_name']
/** The fields that a case holds back, changes or clears, or that another system sets. */
const HELD_BACK = 'email'
const CHANGED = 'last_name'
const EXTRA = 'gender'

export function managedIn({ fullyManaged, heldBack }: PlanCase): readonly OptionalField[] {
  const set = fullyManaged === 'yes' ? OPTIONAL_FIELDS : SOME
  return heldBack === 'no' ? set : set.filter((field) => field !== HELD_BACK)
}

export function differingIn(given: PlanCase): readonly OptionalField[] {
  if (given.change === 'nothing') return []
  return given.change === 'everything' ? managedIn(given) : [CHANGED]
}

/** For a removed customer: every field, or the fields to clear again. */
export function toClearIn(given: PlanCase): readonly OptionalField[] {
  if (given.erased === 'no') return OPTIONAL_FIELDS
  const shown = Object.keys(shownIn(given))
  return OPTIONAL_FIELDS.filter(
    (field) => (field === HELD_BACK && given.heldBack === 'refused') || shown.includes(field),
  )
}

export function shownIn(given: PlanCase): Memory['seen'] {
  return given.known === 'seen' && given.again === 'no' ? withoutHidden(seen(0, heldIn(given)).seen) : {}
}

export function desiredStatus({ customer }: PlanCase): Status {
  return customer === 'status 2' ? 2 : customer === 'status 4' ? 4 : 0
}

export function desiredFields(given: PlanCase): Fields {
  const fields: Fields = {}
  for (const field of given.fullyManaged === 'yes' ? OPTIONAL_FIELDS : SOME) fields[field] = `${field} now`
  if (given.change === 'one cleared') fields[CHANGED] = null
  if (given.heldBack === 'left out') delete fields[HELD_BACK]
  return fields
}

export function mappedIn(given: PlanCase): Mapped {
  const { customer, heldBack } = given
  if (customer === 'removed' || customer === 'out of scope')
    return { kind: customer === 'removed' ? 'removed' : 'out-of-scope', userId: 'u7' }
  if (customer === 'rejected') return { kind: 'rejected', userId: 'u7', issues: [LEFT_OUT] }
  return user(desiredStatus(given), desiredFields(given), heldBack === 'left out' ? [LEFT_OUT] : [])
}

export function policyIn({ unmanaged, clearWith, onRemove, createWithoutAccess, fullyManaged }: PlanCase) {
  return {
    ...{ unmanaged, onRemove, clearWith: CLEARING[clearWith] },
    createWithoutAccess: createWithoutAccess === 'yes',
    fullyManaged: fullyManaged === 'yes',
  }
}

const CLEARING: Readonly<Record<ClearWith, ReturnType<typeof clearing>>> = {
  null: clearing('null'),
  empty: clearing('empty'),
  omit: clearing('omit'),
}

export function memoryIn(given: PlanCase): Memory {
  const held = heldIn(given)
  const refused = given.heldBack === 'refused' ? marks({ [HELD_BACK]: `${HELD_BACK} now` }) : {}
  const { country_code: hidden } = held
  const shown = given.known === 'seen'
  const twice = given.again === 'yes' ? Object.keys(held).map((field) => [field, NO_VALUE]) : []
  return {
    ...ABSENT,
    ...statusesIn(given),
    remote: given.remote,
    sent: shown
      ? { ...(hidden === undefined ? {} : marks({ country_code: hidden })), ...Object.fromEntries(twice) }
      : marks(held),
    seen: shown ? withoutHidden(seen(0, held).seen) : {},
    refused,
    erased: given.erased === 'no' ? null : given.erased,
    lookedUp: given.lookedUp === 'yes',
  }
}

function heldIn(given: PlanCase): Fields {
  const held: Fields = { ...desiredFields(given), [HELD_BACK]: 'as before' }
  if (given.heldBack === 'no') held[HELD_BACK] = `${HELD_BACK} now`
  for (const field of differingIn(given)) held[field] = `${field} before`
  if (given.extra === 'yes') held[EXTRA] = '1'
  return held
}

function withoutHidden({ country_code: _hidden, ...rest }: Memory['seen']): Memory['seen'] {
  return rest
}

function statusesIn(given: PlanCase): Pick<Memory, 'sentStatus' | 'seenStatus'> {
  const desired = desiredStatus(given)
  const another = desired === 2 ? 4 : 2
  switch (given.status) {
    case 'as desired':
      return { sentStatus: desired, seenStatus: given.known === 'seen' ? desired : null }
    case 'another':
      return given.known === 'seen'
        ? { sentStatus: desired, seenStatus: another }
        : { sentStatus: another, seenStatus: null }
    case 'sent 4 but seen 0':
      return { sentStatus: 4, seenStatus: 0 }
    case 'nothing':
      return { sentStatus: null, seenStatus: null }
    default:
      return given.status satisfies never
  }
}
