// Compares every customer with the service at the end. The mapping and the normal form are the product's own.
import type { Config, Row } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { normalForm } from '../model/normal.ts'
import { entitled, OPTIONAL_FIELDS, type Status } from '../model/user.ts'
import type { StoredUser } from '../sandbox/users/users.ts'
import { mapCustomer } from '../sync/map.ts'

type Sides = {
  readonly config: Config
  /** In this mapping the `user_id` is the customer key. */
  readonly rows: ReadonlyMap<CustomerKey, Row>
  readonly users: readonly StoredUser[]
}

/** `former`: users whose customer was deleted. `differs`: names of fields, or one sentence. */
export function compareDemo({ config, rows, users }: Sides) {
  const held = new Map(users.map((user) => [user.user_id, user]))
  const keys = [...new Set([...rows.keys(), ...held.keys()])]
  const compared = keys.map((key) => ({
    key,
    differs: compareOne(config, key, rows.get(key), held.get(key)),
  }))
  return {
    customers: rows.size,
    former: keys.length - rows.size,
    differences: compared.filter(({ differs }) => differs.length > 0),
  }
}

/**
 * Of the values that were sent, which the sandbox holds, since a GET does not return all of them. A field that was left
 * out because its value is invalid is not compared.
 */
function compareOne(config: Config, key: CustomerKey, row: Row | undefined, user: StoredUser | undefined) {
  const mapped = row && mapCustomer(config, { key, row, now: new Date() })
  if (mapped?.kind !== 'user') return user && entitled(user.status as Status) ? ['still has access'] : []
  if (!user) return ['there is no such user']
  const { status, fields } = mapped.user
  const differing = OPTIONAL_FIELDS.filter(
    (field) =>
      fields[field] !== undefined && normalForm(field, fields[field]) !== normalForm(field, user[field]),
  )
  return [...(user.status === status ? [] : ['status']), ...differing]
}
