// Whose finding counts for a run that a worker was ahead of, and whose does not.
import { expect, test } from 'vitest'
import { countFoundLater, metSince } from '../../src/drift/meanwhile.ts'
import { freshDatabase } from '../support/database.ts'

/** Minutes from the beginning of the run: when it was seen last, a repair was owed, a write acknowledged; and its end. */
type Case = readonly [
  what: string,
  seen: number,
  repaired: number | null,
  written: number | null,
  how: string | null,
]

const COUNTS: readonly Case[] = [
  ['seen meanwhile', 1, null, null, null],
  ['seen and repaired meanwhile', 1, 1, 2, 'repaired'],
  ['right again by itself meanwhile', 1, null, null, 'by-itself'],
  ['found before, and put right meanwhile', -5, -5, 2, 'repaired'],
  ['found before, and written meanwhile', -5, -5, 2, null],
]
const DOES_NOT: readonly Case[] = [
  ['found before, and as it was', -5, null, null, null],
  ['found and put right before', -5, -5, -4, 'repaired'],
  ['found before, its repair still owed', -5, -1, -9, null],
  ['found before, and right by itself', -5, null, 2, 'by-itself'],
  ['found before, and changed since', -5, -5, 2, 'by-a-change'],
  ["the service's own form", 1, 1, 2, 'normalised'],
]

test('what was so while the run went on counts; what was over before, or was none, does not', async () => {
  await using db = await freshDatabase()
  const { pool } = db
  const since = '2026-11-22T06:00:00.000Z'
  const at = (minutes: number | null) =>
    minutes === null ? null : new Date(Date.parse(since) + minutes * 60_000).toISOString()
  for (const [what, seen, repaired, written, how] of [...COUNTS, ...DOES_NOT]) {
    await pool.query(`INSERT INTO rollcall.ledger (key, acknowledged_at) VALUES ($1, $2)`, [
      what,
      at(written),
    ])
    await pool.query(
      `INSERT INTO rollcall.finding (key, kind, fields, cause, access, looks, last_seen, repaired_at, resolved_at, resolved_how)
       VALUES ($1, 'differs', '{status}', 'edited-at-service', 'lost', 2, $2, $3, CASE WHEN $4::text IS NOT NULL THEN $5::timestamptz END, $4)`,
      [what, at(seen), at(repaired), how, at(3)],
    )
  }
  await pool.query(
    `INSERT INTO rollcall.finding (key, kind, fields, cause, last_seen) VALUES ('suspected', 'missing', '{}', 'edited-at-service', $1)`,
    [at(1)],
  )
  const keys = [...COUNTS, ...DOES_NOT].map(([what]) => what)
  const met = await metSince(pool, [...keys, 'suspected'], since)
  expect([...met.keys()].sort()).toEqual(COUNTS.map(([what]) => what).sort())
  const seen = met.get('seen meanwhile')
  expect(seen?.verdict).toEqual({
    ...{ kind: 'differs', fields: ['status'], cause: 'edited-at-service', access: 'lost' },
  })

  // Beside those whom the run has counted.
  expect(await countFoundLater(pool, [], since)).toBe(3)
  expect(await countFoundLater(pool, [seen?.findingId ?? ''], since)).toBe(2)
})
