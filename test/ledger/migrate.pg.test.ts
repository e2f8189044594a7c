import type pg from 'pg'
import { expect, test } from 'vitest'
import { databaseAt } from '../../src/database/session.ts'
import { checkMigrated, migrate } from '../../src/ledger/migrate.ts'
import { freshDatabase } from '../support/database.ts'

/** The view shows the locks of all databases, and other tests hold some. */
const LOCKS = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`

const code = (value: string) => expect.objectContaining({ name: 'RollcallError', code: value })

test('migrates an empty database once, and finds nothing to do the second time', async () => {
  await using db = await freshDatabase({ empty: true })

  const queue = databaseAt(db.url)
  const first = await migrate(databaseAt(db.url))
  const second = await migrate(databaseAt(db.url), { queue })

  expect(first.applied).toBeGreaterThan(0)
  expect(second.applied).toBeGreaterThan(0)
  expect((await migrate(databaseAt(db.url), { queue })).applied).toBe(0)
  await checkMigrated(db.pool)
})

test('sequences that are behind their rows go on after them', async () => {
  await using db = await freshDatabase()
  await db.sql(`
    INSERT INTO rollcall.owed (key, change_version, lane, token) SELECT 'k' || i, 1, 1, 50 + i FROM generate_series(1, 30) i;
    SELECT setval('rollcall.owed_id_seq', 3), setval('rollcall.token', 7), setval('rollcall.migration_id_seq', 1, false)`)
  await migrate(databaseAt(db.url))
  const { rows } = await db.sql(
    `SELECT nextval('rollcall.owed_id_seq')::int AS id, nextval('rollcall.token')::int AS token,
       nextval('rollcall.migration_id_seq')::int AS one, nextval('rollcall.outbox_id_seq')::int AS unused`,
  )
  expect(rows).toEqual([{ id: 31, token: 81, one: 2, unused: 1 }])
})

test('two at once apply every migration once', async () => {
  await using db = await freshDatabase({ empty: true })

  const both = await Promise.all([migrate(databaseAt(db.url)), migrate(databaseAt(db.url))])

  const { rows } = await db.sql('SELECT hash FROM rollcall.migration')
  expect(both.map(({ applied }) => applied).sort()).toEqual([0, rows.length])
  expect(new Set(rows.map(({ hash }) => hash)).size).toBe(rows.length)
})

test('leaves no lock behind on the session that it was given', async () => {
  await using db = await freshDatabase({ empty: true })
  await using client = await db.session()
  await migrate(client)
  expect((await client.query(LOCKS)).rows).toEqual([])
})

test('makes the schema of a queue in Postgres, with statistics, where there is one', async () => {
  await using db = await freshDatabase({ empty: true })
  const tables = async () => {
    const { rows } = await db.sql(
      `SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'rollcall_queue'`,
    )
    return rows[0].n
  }

  await migrate(databaseAt(db.url))
  expect(await tables()).toBe(0)

  await migrate(databaseAt(db.url), { queue: databaseAt(db.url) })
  await migrate(databaseAt(db.url), { queue: databaseAt(db.url) })
  expect(await tables()).toBeGreaterThan(5)
  const { rows } = await db.sql(
    `SELECT reltuples, reloptions FROM pg_class WHERE oid = 'rollcall_queue.job'::regclass`,
  )
  expect(rows[0].reltuples).toBe(0)
  expect(rows[0].reloptions).toContain('autovacuum_vacuum_scale_factor=0')
})

test('a database that was never migrated is recognized, in one sentence', async () => {
  await using db = await freshDatabase({ empty: true })

  await expect(checkMigrated(db.pool)).rejects.toEqual(code('NOT_MIGRATED'))
  await expect(checkMigrated(db.pool)).rejects.toMatchObject({
    details: ['nothing of rollcall is installed in this database yet'],
  })
})

test('where a part is there, each thing that is missing is named', async () => {
  await using db = await freshDatabase()
  await db.sql(`DROP TABLE rollcall.owed; DELETE FROM rollcall.migration WHERE id = 1`)

  await expect(checkMigrated(db.pool)).rejects.toMatchObject({
    details: [
      'migration 0000_start was not applied',
      'rollcall.owed is missing',
      'rollcall.owed_key_unique is missing',
    ],
  })
})

test('a restore that lost a table or the tokens is recognized', async () => {
  await using db = await freshDatabase()
  await db.sql('DROP TABLE rollcall.ledger; DROP SEQUENCE rollcall.token')

  await expect(checkMigrated(db.pool)).rejects.toMatchObject({
    code: 'NOT_MIGRATED',
    details: ['rollcall.ledger is missing', 'rollcall.token is missing', 'rollcall.ledger_pkey is missing'],
  })
})

test('a database of another version is recognized by the hashes, and left alone', async () => {
  await using db = await freshDatabase()
  await db.sql(`UPDATE rollcall.migration SET hash = 'another branch'`)

  await expect(checkMigrated(db.pool)).rejects.toEqual(code('NOT_MIGRATED'))
  await expect(migrate(databaseAt(db.url))).rejects.toMatchObject({
    code: 'NOT_MIGRATED',
    details: [expect.stringContaining('another version')],
  })
})

test('a newer database than this version needs is well', async () => {
  await using db = await freshDatabase()
  await db.sql(`INSERT INTO rollcall.migration (hash, created_at) VALUES ('newer', 1)`)

  await checkMigrated(db.pool)
  expect(await migrate(databaseAt(db.url))).toEqual({ applied: 0 })
})

test('a migration that fails half way leaves nothing of itself, and no lock', async () => {
  await using db = await freshDatabase({ empty: true })
  await db.sql('CREATE SCHEMA rollcall; CREATE TABLE rollcall.pace ()')
  await using client = await db.session()
  await expect(migrate(client)).rejects.toThrow('already exists')
  const { rows } = await client.query(`SELECT to_regclass('rollcall.migration') AS list`)
  expect(rows).toEqual([{ list: null }])
  expect((await client.query(LOCKS)).rows).toEqual([])
})

test('a schema that a DBA has made beforehand is taken', async () => {
  await using db = await freshDatabase({ empty: true })
  await db.sql('CREATE SCHEMA rollcall')
  expect((await migrate(databaseAt(db.url))).applied).toBeGreaterThan(0)
  await checkMigrated(db.pool)
})

test('a role that may not create says so in our words', async () => {
  await using db = await freshDatabase({ empty: true })
  await using role = await freshRole(db.pool)

  for (const url of [role.url(db.url), role.url(db.url, 'wrong'), role.url(db.url, '')])
    await expect(migrate(databaseAt(url))).rejects.toEqual(code('DATABASE_REFUSED'))
})

test('a server that does not answer says so in our words', async () => {
  await using db = await freshDatabase()
  const nowhere = 'postgres://nobody@127.0.0.1:1/none'

  await expect(migrate(databaseAt(nowhere))).rejects.toEqual(code('DATABASE_DOWN'))
  await expect(migrate(databaseAt(db.url), { queue: databaseAt(nowhere) })).rejects.toEqual(
    code('QUEUE_DOWN'),
  )
})

async function freshRole(pool: pg.Pool) {
  const name = `role_${Date.now()}_${process.pid}`
  await pool.query(`CREATE ROLE ${name} LOGIN PASSWORD 'right'`)
  return {
    url(database: string, password = 'right') {
      const url = new URL(database)
      url.username = name
      url.password = password
      return url.href
    },
    [Symbol.asyncDispose]: async () => {
      await pool.query(`DROP ROLE ${name}`)
    },
  }
}
