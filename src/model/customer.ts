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
