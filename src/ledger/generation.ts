import type { ClientBase } from 'pg'

type Client = Pick<ClientBase, 'query'>

/** The mapping that syncs go by, and whether it is the one that was asked about. */
export type Standing = {
  readonly generation: string
  readonly current: boolean
  /** Ours was gone by before: this process is older than the one in charge. */
  readonly earlier: boolean
}

/** The statement of the mapping that syncs go by, for guards in other statements. */
export const CURRENT_FINGERPRINT = '(SELECT fingerprint FROM rollcall.generation ORDER BY id DESC LIMIT 1)'
export const CURRENT_GENERATION = '(SELECT max(id) FROM rollcall.generation)'

/** The first mapping that a ledger meets is the one it goes by: nothing was ever sent by another. */
const FIRST = `
INSERT INTO rollcall.generation (id, fingerprint)
SELECT 1, $1 WHERE NOT EXISTS (SELECT FROM rollcall.generation) ON CONFLICT (id) DO NOTHING`

const STANDING = `
SELECT id::text AS generation, fingerprint = $1 AS current,
  EXISTS (SELECT FROM rollcall.generation WHERE fingerprint = $1) AS earlier
FROM rollcall.generation ORDER BY id DESC LIMIT 1`

/** Where a process with this mapping stands; null on a ledger that has met none. */
export async function readStanding(client: Client, fingerprint: string): Promise<Standing | null> {
  const { rows } = await client.query<Standing>(STANDING, [fingerprint])
  const [row] = rows
  return row ? { ...row, earlier: row.earlier && !row.current } : null
}

/** As `readStanding`, on a fresh ledger after making this mapping the first. */
export async function bindGeneration(client: Client, fingerprint: string): Promise<Standing> {
  const found = await readStanding(client, fingerprint)
  if (found) return found
  await client.query(FIRST, [fingerprint])
  const first = await readStanding(client, fingerprint)
  if (!first) throw new Error('a ledger has a generation once one was bound')
  return first
}

/** From here on syncs go by this mapping; every process with another one stands back. Nothing when it is so already. */
export async function applyGeneration(client: Client, fingerprint: string): Promise<void> {
  await client.query(
    `INSERT INTO rollcall.generation (id, fingerprint)
     SELECT coalesce(${CURRENT_GENERATION}, 0) + 1, $1
     WHERE ${CURRENT_FINGERPRINT} IS DISTINCT FROM $1`,
    [fingerprint],
  )
}
