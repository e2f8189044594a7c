import { expect, test } from 'vitest'
import { pruneDrift } from '../../src/drift/prune.ts'
import { freshDatabase } from '../support/database.ts'

test('findings that ended long ago go, and runs as old; open ones stay', async () => {
  await using db = await freshDatabase()
  const { pool } = db
  await pool.query(`INSERT INTO rollcall.finding (key, kind, fields, cause, looks, first_seen, resolved_at) VALUES
    ('open', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', NULL),
    ('fresh', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', now() - interval '29 d'),
    ('old', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', now() - interval '31 d')`)
  await pool.query(`INSERT INTO rollcall.drift_run (options, updated_at, ended_at) VALUES
    ('"old"', now() - interval '31 d', now()), ('"fresh"', now() - interval '29 d', now())`)
  const kept = async () => {
    const { rows } = await pool.query(
      `SELECT (SELECT array_agg(key ORDER BY key) FROM rollcall.finding) AS findings,
         (SELECT array_agg(options #>> '{}' ORDER BY id) FROM rollcall.drift_run) AS runs`,
    )
    return rows[0]
  }
  await pruneDrift(pool, { keepDays: 30, limit: 100 })
  expect(await kept()).toEqual({ findings: ['fresh', 'open'], runs: ['fresh'] })
})
