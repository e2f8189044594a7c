import { expect, test } from 'vitest'
import type { Ending } from '../../src/ledger/ending.ts'
import { makeStoreEnding } from '../../src/ledger/ending.ts'
import { readErasures } from '../../src/ledger/erasures.ts'
import { type Erased, makeReadRecord } from '../../src/ledger/record.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { EMPTY_RECORD, endingOf } from '../support/ending.ts'

type Given = Partial<Pick<Ending, 'erasure'>> & { readonly key: string; readonly erased: Erased | null }

/** Ends the claim of this customer with token 7, or with one that is spent. */
async function ends({ pool }: TestDatabase, { key, erased, ...given }: Given, token = '7'): Promise<boolean> {
  await pool.query('DELETE FROM rollcall.owed WHERE key = $1', [key])
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO rollcall.owed (key, change_version, lane, due_at, token, call_token)
     VALUES ($1, 3, 1, now() + interval '30 s', 7, 7) RETURNING id::text`,
    [key],
  )
  const record = { ...EMPTY_RECORD, userId: `u-${key}`, remote: 'present', sentStatus: 0, erased } as const
  const part = { claim: { token, key }, writes: 'accepted', record, ...given } as const
  return await makeStoreEnding(pool, 0)(endingOf(rows[0]?.id ?? '', part))
}

const end = (db: TestDatabase, key: string, erased: Erased | null, erasure?: Ending['erasure']) =>
  ends(db, { key, erased, ...(erasure ? { erasure } : {}) })

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
const of = async (db: TestDatabase, ...keys: readonly string[]) =>
  await readErasures(db.pool, { keys, limit: 50 })

test('the ending of the call writes a receipt, and the ending of the lookup completes it', async () => {
  await using db = await freshDatabase()
  await end(db, 'c', 'sent', { cleared: ['email', 'country_code'], left: null })
  const sent = {
    ...{ key: 'c', userId: 'u-c', fields: ['email', 'country_code'], erasedAt: ISO },
    ...{ verifiedAt: null, left: null, past: false },
  }
  expect(await of(db, 'c')).toEqual([sent])
  expect((await makeReadRecord(db.pool)('c')).erased).toBe('sent')

  await end(db, 'c', 'verified', { cleared: null, left: [] })
  expect(await of(db, 'c')).toEqual([{ ...sent, verifiedAt: ISO, left: [] }])
  expect((await makeReadRecord(db.pool)('c')).erased).toBe('verified')
})

test('an ending without an erasure writes none, and the row that comes back leaves the receipts', async () => {
  await using db = await freshDatabase()
  await end(db, 'c', 'sent', { cleared: ['email'], left: null })
  await end(db, 'c', null)
  expect(await of(db)).toMatchObject([{ verifiedAt: null, past: true }])
  expect((await makeReadRecord(db.pool)('c')).erased).toBe(null)
  await end(db, 'c', 'sent', { cleared: ['email'], left: null })
  await end(db, 'c', 'verified', { cleared: null, left: ['email'] })
  expect(await of(db, 'c')).toMatchObject([
    { left: ['email'], verifiedAt: ISO },
    { left: null, verifiedAt: null, past: true },
  ])
})

test('a lookup that leads to a second call completes the first receipt and writes another', async () => {
  await using db = await freshDatabase()
  await end(db, 'c', 'sent', { cleared: ['email', 'gender'], left: null })
  await end(db, 'c', 'sent', { cleared: ['gender'], left: ['gender'] })
  expect(await of(db, 'c')).toMatchObject([
    { fields: ['gender'], left: null, past: false },
    { fields: ['email', 'gender'], left: ['gender'], verifiedAt: ISO },
  ])
})

test('an ending that comes too late writes nothing', async () => {
  await using db = await freshDatabase()
  const erasure = { cleared: ['email'], left: null }
  expect(await ends(db, { key: 'c', erased: 'sent', erasure }, '9')).toBe(false)
  expect(await of(db, 'c')).toEqual([])
})

test('receipts are read the latest first, of some customers or of all', async () => {
  await using db = await freshDatabase()
  for (const key of ['a', 'b', 'c']) await end(db, key, 'sent', { cleared: ['email'], left: null })
  await end(db, 'never', null)
  expect((await of(db)).map(({ key }) => key)).toEqual(['c', 'b', 'a'])
  const last = await readErasures(db.pool, { keys: ['a', 'c', 'never', 'x'], limit: 1 })
  expect(last.map(({ key }) => key)).toEqual(['c'])
})
