// Notes of customers about which no change is known.
import type { Client } from '../database/client.ts'
import { type CustomerKey, LANE, type Lane } from '../model/customer.ts'
import { OWE_LOOKUP } from './lookups.ts'
import {
  customerColumns,
  DUE_GENTLY,
  DUE_NOW,
  inLane,
  LOCK_OWED,
  type NewCustomer,
  OWE,
  recordNewCustomersOf,
  UNDER_WAY,
} from './note.ts'

/** Their keys in $1. They are `unknown` only where the caller says so. */
const noteKeys = (set: string, { lane = '$2', unknown = false } = {}) => `
INSERT INTO rollcall.owed AS o (key, change_version, due_at, lane, unknown)
SELECT k.key, 1, now(), ${lane}, ${unknown} FROM unnest($1::text[]) AS k (key)
ORDER BY k.key COLLATE "C"
ON CONFLICT (key) DO UPDATE SET ${set}, ${inLane('excluded.lane')}`

const noting = (set: string) => async (client: Client, keys: readonly CustomerKey[], lane: Lane) => {
  if (keys.length > 0) await client.query(noteKeys(set), [keys, lane])
}

/** For a resync: one of all customers must not turn every back-off into a burst. */
export const noteGently = noting(`${OWE}, ${DUE_GENTLY}`)

/** A person asks for it: a customer that waits for a later attempt is tried now, because the cause may be gone. */
export const noteNow = noting(`${OWE}, ${DUE_NOW}`)

/** A repair makes a lookup first, since its finding may be out of date. If a sync is under way, one more lookup follows it. */
export const noteLookup = noting(`${OWE_LOOKUP}, ${DUE_GENTLY}`)

/**
 * Nothing is known of them, and before they are registered the service is asked whether it has them. Their records come
 * with the note: a record without it would let them be registered unasked. Without a record, no claim of another customer
 * with the same `user_id` would see them. First the note, as all statements take these locks.
 */
const NOTE_UNKNOWN = `
WITH noted AS (${noteKeys(`${OWE}, ${DUE_GENTLY}, unknown = true`, { lane: '$3', unknown: true })} RETURNING key)
${recordNewCustomersOf('JOIN noted USING (key)')}`

export async function noteUnknown(client: Client, found: readonly NewCustomer[], lane: Lane): Promise<void> {
  if (found.length > 0) await client.query(NOTE_UNKNOWN, [...customerColumns(found), lane])
}

/** Notes customers whose time has passed; resolves to how many. While a token is out, the time waits for the claim's end. */
const notingPassed = (time: string, set: string, lane: Lane) => async (client: Client, limit: number) =>
  (await client.query(notePassed(time, set), [limit, lane])).rowCount ?? 0

const notePassed = (time: string, set: string) => `
WITH passed AS MATERIALIZED (
  SELECT key FROM rollcall.owed o WHERE ${time} <= now() AND NOT ${UNDER_WAY}
  ORDER BY key LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE rollcall.owed o SET ${set}, ${time} = NULL, ${inLane('$2')} FROM passed WHERE o.key = passed.key`

/** Planned again though nothing has changed. A claim that is under way may have read the customer before. */
export const noteReplans = notingPassed('replan_at', `${OWE}, ${DUE_NOW}`, LANE.change)

/**
 * A verification is a claim like any other whose remote side is unknown: it GETs and, if something differs, repairs. It
 * waits for the end of a claim: noted during it, it would keep the status and the `country_code` unknown, as a late request does.
 */
export const noteVerifications = notingPassed(
  'verify_at',
  `${OWE_LOOKUP}, ${DUE_GENTLY}, verify_left = o.verify_left - 1`,
  LANE.repair,
)

const VERIFY_NOW = `
WITH asked AS MATERIALIZED (${LOCK_OWED})
UPDATE rollcall.owed o SET verify_at = now(), verify_left = greatest(o.verify_left, 1) FROM asked WHERE o.key = asked.key`

/** These are looked up as soon as nothing is under way for them. */
export async function verifyNow(client: Client, keys: readonly CustomerKey[]): Promise<void> {
  await client.query(VERIFY_NOW, [keys])
}
