// The share of drift as it is stored: what was verified lately, and whether repairs wait.
import type { ClientBase } from 'pg'
import { listed } from '../ledger/sql.ts'
import { type Share, shareOfLatest, withLatest } from './share.ts'
import { REPAIRABLE_KINDS } from './words.ts'

type Client = Pick<ClientBase, 'query'>

const MAKE = 'INSERT INTO rollcall.drift_share (id) VALUES (1) ON CONFLICT (id) DO NOTHING'
const LOCK = 'SELECT recent FROM rollcall.drift_share WHERE id = 1 FOR UPDATE'
const ADD = `
UPDATE rollcall.drift_share SET recent = $1,
  halted_at = CASE WHEN $2 THEN coalesce(halted_at, clock_timestamp()) END WHERE id = 1`

/**
 * Counts those who were verified, before any of them is repaired: of a batch in which everybody is missing nobody is
 * created. The row is locked until the transaction ends, so that two processes do not both read "one below the limit".
 */
export async function countVerified(client: Client, latest: string, maxShare: number): Promise<Share> {
  await client.query(MAKE)
  const { rows } = await client.query<{ recent: string }>(LOCK)
  const recent = withLatest(rows[0]?.recent ?? '', latest)
  const share = shareOfLatest(recent, maxShare)
  await client.query(ADD, [recent, share.over])
  return share
}

const SAID = `
INSERT INTO rollcall.drift_share AS s (id, released_at, released_by, released_why)
VALUES (1, clock_timestamp(), $1, $2)
ON CONFLICT (id) DO UPDATE SET recent = CASE WHEN $3 THEN '' ELSE s.recent END,
  halted_at = CASE WHEN $3 THEN NULL ELSE s.halted_at END,
  released_at = excluded.released_at, released_by = excluded.released_by, released_why = excluded.released_why`

/** They are looked at once more before they are repaired: much may have changed meanwhile. */
const RELEASE = `
UPDATE rollcall.finding f SET released = true, next_look_at = clock_timestamp()
WHERE f.id = ANY($1::bigint[]) AND f.resolved_at IS NULL AND f.looks >= 2 AND f.kind IN (${listed(REPAIRABLE_KINDS)})`

type Release = {
  readonly by: string
  readonly why: string
  /** Ids of findings; the word holds for these alone, and not for what differs beside them or later. */
  readonly found: readonly string[]
  /** They are of a run over everybody: counting begins anew, since this mass is meant. Beside a part another may wait. */
  readonly everybody: boolean
}

/** A person's word that these are to be repaired, whatever their share is; the brake goes on to count. */
export async function releaseRepairs(
  client: Client,
  { by, why, found, everybody }: Release,
): Promise<number> {
  await client.query(SAID, [by, why, everybody])
  const { rowCount } = await client.query(RELEASE, [found])
  return rowCount ?? 0
}
