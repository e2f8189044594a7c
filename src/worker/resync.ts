import pg, { type Pool } from 'pg'
import { closeMarks, endGap, type MarkKind, readGap } from '../capture/gap.ts'
import type { Config } from '../config/config.ts'
import type { noteGently } from '../ledger/note.ts'
import { LANE } from '../model/customer.ts'

const PAGE = 1000

/** How everybody is noted: `noteGently` keeps the waits of those who failed, `noteNow` ends them. */
type Repair = { readonly kinds: readonly MarkKind[]; readonly note: typeof noteGently }

/**
 * Looks at everybody again after capture had a gap: every customer and every record is noted, and the plan
 * finds out who differs. Resolves to how many were noted, or to null while transactions that may belong to
 * the gap are still running; then it is to be called again.
 */
export async function repairGap(pool: Pool, config: Config, { kinds, note }: Repair): Promise<number | null> {
  await closeMarks(pool, kinds)
  const gap = await readGap(pool)
  if (gap.ids.length === 0) return 0
  if (!gap.ready) return null
  const noted = await noteEverybody(pool, config, note)
  await endGap(pool, gap)
  return noted
}

/** Pages through all keys with a cursor; each page is noted in a transaction of its own. */
export async function noteEverybody(pool: Pool, config: Config, note: typeof noteGently): Promise<number> {
  const reader = await pool.connect()
  let noted = 0
  try {
    await reader.query('BEGIN READ ONLY')
    await reader.query(`DECLARE everybody NO SCROLL CURSOR FOR ${everyKey(config)}`)
    for (;;) {
      const { rows } = await reader.query<{ key: string }>(`FETCH ${PAGE} FROM everybody`)
      if (rows.length === 0) return noted
      await note(
        pool,
        rows.map(({ key }) => key),
        LANE.backfill,
      )
      noted += rows.length
    }
  } finally {
    reader.release(true)
  }
}

/** In the customer key's one text form; see customers/read.ts. */
function everyKey({ customers }: Config): string {
  const id = pg.escapeIdentifier
  const texts = customers.key.map((name) => `(c.${id(name)})::text`)
  const key = texts.length === 1 ? texts.join() : `jsonb_build_array(${texts.join(', ')})::text`
  const present = customers.key.map((name) => `c.${id(name)} IS NOT NULL`).join(' AND ')
  const from = `${id(customers.relation.schema)}.${id(customers.relation.name)}`
  return `SELECT (${key}) COLLATE "C" AS key FROM ${from} c WHERE ${present} UNION SELECT key FROM rollcall.ledger`
}
