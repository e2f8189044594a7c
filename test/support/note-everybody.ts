import type { Pool } from 'pg'
import { noteNow } from '../../src/ledger/note.ts'
import { LANE } from '../../src/model/customer.ts'

/** Notes every customer of `clientes` and of the ledger, whether they differ or not. */
export async function noteEverybody(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ key: string }>(
    'SELECT id AS key FROM clientes UNION SELECT key FROM rollcall.ledger',
  )
  await noteNow(
    pool,
    rows.map(({ key }) => key),
    LANE.backfill,
  )
}
