import type { Config } from '../config/config.ts'
import {
  type DesiredUser,
  type Fields,
  OPTIONAL_FIELDS,
  type OptionalField,
  type Status,
} from '../model/user.ts'
import type { CreateBody, UpdateBody } from '../service/client.ts'

/** The inputs of a plan besides the customer. */
export type Policy = Pick<
  Config,
  'unmanaged' | 'clearWith' | 'onRemove' | 'createWithoutAccess' | 'fullyManaged'
>

/** Create leaves nulls out: only `description` is documented as nullable (section 2.6). */
export function createBody(user: DesiredUser, managed: readonly OptionalField[]): CreateBody {
  const given = managed.filter((field) => user.fields[field] !== null)
  const values: Fields = Object.fromEntries(given.map((field) => [field, user.fields[field] ?? null]))
  return { user_id: user.userId, status: user.status, ...values }
}

type Patching = {
  readonly user: DesiredUser
  readonly status: Status
  readonly changed: readonly OptionalField[]
  readonly policy: Policy
}

/** Always the status, which is required on every update, and of the rest only what changed. */
export function patchBody({ user, status, changed, policy }: Patching): UpdateBody {
  const body: Fields = {}
  for (const field of changed) {
    const empty = policy.clearWith[field] === 'empty' ? '' : null
    body[field] = user.fields[field] ?? empty
  }
  return { status, ...body }
}

/** The complete set: what the mapping does not set is cleared in the same way as what it sets to nothing. */
export function putBody({ user, status, policy }: Omit<Patching, 'changed'>): UpdateBody {
  const said = OPTIONAL_FIELDS.filter(
    (field) => (user.fields[field] ?? null) !== null || policy.clearWith[field] !== 'omit',
  )
  return patchBody({ user, status, changed: said, policy })
}

/** For a removed customer: null also where the mapping's fields are cleared by leaving them out. */
export function eraseBody(
  fields: readonly OptionalField[],
  { clearWith }: Pick<Policy, 'clearWith'>,
): UpdateBody {
  const empty = fields.map((field) => [field, clearWith[field] === 'empty' ? '' : null])
  return { status: 0, ...Object.fromEntries(empty) }
}
