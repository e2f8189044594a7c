import type { Pool } from 'pg'
import { type Client, oneRow } from '../database/client.ts'
import { isoSeconds } from '../database/sql.ts'
import { inTransaction } from '../database/transaction.ts'
import { RollcallError } from '../model/errors.ts'

/** The active mapping. `current`: it is the one that was asked about. */
export type MappingStatus = {
  readonly generation: string
  readonly appliedAt: string
  /** All customers that differ under it have been noted. */
  readonly swept: boolean
  readonly current: boolean
  /** Our mapping was active before: this process is older than the one that applied the active mapping. */
  readonly earlier: boolean
}

/** The active mapping, for guards in other statements. */
export const CURRENT_FINGERPRINT = '(SELECT fingerprint FROM rollcall.generation ORDER BY id DESC LIMIT 1)'
export const CURRENT_GENERATION = '(SELECT max(id) FROM rollcall.generation)'

/**
 * A CTE for statements that act on the active generation: a process that applies another one waits for them to commit, and
 * they for it. It locks the table alone, before the statement's snapshot. No statement reads it.
 */
export const LOCK_GENERATION =
  'generation_locked AS (SELECT FROM rollcall.generation WHERE false FOR KEY SHARE)'

const NOTHING_SENT = `NOT EXISTS (SELECT FROM rollcall.ledger WHERE generation IS NOT NULL)
  AND NOT EXISTS (SELECT FROM rollcall.owed WHERE unknown OR due_at IS NOT NULL AND call_token IS NOT NULL)`

/** Nothing was ever sent by another mapping, so that no customer has to be swept for. */
const ADOPT = `
INSERT INTO rollcall.generation (id, fingerprint, swept_at)
SELECT coalesce(${CURRENT_GENERATION}, 0) + 1, $1, clock_timestamp()
WHERE ${CURRENT_FINGERPRINT} IS NULL OR ${CURRENT_FINGERPRINT} <> $1 AND ${NOTHING_SENT}`

const STANDING = `
SELECT id::text AS generation, fingerprint = $1 AS current, swept_at IS NOT NULL AS swept,
  ${isoSeconds('applied_at')} AS "appliedAt",
  fingerprint <> $1 AND EXISTS (SELECT FROM rollcall.generation WHERE fingerprint = $1) AS earlier
FROM rollcall.generation ORDER BY id DESC LIMIT 1`

/** Where a process with this mapping stands; null on a ledger that has met none. */
export async function findMapping(client: Client, fingerprint: string): Promise<MappingStatus | null> {
  return (await client.query<MappingStatus>(STANDING, [fingerprint])).rows[0] ?? null
}

/** As `findMapping`, for those who work before the tables are there. */
export async function findMappingIfAny(client: Client, fingerprint: string): Promise<MappingStatus | null> {
  const exists = `SELECT to_regclass('rollcall.generation') IS NOT NULL AS there`
  return (await oneRow<{ there: boolean }>(client, exists)).there
    ? await findMapping(client, fingerprint)
    : null
}

/** As `findMapping`, after adopting this mapping where nothing was ever sent by another. */
export async function bindGeneration(pool: Pool, fingerprint: string): Promise<MappingStatus> {
  const found = await findMapping(pool, fingerprint)
  if (found?.current) return found
  await addGeneration(pool, ADOPT, fingerprint)
  const bound = await findMapping(pool, fingerprint)
  if (!bound) throw new Error('a ledger has a generation once one was bound')
  return bound
}

const APPLY = `
INSERT INTO rollcall.generation (id, fingerprint)
SELECT coalesce(${CURRENT_GENERATION}, 0) + 1, $1
WHERE ${CURRENT_FINGERPRINT} IS DISTINCT FROM $1`

/** Makes this mapping the active one. Processes with another one become inactive. False: it is active already. */
export async function applyGeneration(pool: Pool, fingerprint: string): Promise<boolean> {
  return await addGeneration(pool, APPLY, fingerprint)
}

/** A difference by the former mapping may be none by this one. */
const CHECK_AGAIN = `UPDATE rollcall.finding SET next_check_at = now() WHERE resolved_at IS NULL AND next_check_at IS NULL`

/** The table is locked against claims: each claim is either visible here, or made with the new mapping. */
async function addGeneration(pool: Pool, statement: string, fingerprint: string): Promise<boolean> {
  return await inTransaction(pool, 0, async (client) => {
    await client.query('LOCK TABLE rollcall.generation IN EXCLUSIVE MODE')
    const { rowCount } = await client.query(statement, [fingerprint])
    if (rowCount === 1) await client.query(CHECK_AGAIN)
    return rowCount === 1
  })
}

export async function markSwept(client: Client, generation: string): Promise<void> {
  await client.query(
    'UPDATE rollcall.generation SET swept_at = clock_timestamp() WHERE id = $1 AND swept_at IS NULL',
    [generation],
  )
}

/** For a command whose mapping is not active. */
export function mappingChanged({ generation, appliedAt, earlier }: MappingStatus): RollcallError {
  const present = `mapping generation ${generation} is active, applied ${appliedAt}`
  return new RollcallError('MAPPING_CHANGED', [earlier ? `${present}; it replaced this mapping` : present])
}
