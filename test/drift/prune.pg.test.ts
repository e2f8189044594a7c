import { expect, test } from 'vitest'
import { pruneFindings } from '../../src/drift/list.ts'
import { freshDatabase } from '../support/database.ts'

test('findings that ended long ago go; open ones stay', async () => {
  await using db = await freshDatabase()
  const { pool } = db
  await pool.query(`INSERT INTO rollcall.finding (key, kind, fields, cause, looks, first_seen, resolved_at) VALUES
    ('open', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', NULL),
    ('fresh', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', now() - interval '29 d'),
    ('old', 'missing', '{}', 'edited-at-service', 2, now() - interval '99 d', now() - interval '31 d')`)
  expect(await pruneFindings(pool, 30, 100)).toBe(1)
  const { rows } = await pool.query('SELECT key FROM rollcall.finding ORDER BY key')
  expect(rows.map(({ key }) => key)).toEqual(['fresh', 'open'])
})
