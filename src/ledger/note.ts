import type { CapturedChange, NoteChanges } from '../capture/outbox.ts'
import type { Client } from '../database/client.ts'
import type { CustomerKey } from '../model/customer.ts'

/** A transaction takes these locks before any other, in key order: so no two transactions wait for each other. */
export const LOCK_OWED = 'SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE'

// The common parts of statements that owe a sync; `o` is the row of `rollcall.owed`.

/** A sync has the token: leased, or claimed. If `due_at` is null, a check has it, which writes nothing to the service. */
export const UNDER_WAY = '(o.token IS NOT NULL AND o.due_at IS NOT NULL)'

/** For a person: the time of a lease or of a claim has not passed. After that its process has ended, or stands still. */
export const ATTEMPTED = `(${UNDER_WAY} AND o.due_at > now())`

/** The version rises, and the row is taken from a check at once, whose ending is dropped. Plain: both tokens stay null. */
export const OWE = `change_version = o.change_version + 1,
  token = CASE WHEN o.due_at IS NOT NULL THEN o.token END,
  call_token = CASE WHEN o.due_at IS NOT NULL THEN o.call_token END`

/** Never before `not_before`: the end of the pause since the last settle, or of the wait for a late request. least() and greatest() pass over NULL. */
export const DUE_NOW = `due_at = CASE WHEN ${UNDER_WAY} THEN o.due_at ELSE least(o.due_at, greatest(now(), o.not_before)) END`

/** A waiting customer keeps its time. */
export const DUE_GENTLY = 'due_at = coalesce(o.due_at, greatest(now(), o.not_before))'

/** A waiting customer keeps an earlier lane. */
export const inLane = (lane: string) =>
  `lane = CASE WHEN o.due_at IS NULL THEN ${lane} ELSE least(o.lane, ${lane}) END`

/**
 * Plain: `change_version` + 1, `due_at` = now, `changed_at` = the time of the change.
 *
 * Notes changes: every customer's version rises by one and it is due at once, with two exceptions. It is never due
 * before `not_before`. While a lease or a claim has the row `due_at` stays, and the ending sees the higher version. Rows are locked in key order: unsorted batches of two processes deadlock.
 */
const NOTE = `
INSERT INTO rollcall.owed AS o (key, change_version, due_at, lane, changed_at)
SELECT c.key, 1, now(), c.lane, c.at
FROM unnest($1::text[], $2::smallint[], $3::timestamptz[]) AS c (key, lane, at)
ORDER BY c.key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET ${OWE}, ${inLane('excluded.lane')}, ${DUE_NOW},
  changed_at = least(o.changed_at, excluded.changed_at)`

export async function note(client: Client, changes: readonly CapturedChange[]): Promise<void> {
  if (changes.length === 0) return
  await client.query(NOTE, [
    changes.map((change) => change.key),
    changes.map((change) => change.lane),
    changes.map((change) => change.at),
  ])
}

/** `userId`: null where the key makes none. */
export type NewCustomer = { readonly key: CustomerKey; readonly userId: string | null }

export const recordNewCustomersOf = (noted = '') => `
INSERT INTO rollcall.ledger (key, user_id)
SELECT c.key, c.user_id FROM unnest($1::text[], $2::text[]) AS c (key, user_id) ${noted}
ORDER BY c.key COLLATE "C" ON CONFLICT (key) DO NOTHING`

/** Customers without a record get an empty one, with nothing but their `user_id`. */
export async function recordNewCustomers(client: Client, customers: readonly NewCustomer[]): Promise<void> {
  if (customers.length > 0) await client.query(recordNewCustomersOf(), customerColumns(customers))
}

/**
 * Notes changes, and records new customers under their `user_id`. A customer whose key changes while its `user_id` stays
 * is two customers for a moment: the revocation of the old one must see the new one.
 */
export function makeNoting(userIdFor: (key: CustomerKey) => string | null): NoteChanges {
  return async (client, changes) => {
    await note(client, changes)
    await recordNewCustomers(
      client,
      changes.map(({ key }) => ({ key, userId: userIdFor(key) })),
    )
  }
}

export function customerColumns(customers: readonly NewCustomer[]) {
  return [customers.map(({ key }) => key), customers.map(({ userId }) => userId)]
}
