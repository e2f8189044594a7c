import { expect, test } from 'vitest'
import { applyGeneration, bindGeneration, findMapping, markSwept } from '../../src/ledger/generation.ts'
import { freshDatabase } from '../support/database.ts'

test('the first mapping that a ledger meets is the one it goes by, with no customer to be swept', async () => {
  await using db = await freshDatabase()
  expect(await findMapping(db.pool, 'a')).toBe(null)
  expect(await bindGeneration(db.pool, 'a')).toMatchObject({ generation: '1', current: true, swept: true })
})

test('while nothing was ever sent, any other mapping takes its place, and none once something was', async () => {
  await using db = await freshDatabase()
  await Promise.all([bindGeneration(db.pool, 'a'), bindGeneration(db.pool, 'b')])
  expect(await bindGeneration(db.pool, 'a')).toMatchObject({ current: true, swept: true, earlier: false })
  await db.sql(`INSERT INTO rollcall.owed (key, change_version, lane, due_at, token, call_token)
    VALUES ('c', 1, 1, now(), 1, 1)`)
  expect(await bindGeneration(db.pool, 'b')).toMatchObject({ current: false })
  await db.sql('TRUNCATE rollcall.owed')
  expect(await bindGeneration(db.pool, 'b')).toMatchObject({ current: true })
  await db.sql(`INSERT INTO rollcall.ledger (key, generation) VALUES ('c', 1)`)
  expect(await bindGeneration(db.pool, 'a')).toMatchObject({ current: false, earlier: true })
})

test('a mapping that is applied replaces the one before, which is an earlier one from then on', async () => {
  await using db = await freshDatabase()
  await bindGeneration(db.pool, 'a')
  expect(await applyGeneration(db.pool, 'b')).toBe(true)
  expect(await applyGeneration(db.pool, 'b')).toBe(false)
  expect(await findMapping(db.pool, 'a')).toMatchObject({ generation: '2', current: false, earlier: true })
  expect(await findMapping(db.pool, 'b')).toMatchObject({ current: true, earlier: false, swept: false })
  expect(await findMapping(db.pool, 'c')).toMatchObject({ current: false, earlier: false })
  expect(await applyGeneration(db.pool, 'a')).toBe(true)
  expect(await findMapping(db.pool, 'a')).toMatchObject({ generation: '3', current: true, swept: false })
  await markSwept(db.pool, '3')
  expect(await findMapping(db.pool, 'a')).toMatchObject({ swept: true })
})

test('applied at once by several, each has its turn, and none is lost', async () => {
  await using db = await freshDatabase()
  const all = ['b', 'c', 'd', 'e'].map((fingerprint) => applyGeneration(db.pool, fingerprint))
  expect(await Promise.all(all)).toEqual([true, true, true, true])
  const { rows } = await db.sql(
    `SELECT string_agg(id::text, ' ' ORDER BY id) AS ids FROM rollcall.generation`,
  )
  expect(rows[0].ids).toBe('1 2 3 4')
})
