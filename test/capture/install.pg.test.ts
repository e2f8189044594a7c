import { describe, expect, test } from 'vitest'
import { install, printSql, uninstall } from '../../src/capture/install.ts'
import { planCapture } from '../../src/capture/relations.ts'
import { readInstalled } from '../../src/capture/status.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import {
  CUSTOMERS,
  config,
  configure,
  database,
  installed,
  onSession,
  states,
  WITH_SIDE,
  watchingSide,
} from './scene.ts'

const hasty = { patienceMs: 1_500 }

describe('install', () => {
  test('two at once both come to an end, and another run changes nothing and takes no lock on the tables', async () => {
    await using db = await database()
    expect((await Promise.all([installed(db), installed(db)])).flat()).toEqual(['public.customers'])
    await onSession(db, async (writer) => {
      await writer.query('BEGIN; LOCK TABLE customers IN ROW EXCLUSIVE MODE')
      expect(await installed(db)).toEqual([])
    })
    expect(await states(db)).toEqual({ customers: 'fits' })
  })

  test('a changed configuration replaces the function, without a lock where the triggers are the same', async () => {
    await using db = await database()
    await installed(db)
    const other = configure({ mapping: { user_id: 'id', status: 'plan', description: 'notes' } })
    expect(await states(db, other)).toEqual({ customers: 'outdated' })
    await onSession(db, async (writer) => {
      await writer.query('BEGIN; LOCK TABLE customers IN ROW EXCLUSIVE MODE')
      expect(await installed(db, other)).toEqual(['public.customers'])
    })
    expect(await states(db, other)).toEqual({ customers: 'fits' })
    expect(await installed(db, other)).toEqual([])
    await db.sql(
      `INSERT INTO customers (id) VALUES (1); DELETE FROM rollcall.outbox; UPDATE customers SET email = 'x'; UPDATE customers SET notes = 'x'`,
    )
    expect((await db.sql('SELECT key FROM rollcall.outbox')).rowCount).toBe(1)
  })

  test('a table that is no longer watched, and a key that is another, leave no old triggers', async () => {
    await using db = await database(WITH_SIDE)
    const more = watchingSide()
    await installed(db, more)
    const byNick = configure({
      customers: { table: 'customers', key: 'nick' },
      mapping: { user_id: 'nick', status: 'plan' },
    })
    expect(await states(db, byNick)).toEqual({ customers: 'missing', side: 'leftover' })
    await installed(db, byNick)
    expect(await states(db, byNick)).toEqual({ customers: 'fits' })
    const { functions, triggers } = await readInstalled(db.pool)
    expect([functions.length, triggers.length]).toEqual([1, 4])
  })

  test('while another mapping is in force, what that one reads stays watched, and both fit', async () => {
    await using db = await database(WITH_SIDE)
    const inForce = watchingSide()
    await installed(db, inForce)
    const next = configure({ mapping: { user_id: 'id', status: 'plan', description: 'notes' } })
    await onSession(db, async (client) => {
      await install(client, await planCapture(client, next), { leavesOthers: true })
    })
    expect(await states(db, inForce)).toEqual({ customers: 'fits', side: 'fits' })
    expect(await states(db, next)).toEqual({ customers: 'fits', side: 'leftover' })
    await db.sql(`INSERT INTO customers (id) VALUES (1); DELETE FROM rollcall.outbox`)
    for (const column of ['email', 'notes']) await db.sql(`UPDATE customers SET ${column} = 'x'`)
    expect((await db.sql('SELECT key FROM rollcall.outbox')).rowCount).toBe(2)

    // Once it is applied, the next install leaves what it reads itself.
    await installed(db, next)
    expect(await states(db, next)).toEqual({ customers: 'fits' })
    expect(await states(db, inForce)).toEqual({ customers: 'outdated', side: 'missing' })
  })

  test('what was printed for a DBA is what install would have done', async () => {
    await using db = await database()
    const sql = printSql(await planCapture(db.pool, config))
    await db.sql(sql)
    expect(await states(db)).toEqual({ customers: 'fits' })
    expect(await installed(db)).toEqual([])
  })

  test('names that do not exist are refused, all of them, before anything is written', async () => {
    await using db = await database('CREATE TABLE customers (id int, plan text)')
    const watched = configure({
      watch: [
        { table: 'customers', key: 'id' },
        { table: 'nowhere', key: 'x' },
      ],
    })
    await expect(installed(db, watched)).rejects.toMatchObject({
      code: 'CUSTOMERS_UNREADABLE',
      details: [
        expect.stringMatching(/^watch: .*public\.nowhere/),
        ...['email', 'nick', 'profile'].map(
          (name) => `watch: there is no column "${name}" in public.customers`,
        ),
      ],
    })
    expect(await readInstalled(db.pool)).toEqual({ functions: [], triggers: [] })
  })

  test('a role that could not append is refused before the first trigger, and a database without our tables too', async () => {
    await using db = await database()
    const { name: role } = await db.makeRole()
    await db.sql(`ALTER TABLE customers OWNER TO ${role}; GRANT USAGE, CREATE ON SCHEMA rollcall TO ${role}`)
    await onSession(db, async (client) => {
      const plan = await planCapture(client, config)
      await client.query(`SET ROLE ${role}`)
      await expect(install(client, plan)).rejects.toMatchObject({
        code: 'DATABASE_REFUSED',
        details: expect.arrayContaining(['the role lacks INSERT on rollcall.outbox']),
      })
    })
    await onSession(db, async (client) => {
      await client.query('DROP SCHEMA rollcall CASCADE')
      const attempt = install(client, await planCapture(client, config))
      await expect(attempt).rejects.toMatchObject({ code: 'NOT_MIGRATED' })
    })
  })
})

