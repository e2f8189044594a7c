import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countFoundLater, metSince, readKnownOfAll, readOpenFound } from '../../src/drift/found.ts'
import { freshDatabase } from '../support/database.ts'
import { ofFile } from '../support/of-file.ts'
import { runs } from '../support/size.ts'

const db = ofFile(() => freshDatabase())

const customer = fc.record({
  /** Null: without a record. */
  state: fc.constantFrom(null, 'idle', 'idle', 'failing', 'rejected', 'held', 'discarded'),
  remote: fc.constantFrom('unasked', 'unknown', 'absent', 'present'),
  owed: fc.constantFrom('nothing', 'due', 'checked', 'unknown'),
  /** Days ago. */
  checked: fc.constantFrom(null, 1, 9),
  finding: fc.constantFrom(null, null, 'suspected', 'reported'),
  kind: fc.constantFrom('missing', 'missing', 'trial-ended'),
})
type Customer = typeof customer extends fc.Arbitrary<infer T> ? T : never

const INSERT = `
WITH c AS MATERIALIZED (
  SELECT n::text AS key, c.* FROM jsonb_array_elements($1) WITH ORDINALITY e (c, n),
    jsonb_to_record(e.c) AS c (state text, remote text, owed text, checked int, finding text, kind text)),
owed AS (
  INSERT INTO rollcall.owed (key, change_version, lane, due_at, call_token, unknown)
  SELECT key, 1, 1, CASE owed WHEN 'due' THEN now() END, CASE owed WHEN 'checked' THEN 7 END, owed = 'unknown'
  FROM c WHERE state IS NOT NULL),
found AS (
  INSERT INTO rollcall.finding (key, kind, fields, checks)
  SELECT key, kind, '{}', CASE finding WHEN 'suspected' THEN 1 ELSE 2 END
  FROM c WHERE finding IS NOT NULL)
INSERT INTO rollcall.ledger (key, state, remote, checked_at)
SELECT key, state, remote, now() - checked * interval '1 day' FROM c WHERE state IS NOT NULL`

function placeOf({ state, remote, owed, checked, finding, kind }: Customer): string {
  if (finding === 'reported' && (state !== 'held' || kind !== 'trial-ended')) return 'found'
  if (state === 'rejected' || state === 'held' || state === 'discarded') return state
  if (finding !== null) return finding === 'suspected' ? 'suspected' : 'not checked'
  if (state === null) return 'nowhere'
  if (remote === 'unasked')
    return state === 'failing' || owed === 'due' || owed === 'unknown' ? 'owed' : 'not-ours'
  return checked === 1 ? 'agrees' : 'not checked'
}

test('each customer stands in one place, and the places add up to the population', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(customer, { maxLength: 40 }), async (customers) => {
      await db.sql('TRUNCATE rollcall.ledger, rollcall.owed, rollcall.finding')
      await db.sql(INSERT, [JSON.stringify(customers)])
      const places = customers.map(placeOf)
      const many = (place: string) => places.filter((each) => each === place).length
      const week = 7 * 86_400_000
      const known = await readKnownOfAll(db.pool, await readOpenFound(db.pool), week)
      const { population, chosen, suspected, tally } = known
      expect({ suspected, checked: tally.checked, agrees: tally.agrees, skipped: tally.skipped }).toEqual({
        ...{ suspected: many('suspected'), agrees: many('agrees'), checked: many('agrees') + many('found') },
        skipped: Object.fromEntries(
          ['owed', 'not-ours', 'rejected', 'held', 'discarded']
            .map((why) => [why, many(why)] as const)
            .filter(([, count]) => count > 0),
        ),
      })
      expect(chosen).toBe(tally.checked + suspected + many('not checked'))
      expect(population).toBe(customers.length - many('nowhere'))
    }),
    { numRuns: runs(60) },
  )
})

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
  const { pool } = db
  await pool.query('TRUNCATE rollcall.ledger, rollcall.owed, rollcall.finding')
  const since = '2026-11-22T06:00:00.000Z'
  const at = (minutes: number | null) =>
    minutes === null ? null : new Date(Date.parse(since) + minutes * 60_000).toISOString()
  for (const [what, seen, repaired, written, how] of [...COUNTS, ...DOES_NOT]) {
    await pool.query(`INSERT INTO rollcall.ledger (key, acknowledged_at) VALUES ($1, $2)`, [
      what,
      at(written),
    ])
    await pool.query(
      `INSERT INTO rollcall.finding (key, kind, fields, cause, access, checks, last_seen, repaired_at, resolved_at, resolved_how)
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

  // Beside the customers that the run has counted.
  expect(await countFoundLater(pool, [], since)).toBe(3)
  expect(await countFoundLater(pool, [seen?.findingId ?? ''], since)).toBe(2)
})
