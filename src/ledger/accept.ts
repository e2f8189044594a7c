import type { Client } from '../database/client.ts'
import { committed } from '../database/transaction.ts'
import { LANE } from '../model/customer.ts'
import { OWE_LOOKUP } from './lookups.ts'
import { DUE_NOW, UNDER_WAY } from './note.ts'
import { bindAnew, boundOrigin, type Target } from './target.ts'

/** `same` binds anew and keeps every record; `new` also forgets what is known of the users. Resolves to how many lookups are owed. */
export async function acceptTarget(client: Client, target: Target, as: 'same' | 'new'): Promise<number> {
  return await committed(client, async () => {
    // One decision after the other.
    await client.query('LOCK TABLE rollcall.target IN SHARE ROW EXCLUSIVE MODE')
    const before = await boundOrigin(client)
    await bindAnew(client, target)
    await client.query(GAPS_WAIT_HERE)
    return as === 'new' ? await forget(client, before === target.origin) : 0
  })
}

/** `sameService`: it is the database that went back in time, and the service remembers which trials it has granted. */
async function forget(client: Client, sameService: boolean): Promise<number> {
  // Workers lock these rows in the order of their keys, and an UPDATE of all of them does not.
  await client.query('LOCK TABLE rollcall.owed IN EXCLUSIVE MODE')
  const { rowCount } = await client.query(OWE_LOOKUPS)
  await client.query(FORGET_USERS, [sameService])
  await client.query(FORGET_ENTRIES, [sameService])
  await client.query(FORGET_BRAKE, [sameService])
  if (sameService) await client.query(SWEEP_ALL)
  for (const statement of FORGET) await client.query(statement)
  return rowCount ?? 0
}

/**
 * It is forgotten too that users existed: no absence that these lookups find is part of an accident, and registrations
 * have a limit of their own. At the same service a trial stays remembered, since an ended one must not be granted again, and
 * so does what a person has discarded.
 */
const FORGET_USERS = `
UPDATE rollcall.ledger SET remote = CASE WHEN remote = 'unasked' THEN remote ELSE 'unknown' END, existed = NULL, seen_status = NULL, sent = '{}', seen = '{}',
  sent_status = CASE WHEN $1 AND sent_status = 4 THEN sent_status END,
  refused = '{}', conflict = NULL, discard = CASE WHEN $1 THEN discard END, state = CASE WHEN state = 'rejected' OR ($1 AND state IN ('held', 'discarded')) THEN state ELSE 'idle' END, erased = NULL, verified_at = NULL,
  proved_at = NULL, checked_at = NULL, observed_forms = '{}'`

/** Not for customers about which the service was never asked. Held and discarded customers have to be planned again. */
const OWE_LOOKUPS = `
UPDATE rollcall.owed o SET ${OWE_LOOKUP}, hidden_unknown = true, ${DUE_NOW},
  lane = CASE WHEN o.due_at IS NULL THEN ${LANE.backfill} ELSE o.lane END
FROM rollcall.owed same LEFT JOIN rollcall.ledger l USING (key)
WHERE same.id = o.id AND (${UNDER_WAY} OR o.unknown OR l.remote <> 'unasked' OR l.state <> 'idle')`

/**
 * Changes at another service are no part of a mass at this one. At the same service only what these lookups
 * themselves find is none: else each `new` would let one more limit of revocations through.
 */
const FORGET_BRAKE = `DELETE FROM rollcall.brake WHERE NOT $1 OR kind IN ('absence', 'create')`
const FORGET_ENTRIES = `DELETE FROM rollcall.brake_entry WHERE NOT $1 OR kind IN ('absence', 'create')`

/** A restore may bring a transaction id of another server, which this one reaches after years. */
const GAPS_WAIT_HERE = `
UPDATE rollcall.capture_mark SET resync_after = pg_snapshot_xmax(pg_current_snapshot())::text
WHERE resync_after IS NOT NULL AND resynced_at IS NULL`

/**
 * No table of ours has the changes since the backup: all customers are swept, as after a gap of capture. At another
 * service a customer who was never registered may have been left out on purpose.
 */
const SWEEP_ALL = `
INSERT INTO rollcall.capture_mark (kind, relation, resolved_at, resync_after)
VALUES ('overflow', 'rollcall.target', clock_timestamp(), pg_snapshot_xmax(pg_current_snapshot())::text)`

const FORGET = [
  // Every user has to be checked again: a whole period for that begins with the next check.
  'UPDATE rollcall.pace SET checks_since = NULL',
  'UPDATE rollcall.decided SET spent_at = clock_timestamp() WHERE spent_at IS NULL',
  `UPDATE rollcall.finding SET resolved_at = clock_timestamp(), resolved_how = 'gone', next_check_at = NULL
   WHERE resolved_at IS NULL`,
  `UPDATE rollcall.run SET ended_at = clock_timestamp(), outcome = 'replaced', cursor = NULL
   WHERE kind = 'drift' AND ended_at IS NULL`,
]
