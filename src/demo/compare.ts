// Whether every customer and the service agree at the end. Pure; the mapping and the comparison of fields are
// the product's own.
import type { Config, Row } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { normalForm, sameField } from '../model/normal.ts'
import {
  type DesiredUser,
  entitled,
  OPTIONAL_FIELDS,
  type Status,
  UNVERIFIABLE_FIELD,
} from '../model/user.ts'
import { retrievedForm, type StoredUser } from '../sandbox/users/users.ts'
import { mapCustomer } from '../sync/map.ts'

export type Difference = {
  readonly key: CustomerKey
  /** Names of fields, or words for what is there and should not be. */
  readonly differs: readonly string[]
}

export type Comparison = {
  readonly customers: number
  /** Users of the service whose customer is gone; they must have no access. */
  readonly former: number
  readonly differences: readonly Difference[]
}

type Sides = {
  readonly config: Config
  readonly rows: ReadonlyMap<CustomerKey, Row | null>
  readonly users: readonly StoredUser[]
  /** The time that the mapping goes by; by default this machine's. */
  readonly now?: Date
}

/** Every customer with its user, and every user that no customer is any more. */
export function compareAll({ config, rows, users, now = new Date() }: Sides): Comparison {
  const held = new Map(users.map((user) => [user.user_id, user]))
  const present = [...rows].flatMap(([key, row]) => (row === null ? [] : [{ key, row }]))
  const compared = present.map(({ key, row }) => {
    const mapped = mapCustomer(config, { key, row, now })
    const userId = mapped.kind === 'user' ? mapped.user.userId : mapped.userId
    const user = held.get(userId ?? '')
    held.delete(userId ?? '')
    return { key, differs: mapped.kind === 'user' ? compareUser(mapped.user, user) : compareGone(user) }
  })
  const former = [...held.values()].map((user) => ({ key: user.user_id, differs: compareGone(user) }))
  return {
    customers: present.length,
    former: former.length,
    differences: [...compared, ...former].filter(({ differs }) => differs.length > 0),
  }
}

/**
 * As a GET would show the user, but for `country_code`, which no GET shows: the demo owns the service, so it
 * looks into its store. A field that was left out because its value is invalid is not compared.
 */
function compareUser(desired: DesiredUser, user: StoredUser | undefined): readonly string[] {
  if (user === undefined) return ['there is no such user']
  const shown = retrievedForm(user)
  const fields = OPTIONAL_FIELDS.filter((field) => {
    if (desired.fields[field] === undefined) return false
    return field === UNVERIFIABLE_FIELD
      ? normalForm(field, desired.fields[field]) !== normalForm(field, user[field])
      : !sameField(field, desired.fields, shown)
  })
  return [...(user.status === desired.status ? [] : ['status']), ...fields]
}

function compareGone(user: StoredUser | undefined): readonly string[] {
  return user !== undefined && entitled(user.status as Status) ? ['still has access'] : []
}
