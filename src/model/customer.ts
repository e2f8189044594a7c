import type { UserField } from './user.ts'

/**
 * A customer's key as text, exactly as Postgres prints it: the text of the key column, or, for several key
 * columns, `jsonb_build_array(a::text, b::text)::text`. Triggers, reads and the ledger use this one form.
 */
export type CustomerKey = string

/**
 * A longer key does not fit into an index of Postgres, and noting it would fail for ever, with every key beside
 * it. No customer is lost: a `user_id` has 255 characters at the most, and the customers' own key column an index.
 */
export const LONGEST_KEY_BYTES = 2000
const utf8 = new TextEncoder()

export function fitsIndex(key: CustomerKey): boolean {
  return utf8.encode(key).length <= LONGEST_KEY_BYTES
}

/** Smaller lanes are more urgent. Capture uses the first two, repairs the third, sweeps the last one. */
export const LANE = { deletion: 0, change: 1, repair: 2, backfill: 3 } as const
export type Lane = (typeof LANE)[keyof typeof LANE]
export const LANES: readonly Lane[] = [LANE.deletion, LANE.change, LANE.repair, LANE.backfill]

/** Why a field was left out, in words that hold no value. */
export type FieldIssue = {
  /** `scope`: the configuration's scope function failed, so that it is not known whether the customer is ours. */
  readonly field: UserField | 'scope'
  readonly code:
    | 'invalid'
    | 'several-rows'
    | 'not-in-values'
    | 'function-failed'
    | 'missing'
    | 'refused'
    | 'taken'
  /** The expected form, for example "a DNI or NIE with the right letter". */
  readonly expected: string
}

/** Until when the answer holds, in milliseconds since 1970; absent when only a change can make another of it. */
export type Validity = { readonly validUntilMs?: number }
