// What is recorded of sweeps: how far each has come, and what it has found.
import type { ClientBase, Pool } from 'pg'
import { CURRENT_FINGERPRINT } from './generation.ts'

type Client = Pick<ClientBase, 'query'>

/**
 * Why everybody is looked at. `backfill`: somebody asked for it; `mapping`: another mapping was applied; `gap`: capture
 * had one; `resync`: the same look without one; `check`: whether capture has missed anything.
 */
export type SweepKind = 'backfill' | 'mapping' | 'gap' | 'resync' | 'check'

/** Where a page begins: among the customers after a key, or among those who have a record and no row any more. */
export type Position = { readonly part: 'customers' | 'gone'; readonly after: readonly string[] | null }

/** What tells one sweep of a kind from another; anything that is written as JSON. */
export type SweepOptions = Readonly<Record<string, unknown>>

type Asked = {
  readonly kind: SweepKind
  readonly generation: string
  readonly options: SweepOptions
  readonly marks: readonly string[]
  /** See `captureVersion`. */
  readonly capture: string
}

/** An unfinished sweep: `tally` is as it was stored, empty at the start. */
export type Unfinished<Tally> = {
  readonly id: string
  readonly position: Position | null
  readonly total: number | null
  readonly tally: Partial<Tally>
}

/** Whether the service is asked before somebody is registered says nothing of whom a sweep is for. */
export const FOR_EVERYBODY = `options - 'lookup' = '{}'`

/** The same, of options that are at hand. */
export function isForEverybody(options: SweepOptions): boolean {
  return Object.keys(options).every((name) => name === 'lookup')
}

const FOUND = `
SELECT id::text, position, total, tally FROM rollcall.sweep
WHERE kind = $1 AND ended_at IS NULL AND generation = $2 AND options = $3 AND marks = $4::bigint[] AND capture = $5`

/** The unfinished sweep of this kind, where it is the same one. */
export async function findUnfinished<Tally>(
  client: Client,
  { kind, generation, options, marks, capture }: Asked,
): Promise<Unfinished<Tally> | null> {
  const { rows } = await client.query<Unfinished<Tally>>({
    text: FOUND,
    values: [kind, generation, JSON.stringify(options), marks, capture],
  })
  return rows[0] ? { ...rows[0], total: rows[0].total === null ? null : Number(rows[0].total) } : null
}

/** Begins one anew; whatever was unfinished of its kind is so for good. Only its owner calls this; see `alone`. */
export async function beginSweep<Tally>(
  pool: Pool,
  { kind, generation, options, marks, capture }: Asked,
  total: number | null,
): Promise<Unfinished<Tally>> {
  await dropSweeps(pool, { kind })
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO rollcall.sweep (kind, generation, options, marks, capture, total)
     VALUES ($1, $2, $3, $4::bigint[], $5, $6) RETURNING id::text`,
    [kind, generation, JSON.stringify(options), marks, capture, total],
  )
  if (!rows[0]) throw new Error('an insert gives its row')
  return { id: rows[0].id, position: null, total, tally: {} }
}

const PROGRESS = `
UPDATE rollcall.sweep SET position = $2, tally = $3, updated_at = clock_timestamp()
WHERE id = $1 AND ended_at IS NULL AND ${CURRENT_FINGERPRINT} = $4 RETURNING id`

type Progress = { readonly position: Position | null; readonly tally: object; readonly fingerprint: string }

/** After the notes of a page were made. False: another mapping was applied, or the sweep was ended by somebody else. */
export async function storeProgress(
  client: Client,
  id: string,
  { position, tally, fingerprint }: Progress,
): Promise<boolean> {
  const values = [id, position && JSON.stringify(position), JSON.stringify(tally), fingerprint]
  return (await client.query(PROGRESS, values)).rowCount === 1
}

/** How many ended sweeps are kept to be shown. */
const KEPT = 100

/** False: it was ended by somebody else. */
export async function endSweep(client: Client, id: string, tally: object): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE rollcall.sweep SET outcome = 'done', tally = $2, ended_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE id = $1 AND ended_at IS NULL`,
    [id, JSON.stringify(tally)],
  )
  return rowCount === 1
}

/** Nobody goes on with them: another mapping was applied, or everybody has been looked at since. */
export async function dropSweeps(client: Client, which: { id: string } | { kind: SweepKind }): Promise<void> {
  await client.query(
    `UPDATE rollcall.sweep SET outcome = 'replaced', ended_at = clock_timestamp()
     WHERE (id = $1 OR kind = $2) AND ended_at IS NULL`,
    'id' in which ? [which.id, null] : [null, which.kind],
  )
}

/** Of each kind the last one that went through stays, however old: who reads it must know what was done. */
export async function pruneSweeps(client: Client): Promise<void> {
  await client.query(
    `DELETE FROM rollcall.sweep s WHERE ended_at IS NOT NULL
       AND id < (SELECT max(id) - ${KEPT} FROM rollcall.sweep)
       AND EXISTS (SELECT FROM rollcall.sweep later
         WHERE later.kind = s.kind AND later.options = s.options AND later.outcome = 'done' AND later.id > s.id)`,
  )
}

/**
 * Everybody was brought in once: from then on a customer of whom nothing is recorded is one whom capture has missed,
 * and not one who was there before it.
 */
export async function everybodyIsIn(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ done: boolean }>(
    `SELECT EXISTS (SELECT FROM rollcall.sweep
       WHERE kind IN ('backfill', 'resync', 'gap') AND outcome = 'done' AND ${FOR_EVERYBODY}) AS done`,
  )
  return rows[0]?.done === true
}
