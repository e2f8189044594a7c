import { expect, test } from 'vitest'
import { pruneDrift } from '../../src/drift/prune.ts'
import { freshDatabase } from '../support/database.ts'

const DAY = 86_400_000

test('findings that ended long ago go, and runs as old; open ones and the last round stay', async () => {
  await using db = await freshDatabase()
  const { pool } = db
  await pool.query(`INSERT INTO rollcall.finding (key, kind, fields, cause, looks, first_seen, resolved_at) VALUES
    ('open', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', NULL),
    ('fresh', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', now() - interval '29 d'),
    ('old', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', now() - interval '31 d')`)
  await pool.query(`INSERT INTO rollcall.drift_run (kind, options, updated_at, ended_at) VALUES
    ('run', '"old"', now() - interval '31 d', now()), ('run', '"fresh"', now() - interval '29 d', now()),
    ('round', '"earlier"', now() - interval '50 d', now()), ('round', '"last"', now() - interval '40 d', NULL)`)
  const kept = async () => {
    const { rows } = await pool.query(
      `SELECT (SELECT array_agg(key ORDER BY key) FROM rollcall.finding) AS findings,
         (SELECT array_agg(options #>> '{}' ORDER BY id) FROM rollcall.drift_run) AS runs`,
    )
    return rows[0]
  }
  await pruneDrift(pool, { keepDays: 30, periodMs: 30 * DAY, limit: 100 })
  expect(await kept()).toEqual({ findings: ['fresh', 'open'], runs: ['old', 'fresh', 'earlier', 'last'] })
  await pruneDrift(pool, { keepDays: 30, periodMs: 7 * DAY, limit: 100 })
  expect(await kept()).toEqual({ findings: ['fresh', 'open'], runs: ['fresh', 'last'] })

  // One that keeps a finding from being told stays for as long as that is open.
  await pool.query(`WITH doubted AS (INSERT INTO rollcall.drift_run (kind, options, outcome, updated_at, ended_at)
      VALUES ('run', '"doubted"', 'not-credible', now() - interval '31 d', now()) RETURNING id)
    UPDATE rollcall.finding SET run_id = doubted.id FROM doubted WHERE key = 'open'`)
  await pruneDrift(pool, { keepDays: 30, periodMs: 7 * DAY, limit: 100 })
  expect((await kept()).runs).toEqual(['fresh', 'last', 'doubted'])
  await pool.query(`UPDATE rollcall.finding SET resolved_at = now()`)
  await pruneDrift(pool, { keepDays: 30, periodMs: 7 * DAY, limit: 100 })
  expect((await kept()).runs).toEqual(['fresh', 'last'])
})
