import type { CustomerKey } from '../model/customer.ts'
import type { OptionalField, UserField } from '../model/user.ts'
import type { LedgerRecord } from './record.ts'

/** A value that a user held and holds no more: the digests of what was sent, and of what a GET had shown. */
export type Freed = {
  readonly field: OptionalField
  readonly sent: string | null
  readonly seen: string | null
}

/**
 * How a claim ends. `settle`: the plan for the claimed version is carried out, or needs a person (rejected,
 * held). `retry`: a sure "not now". `unknown`: a call may have reached the service, and it is not known whether it did.
 * Times are in milliseconds since 1970, by the database's clock.
 */
export type Ending = {
  readonly kind: 'settle' | 'retry' | 'unknown'
  readonly id: string
  readonly token: string
  readonly key: CustomerKey
  readonly version: string
  readonly claimedAtMs: number
  /** When the oldest change was made that this ending settles. */
  readonly changedAtMs: number | null
  /** The mapping that it went by. */
  readonly generation: string

  // The sync that is owed next.

  /** Counts as a failed attempt. */
  readonly failed: boolean
  readonly gapMs: number
  readonly backoffMs: number
  /** For so long a GET may miss a write of this claim: the service's lag, and while the request may arrive. */
  readonly lateMs: number
  /**
   * When the customer is planned again though nothing has changed, in milliseconds since 1970: the mapping's answer ceases
   * to hold, or a value that another user had is tried again. Null settles that there is no such time.
   */
  readonly replanAtMs: number | null

  // The effect of its calls, as far as is known.

  /** A call of this claim got a trusted answer, so the remote state is known again. */
  readonly sure: boolean
  /** A writing request of this claim may have been sent. */
  readonly wrote: boolean
  /** Something was acknowledged as done, or is over and may be done. */
  readonly acknowledged: boolean
  /**
   * Set where the last write was answered with neither yes nor no. Its request is over, so an unknown outcome waits for
   * `lateMs` alone and asks for no verification. A settle took such an answer for a yes: it asks for one, or for all where the user is gone.
   */
  readonly unclear: boolean
  /** Status 0 at the service may be the work of this claim, or of one before it. */
  readonly lowered: boolean
  /** A doubt about the status is void: nothing that this claim sent was carried out, or a status was acknowledged. */
  readonly withdrawsDoubt: boolean
  /** Values that the writes of this claim have replaced or cleared; none where there are none. It is not stored. */
  readonly freed?: readonly Freed[]
  /** The addition to the receipt of a customer whose personal fields are erased. */
  readonly erasure?: {
    /** Fields whose clearing the service acknowledged; null: no such call. */
    readonly cleared: readonly string[] | null
    /** Fields that a look after an earlier call still showed; null: no GET was made. */
    readonly left: readonly string[] | null
  }
  readonly lastAnswer: {
    readonly method: string
    readonly status: number | null
    readonly error: string | null
  } | null

  // Right by now: findings about these fields are over.

  /** A GET of this claim showed how the user was. */
  readonly looked: boolean
  /** A GET of this claim showed all that is desired, after the last write. */
  readonly verified: boolean
  /** The subject of a clear yes, with the `user_id` the user as a whole, and what is not asked any more. */
  readonly confirmed: readonly UserField[]

  // Other customers who must be looked at again.

  /** Because this one no longer claims their user. */
  readonly noteKeys: readonly CustomerKey[]
  /** Effect of its calls on the user: `known` by the record, `unordered` (other claims may overlap with it), or `unknown`. */
  readonly effect: 'known' | 'unordered' | 'unknown'
  /** Recorded under this `user_id` for the first time: all that claim it are noted. */
  readonly isNew: boolean

  // The memory.

  /** Digest of what the mapping made of the customer. */
  readonly desired: string | null
  readonly record: LedgerRecord
}
