// What is known without a call: each customer stands in one place, and the places add up.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readKnownOfAll, readOpenFound } from '../../src/drift/found.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { runs } from '../support/size.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await freshDatabase()
})
afterAll(() => db.drop())

const customer = fc.record({
  /** Null: without a record. */
  state: fc.constantFrom(null, 'idle', 'idle', 'failing', 'rejected', 'held', 'discarded'),
  remote: fc.constantFrom('unasked', 'unknown', 'absent', 'present'),
  owed: fc.constantFrom('nothing', 'due', 'checked', 'unknown'),
  /** Days ago. */
  looked: fc.constantFrom(null, 1, 9),
  finding: fc.constantFrom(null, null, 'suspected', 'told'),
  kind: fc.constantFrom('missing', 'missing', 'trial-ended'),
})
type Customer = typeof customer extends fc.Arbitrary<infer T> ? T : never

const INSERT = `
WITH c AS MATERIALIZED (
  SELECT n::text AS key, c.* FROM jsonb_array_elements($1) WITH ORDINALITY e (c, n),
    jsonb_to_record(e.c) AS c (state text, remote text, owed text, looked int, finding text, kind text)),
owed AS (
  INSERT INTO rollcall.owed (key, change_version, lane, due_at, call_token, unknown)
  SELECT key, 1, 1, CASE owed WHEN 'due' THEN now() END, CASE owed WHEN 'checked' THEN 7 END, owed = 'unknown'
  FROM c WHERE state IS NOT NULL),
found AS (
  INSERT INTO rollcall.finding (key, kind, fields, looks)
  SELECT key, kind, '{}', CASE finding WHEN 'suspected' THEN 1 ELSE 2 END
  FROM c WHERE finding IS NOT NULL)
INSERT INTO rollcall.ledger (key, state, remote, looked_at)
SELECT key, state, remote, now() - looked * interval '1 day' FROM c WHERE state IS NOT NULL`

function placeOf({ state, remote, owed, looked, finding, kind }: Customer): string {
  if (finding === 'told' && (state !== 'held' || kind !== 'trial-ended')) return 'found'
  if (state === 'rejected' || state === 'held' || state === 'discarded') return state
  if (finding !== null) return finding === 'suspected' ? 'suspected' : 'not looked at'
  if (state === null) return 'nowhere'
  if (remote === 'unasked')
    return state === 'failing' || owed === 'due' || owed === 'unknown' ? 'owed' : 'not-ours'
  return looked === 1 ? 'agrees' : 'not looked at'
}

test('each customer stands in one place, and the places add up to the population', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(customer, { maxLength: 40 }), async (customers) => {
      await db.pool.query('TRUNCATE rollcall.ledger, rollcall.owed, rollcall.finding')
      await db.pool.query(INSERT, [JSON.stringify(customers)])
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
      expect(chosen).toBe(tally.checked + suspected + many('not looked at'))
      expect(population).toBe(customers.length - many('nowhere'))
    }),
    { numRuns: runs(60) },
  )
})
