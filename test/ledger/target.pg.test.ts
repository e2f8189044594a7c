import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { databaseAt } from '../../src/database/session.ts'
import { acceptTarget } from '../../src/ledger/accept.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { bindTarget, differencesFromBinding, readBinding } from '../../src/ledger/target.ts'
import { readPlace, watermarkOf } from '../../src/ledger/watermark.ts'
import { backUp } from '../support/backup.ts'
import { freshDatabase } from '../support/database.ts'
import { startPostgresInMemory } from '../support/in-memory.ts'

const TARGET = { origin: 'https://service.example', apiKey: 'key', digestKey: 'a key of the digests' }

test('what Postgres does to its files does not pass for a restore, and a restore does', async () => {
  await using db = await freshDatabase()
  const binding = await bindTarget(db.pool, TARGET)
  for (const upkeep of [
    'VACUUM FREEZE rollcall.target',
    'VACUUM FULL rollcall.target',
    'CLUSTER rollcall.target USING target_pkey',
    'ALTER TABLE rollcall.target ADD COLUMN later text DEFAULT 0',
  ]) {
    await db.sql(upkeep)
    expect(await bindTarget(db.pool, TARGET), upkeep).toBe(binding)
  }
  await (await backUp(db.pool)).restore()
  expect(await differencesFromBinding(db.pool, TARGET)).toMatchObject([{ kind: 'restored' }])
  expect(await readBinding(db.pool)).not.toBe(binding)
})

test('decisions about the target that come at once are taken one after the other', async () => {
  await using db = await freshDatabase()
  await bindTarget(db.pool, TARGET)
  const clients = await Promise.all([1, 2, 3, 4].map(() => db.pool.connect()))
  await Promise.all(clients.map((client, n) => acceptTarget(client, TARGET, n % 2 ? 'new' : 'same')))
  for (const client of clients) client.release()
  expect(await differencesFromBinding(db.pool, TARGET)).toEqual([])
})

test('a standby that was promoted is recognized at once', async () => {
  await using server = await startPostgresInMemory()
  await using stack = new AsyncDisposableStack()
  const pool = stack.adopt(new pg.Pool({ connectionString: server.url }), (pool) => pool.end())
  pool.on('error', () => undefined)
  await migrate(databaseAt(server.url))
  await bindTarget(pool, TARGET)
  const { rows } = await pool.query<{ data_directory: string }>('SHOW data_directory')
  await server.kill()
  await writeFile(join(rows[0]?.data_directory ?? '', 'standby.signal'), '')
  await server.restart()
  expect(await differencesFromBinding(pool, TARGET)).toEqual([])
  await pool.query('SELECT pg_promote()')
  expect(await differencesFromBinding(pool, TARGET)).toMatchObject([{ kind: 'timeline' }])
})

test('the place of a database moves with each lease, and sorts behind those before it', async () => {
  await using db = await freshDatabase()
  await bindTarget(db.pool, TARGET)
  const { boundAt, watermark } = await readPlace(db.pool)
  expect(watermark).toBe(watermarkOf(boundAt, '0'))
  await db.sql(`SELECT nextval('rollcall.token') FROM generate_series(1, 10)`)
  expect((await readPlace(db.pool)).watermark).toBe(watermarkOf(boundAt, '10'))
  const places = ['9.99', '10.9', '10.10', '11.0'].map((place) => place.split('.'))
  const watermarks = places.map(([at = '', token = '']) => watermarkOf(at, token))
  expect(watermarks.toReversed().toSorted()).toEqual(watermarks)
})