describe('install beside the application', () => {
  test('during a long transaction, others write on with short waits, and it succeeds when that has ended', async () => {
    await using db = await database(`${CUSTOMERS}; INSERT INTO customers (id) VALUES (1), (2)`)
    await onSession(db, async (long) => {
      await long.query(`BEGIN; UPDATE customers SET notes = 'long' WHERE id = 1`)
      let done = false
      const installing = installed(db).finally(() => {
        done = true
      })
      const waits = await writeFor(db, 3_000)
      expect(Math.max(...waits)).toBeLessThan(5_000)
      expect(done).toBe(false)
      await long.query('COMMIT')
      await installing
    })
    expect(await states(db)).toEqual({ customers: 'fits' })
  })

  test('a table that stays locked is named with whoever holds it, and nothing of it is left', async () => {
    await using db = await database()
    await onSession(db, async (long) => {
      await long.query(
        `SET application_name = 'nightly report'; BEGIN; LOCK TABLE customers IN ROW EXCLUSIVE MODE`,
      )
      const { rows } = await long.query('SELECT pg_backend_pid() AS pid')
      await onSession(db, async (client) => {
        const attempt = install(client, await planCapture(client, config), hasty)
        await expect(attempt).rejects.toMatchObject({
          code: 'TABLE_LOCKED',
          details: [
            expect.stringMatching(/public\.customers .*locked/),
            expect.stringContaining(`process ${rows[0].pid} (nightly report), idle in transaction`),
          ],
        })
        expect(
          (await client.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`))
            .rowCount,
        ).toBe(0)
      })
    })
    expect(await states(db)).toEqual({ customers: 'missing' })
  })

  test('uninstall waits no longer for its locks, and readers go on as well', async () => {
    await using db = await database(`${CUSTOMERS}; INSERT INTO customers (id) VALUES (2)`)
    await installed(db)
    await onSession(db, async (long) => {
      await long.query('BEGIN; SELECT FROM customers')
      await onSession(db, async (client) => {
        const attempt = uninstall(client, hasty)
        const waits = writeFor(db, 1_000)
        await expect(attempt).rejects.toMatchObject({ code: 'TABLE_LOCKED' })
        expect(Math.max(...(await waits))).toBeLessThan(5_000)
      })
    })
    await onSession(db, (client) => uninstall(client))
    expect(await readInstalled(db.pool)).toEqual({ functions: [], triggers: [] })
  })
})

describe('uninstall', () => {
  test('leaves no trace in the catalogs, whatever was installed', async () => {
    await using db = await database(`${CUSTOMERS};
      CREATE TABLE side (customer int) PARTITION BY LIST (customer); CREATE TABLE side_1 PARTITION OF side DEFAULT`)
    const before = await catalogs(db)
    await installed(db)
    await installed(db, watchingSide())
    expect(await catalogs(db)).not.toEqual(before)
    const changed = await onSession(db, (client) => uninstall(client))
    expect(changed).toEqual(['public.customers', 'public.side', 'public.side_1'])
    expect(await catalogs(db)).toEqual(before)
    expect(await onSession(db, (client) => uninstall(client))).toEqual([])
  })

  test('does nothing in a database that rollcall was never in', async () => {
    await using db = await freshDatabase({ empty: true })
    expect(await onSession(db, (client) => uninstall(client))).toEqual([])
  })
})

/** Short transactions of the application, one after the other; how long each took. */
async function writeFor(db: TestDatabase, ms: number): Promise<readonly number[]> {
  const waits: number[] = []
  const end = performance.now() + ms
  await until(
    async () => {
      const start = performance.now()
      await db.sql(`UPDATE customers SET notes = 'short' WHERE id = 2`)
      waits.push(performance.now() - start)
      return performance.now() > end
    },
    { what: 'the application has written' },
  )
  return waits
}

/** Every row of the catalogs that triggers and functions can leave something in. */
async function catalogs(db: TestDatabase): Promise<unknown> {
  const { rows } = await db.sql(`
    SELECT (SELECT json_agg(oid ORDER BY oid) FROM pg_trigger) AS triggers,
      (SELECT json_agg(oid ORDER BY oid) FROM pg_proc) AS functions,
      (SELECT json_agg(json_build_array(oid, relname, relacl) ORDER BY oid) FROM pg_class) AS relations,
      (SELECT json_agg(json_build_array(oid, attname) ORDER BY oid) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid) AS columns,
      (SELECT count(*) FROM pg_depend) AS dependencies,
      -- Shared by all databases of the server, of which other tests make some.
      (SELECT count(*) FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = current_database()) AS shared,
      (SELECT count(*) FROM pg_description) AS comments, (SELECT count(*) FROM pg_init_privs) AS rights`)
  return rows[0]
}
