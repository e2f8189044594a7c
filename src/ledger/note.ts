import type { CapturedChange, NoteChanges } from '../capture/outbox.ts'
import type { Client } from '../database/client.ts'
import { type CustomerKey, LANE, type Lane } from '../model/customer.ts'

// The common parts of statements that owe a sync; `o` is the row of `rollcall.owed`.

/** A sync has the token. While nothing is due it is that of a check, which writes nothing to the service. */
export const UNDER_WAY = '(o.token IS NOT NULL AND o.due_at IS NOT NULL)'

/** The version rises, and the row is taken from a check at once, whose ending is dropped. */
export const OWE = `change_version = o.change_version + 1,
  token = CASE WHEN o.due_at IS NOT NULL THEN o.token END,
  call_token = CASE WHEN o.due_at IS NOT NULL THEN o.call_token END`

/** And a look comes first: version and suspicion rise together. */
export const OWE_LOOK = `${OWE}, suspect_version = o.change_version + 1, unknown = true`

/** Never before `not_before`: a late request of an earlier call may still arrive until then. */
export const DUE_NOW = `due_at = CASE WHEN ${UNDER_WAY} THEN o.due_at ELSE least(o.due_at, greatest(now(), o.not_before)) END`

/** A waiting customer keeps its time. */
export const DUE_GENTLY = 'due_at = coalesce(o.due_at, greatest(now(), o.not_before))'

/** A waiting customer keeps an earlier lane. */
export const inLane = (lane: string) =>
  `lane = CASE WHEN o.due_at IS NULL THEN ${lane} ELSE least(o.lane, ${lane}) END`

/**
 * After an outcome that was unknown, a request may arrive later than any process waits for it. So two lookups
 * follow: a minute after the one that found the outcome, and ten minutes after that.
 */
export const VERIFICATIONS = 2

/** How long after a look or a write the first verification is due. */
export const VERIFY_FIRST = `interval '1 minute'`

/** How long after the present look the next one is due; in the terms of the statement that counts them down. */
export const VERIFY_AFTER = `CASE o.verify_left WHEN ${VERIFICATIONS} THEN ${VERIFY_FIRST} ELSE interval '10 minutes' END`

/**
 * Notes changes: every customer's version rises by one and it is due at once, with two exceptions. It is never due
 * before `not_before`, until when a late request of an earlier call may arrive. While a token is out, the ending of
 * that claim sees the higher version. Rows are locked in key order: unsorted batches of two processes deadlock.
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

const recordNewCustomersOf = (noted: string) => `
INSERT INTO rollcall.ledger (key, user_id)
SELECT c.key, c.user_id FROM unnest($1::text[], $2::text[]) AS c (key, user_id) ${noted}
ORDER BY c.key COLLATE "C" ON CONFLICT (key) DO NOTHING`

const RECORD_NEW_CUSTOMERS = recordNewCustomersOf('')

/** Customers without a record get an empty one, with nothing but their `user_id`. */
export async function recordNewCustomers(client: Client, customers: readonly NewCustomer[]): Promise<void> {
  if (customers.length > 0) await client.query(RECORD_NEW_CUSTOMERS, columnsOf(customers))
}

/**
 * Notes changes, and records new customers under their `user_id`. A customer whose key changes while its `user_id` stays
 * is two customers for a moment: the revocation of the old one must see the new one.
 */
export function makeNoting(userIdOf: (key: CustomerKey) => string | null): NoteChanges {
  return async (client, changes) => {
    await note(client, changes)
    await recordNewCustomers(
      client,
      changes.map(({ key }) => ({ key, userId: userIdOf(key) })),
    )
  }
}

function columnsOf(customers: readonly NewCustomer[]) {
  return [customers.map(({ key }) => key), customers.map(({ userId }) => userId)]
}

/** Customers of whom no change is known: their keys in $1. They are `unknown` only where the caller says so. */
const noteKeys = (set: string, { lane = '$2', unknown = false } = {}) => `
INSERT INTO rollcall.owed AS o (key, change_version, due_at, lane, unknown)
SELECT k.key, 1, now(), ${lane}, ${unknown} FROM unnest($1::text[]) AS k (key)
ORDER BY k.key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET ${set}, ${inLane('excluded.lane')}`

