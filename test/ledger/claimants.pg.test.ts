import { expect, test } from 'vitest'
import { noteOthers } from '../../src/ledger/claimants.ts'
import { freshDatabase } from '../support/database.ts'
import { EMPTY_RECORD, endingOf } from '../support/ending.ts'
import { until } from '../support/until.ts'

test('who settles at the same moment, in another process, is sent to a lookup', async () => {
  await using db = await freshDatabase()
  await db.sql(
    `INSERT INTO rollcall.ledger (key, user_id, settled_at) SELECT k, 'u', now() - interval '1 hour' FROM unnest(ARRAY['a', 'b']) k;
     INSERT INTO rollcall.owed (key, change_version, lane, due_at) SELECT k, 1, 1, now() + interval '1 minute' FROM unnest(ARRAY['a', 'b']) k`,
  )
  const claim = { key: 'a', nowMs: Date.now() - 1000 }
  await using other = await db.session()
  await other.query('BEGIN')
  await other.query(`UPDATE rollcall.owed SET due_at = NULL WHERE key = 'b'`)
  await other.query(`UPDATE rollcall.ledger SET settled_at = now() WHERE key = 'b'`)
  const record = { ...EMPTY_RECORD, userId: 'u' }
  const noted = noteOthers(db.pool, [endingOf('1', { claim, record, others: { effect: 'known' } })])
  const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await until(async () => (await db.sql(waits)).rowCount)
  await other.query('COMMIT')
  await noted
  const { rows } = await db.sql('SELECT key, unknown, hidden_unknown FROM rollcall.owed ORDER BY key')
  expect(rows).toEqual([
    { key: 'a', unknown: false, hidden_unknown: false },
    { key: 'b', unknown: true, hidden_unknown: false },
  ])
})
