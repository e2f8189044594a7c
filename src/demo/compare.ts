// Compares every customer with the service at the end. The mapping and the comparison of fields are the product's own.
import type { Config, Row } from '../config/config.ts'
import { describeCustomers } from '../customers/describe.ts'
import { makeReadCustomers } from '../customers/read.ts'
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
import type { Demo } from './open.ts'

type DemoDifference = {
  readonly key: CustomerKey
  /** Names of fields, or one sentence. */
  readonly differs: readonly string[]
}

export type DemoComparison = {
  readonly customers: number
  /** Users whose customer was deleted; they must have no access. */
  readonly former: number
  readonly differences: readonly DemoDifference[]
}

type Sides = {
  readonly config: Config
  readonly rows: ReadonlyMap<CustomerKey, Row | null>
  readonly users: readonly StoredUser[]
}

export async function compareDemo({ pool, sandbox, config }: Demo): Promise<DemoComparison> {
  const readMany = makeReadCustomers(config, await describeCustomers(pool, config))
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM public.v_clientes ORDER BY id')
  const ids = rows.map(({ id }) => id)
  const found = [...(await readMany(pool, ids))]
  return compareAll({
    config,
    rows: new Map(found.map(([key, row]) => [key, row === 'ambiguous' ? null : row])),
    users: sandbox.users.all(),
  })
}

/** Compares every customer with its user. Finds every user whose customer was deleted. */
export function compareAll({ config, rows, users }: Sides): DemoComparison {
  const held = new Map(users.map((user) => [user.user_id, user]))
  const present = [...rows].flatMap(([key, row]) => (row === null ? [] : [{ key, row }]))
  const compared = present.map(({ key, row }) => {
    const mapped = mapCustomer(config, { key, row, now: new Date() })
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
 * Compares the form that a GET returns. No GET returns `country_code`, so the demo reads it from the sandbox's store.
 * A field that was left out because its value is invalid is not compared.
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
