import { expect, test } from 'vitest'
import { readQueueState } from '../../src/ledger/lease.ts'
import { LANE } from '../../src/model/customer.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'

const db = ofFile(() => freshDatabase())

test('the lanes with due customers are found without reading the backlog', async () => {
  await using client = await db.session()
  await client.query(
    `INSERT INTO rollcall.owed (key, change_version, lane, due_at)
     SELECT i::text, 1, $1, now() - interval '1 s' FROM generate_series(1, 20000) i`,
    [LANE.backfill],
  )
  await client.query('ANALYZE rollcall.owed')
  await client.query('BEGIN')
  expect(await readQueueState(client)).toEqual({ queued: 0, issued: 0, due: [LANE.backfill] })
  const { rows } = await client.query(
    `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables WHERE relname = 'owed'`,
  )
  expect(rows[0].read).toBeLessThan(10)
})
