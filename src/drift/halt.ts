// The share of drift as it is stored: what was verified lately, and whether repairs wait.
import type { ClientBase } from 'pg'
import { listed } from '../ledger/sql.ts'
import { type Share, shareOfLatest, withLatest } from './share.ts'
import { REPAIRABLE_KINDS } from './words.ts'

type Client = Pick<ClientBase, 'query'>

const MAKE = 'INSERT INTO rollcall.drift_share (id) VALUES (1) ON CONFLICT (id) DO NOTHING'
const LOCK = `
SELECT recent, released_to::text AS "releasedTo" FROM rollcall.drift_share WHERE id = 1 FOR UPDATE`
const ADD = `
UPDATE rollcall.drift_share SET recent = $1,
  halted_at = CASE WHEN $2 THEN coalesce(halted_at, clock_timestamp()) END WHERE id = 1`

export type Counted = Share & {
  /** Findings up to this one may be repaired all the same. */
  readonly releasedTo: bigint
}

/**
 * Counts those who were verified, before any of them is repaired: of a batch in which everybody is missing nobody is
 * created. The row is locked until the transaction ends, so that two processes do not both read "one below the limit".
 */
export async function countVerified(client: Client, latest: string, maxShare: number): Promise<Counted> {
  await client.query(MAKE)
  const { rows } = await client.query<{ recent: string; releasedTo: string }>(LOCK)
  const recent = withLatest(rows[0]?.recent ?? '', latest)
  const share = shareOfLatest(recent, maxShare)
  await client.query(ADD, [recent, share.over])
  return { ...share, releasedTo: BigInt(rows[0]?.releasedTo ?? 0) }
}

const RELEASE = `
INSERT INTO rollcall.drift_share AS s (id, released_to, released_at, released_by, released_why)
VALUES (1, (SELECT coalesce(max(id), 0) FROM rollcall.finding), clock_timestamp(), $1, $2)
ON CONFLICT (id) DO UPDATE SET recent = '', halted_at = NULL, released_to = excluded.released_to,
  released_at = excluded.released_at, released_by = excluded.released_by, released_why = excluded.released_why`

/** Those that wait are looked at once more before they are repaired: much may have changed meanwhile. */
const LOOK_NOW = `
UPDATE rollcall.finding SET next_look_at = clock_timestamp()
WHERE resolved_at IS NULL AND looks >= 2 AND kind IN (${listed(REPAIRABLE_KINDS)})`

/** A person's word that what is found by now is to be repaired, whatever its share is; the brake goes on to count. */
export async function releaseRepairs(
  client: Client,
  { by, why }: { readonly by: string; readonly why: string },
): Promise<number> {
  await client.query(RELEASE, [by, why])
  const { rowCount } = await client.query(LOOK_NOW)
  return rowCount ?? 0
}
