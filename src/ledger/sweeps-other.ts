// What another process is at.
import type { ClientBase } from 'pg'
import type { SweepOptions } from './sweeps.ts'

type Client = Pick<ClientBase, 'query'>

/** The unfinished backfill; `same`: it is for the same customers, in the same way. */
export type OtherBackfill = { readonly id: string; readonly same: boolean }

export async function readOtherBackfill(
  client: Client,
  options: SweepOptions,
): Promise<OtherBackfill | null> {
  const { rows } = await client.query<OtherBackfill>(
    `SELECT id::text, options = $1 AS same FROM rollcall.sweep WHERE kind = 'backfill' AND ended_at IS NULL`,
    [JSON.stringify(options)],
  )
  return rows[0] ?? null
}

/** What a sweep has found, once it has gone through; null before, and where it was given up. */
export async function readDone<Tally>(client: Client, id: string): Promise<Partial<Tally> | null> {
  const { rows } = await client.query<{ tally: Partial<Tally> }>(
    `SELECT tally FROM rollcall.sweep WHERE id = $1 AND outcome = 'done'`,
    [id],
  )
  return rows[0]?.tally ?? null
}