/** For a resync: one of all customers must not turn every back-off into a burst. */
const NOTE_GENTLY = noteKeys(`${OWE}, ${DUE_GENTLY}`)

/** As a person asks for it: who waits for a later attempt is tried now, because its cause may be gone. */
const NOTE_NOW = noteKeys(`${OWE}, ${DUE_NOW}`)

/**
 * A repair looks first: what it is owed for was seen a moment ago, and is believed only by the claim that acts on it.
 * Only for those whom no sync has under way.
 */
const NOTE_TO_LOOK = noteKeys(`${OWE_LOOK}, ${DUE_GENTLY}`)

export async function noteToLook(client: Client, keys: readonly CustomerKey[]): Promise<void> {
  if (keys.length > 0) await client.query(NOTE_TO_LOOK, [keys, LANE.repair])
}

export async function noteNow(client: Client, keys: readonly CustomerKey[], lane: Lane): Promise<void> {
  if (keys.length > 0) await client.query(NOTE_NOW, [keys, lane])
}

export async function noteGently(client: Client, keys: readonly CustomerKey[], lane: Lane): Promise<void> {
  if (keys.length === 0) return
  await client.query(NOTE_GENTLY, [keys, lane])
}

/**
 * Nothing is known of them, and before they are registered the service is asked whether it has them. Their records come
 * with the note: a record without it would let them be registered unasked, and a note without it be claimed unseen by
 * another customer with the same `user_id`. First the note, as all statements take these locks.
 */
const NOTE_UNKNOWN = `
WITH noted AS (${noteKeys(`${OWE}, ${DUE_GENTLY}, unknown = true`, { lane: '$3', unknown: true })} RETURNING key)
${recordNewCustomersOf('JOIN noted USING (key)')}`

export async function noteUnknown(client: Client, found: readonly NewCustomer[], lane: Lane): Promise<void> {
  if (found.length > 0) await client.query(NOTE_UNKNOWN, [...columnsOf(found), lane])
}

/** The customers for whom a time has passed. While a token is out it waits for the end of that claim. */
const notePassed = (time: string, set: string) => `
WITH passed AS MATERIALIZED (
  SELECT key FROM rollcall.owed o WHERE ${time} <= now() AND NOT ${UNDER_WAY}
  ORDER BY key LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE rollcall.owed o SET ${set}, ${time} = NULL, ${inLane('$2')} FROM passed WHERE o.key = passed.key`

/** Planned again though nothing has changed. A claim that is under way may have read the customer before. */
const NOTE_REPLANS = notePassed('replan_at', `${OWE}, ${DUE_NOW}`)

export async function noteReplans(client: Client, limit: number): Promise<number> {
  const { rowCount } = await client.query(NOTE_REPLANS, [limit, LANE.change])
  return rowCount ?? 0
}

/**
 * A verification is a claim like any other whose remote side is unknown: it GETs and, if something differs, repairs. A
 * suspicion that is noted under a claim would pass for a late request, which makes its status and what no GET shows
 * doubtful.
 */
const NOTE_VERIFICATIONS = notePassed(
  'verify_at',
  `${OWE_LOOK}, ${DUE_GENTLY}, verify_left = o.verify_left - 1`,
)

/** Customers whose next look has come are owed one; resolves to how many. */
export async function noteVerifications(client: Client, limit: number): Promise<number> {
  const { rowCount } = await client.query(NOTE_VERIFICATIONS, [limit, LANE.repair])
  return rowCount ?? 0
}

const VERIFY_NOW = `
WITH asked AS MATERIALIZED (SELECT key FROM rollcall.owed WHERE key = ANY($1) ORDER BY key FOR UPDATE)
UPDATE rollcall.owed o SET verify_at = now(), verify_left = greatest(o.verify_left, 1) FROM asked WHERE o.key = asked.key`

/** These are looked at as soon as nothing is under way for them. */
export async function verifyNow(client: Client, keys: readonly CustomerKey[]): Promise<void> {
  await client.query(VERIFY_NOW, [keys])
}
