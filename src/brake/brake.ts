// The brake: a mass of changes that shuts people out, or that nobody can have meant, waits for a person.
import type { CustomerKey } from '../model/customer.ts'
import type { OptionalField } from '../model/user.ts'

/**
 * What is counted, each by itself. `revocation`: somebody loses access; `status`: a status changes to another that is
 * not 0; `create`; `absence`: a user who was there is not any more; `erase`: personal fields are erased; `clear:…`: a
 * field that was set is cleared.
 */
export type BrakeKind = 'revocation' | 'status' | 'create' | 'absence' | 'erase' | `clear:${OptionalField}`

/** Why a customer is held: a kind that tripped, or a watched table that was truncated. */
export type HeldKind = BrakeKind | 'truncated'

/** Asked before a call, or after an answer that tells of an absence. */
export type BrakeRequest = {
  readonly key: CustomerKey
  /** Digest of the desired user: a person's release holds for exactly this. */
  readonly desired: string
  readonly kinds: readonly BrakeKind[]
}

/** The kinds for which this customer has to wait; none: go on, and it is counted. */
export type Brake = (request: BrakeRequest) => Promise<readonly HeldKind[]>
