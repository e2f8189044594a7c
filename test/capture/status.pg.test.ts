import { describe, expect, test } from 'vitest'
import { planCapture } from '../../src/capture/relations.ts'
import { captureVersion, readInstalled } from '../../src/capture/status.ts'
import { freshDatabase } from '../support/database.ts'
import { configure, database, installed, states, watchingSide } from './scene.ts'

describe('status', () => {
  test('sees disabled triggers, altered functions, new partitions, renamed columns and tables that are gone', async () => {
    await using db = await database(`CREATE TABLE customers (id int, plan text) PARTITION BY LIST (id);
      CREATE TABLE p1 PARTITION OF customers FOR VALUES IN (1); CREATE TABLE side (customer int)`)
    const watched = watchingSide({ mapping: { user_id: 'id', status: 'plan' } })
    const fits = { customers: 'fits', p1: 'fits', side: 'fits' }
    await installed(db, watched)
    expect(await states(db, watched)).toEqual(fits)

    await db.sql(
      `ALTER TABLE p1 DISABLE TRIGGER ALL; CREATE TABLE p2 PARTITION OF customers FOR VALUES IN (2)`,
    )
    expect(await states(db, watched)).toEqual({ ...fits, p1: 'disabled', p2: 'missing' })
    await installed(db, watched)
    expect(await states(db, watched)).toEqual({ ...fits, p2: 'fits' })

    const { functions } = await readInstalled(db.pool)
    const name = functions.find((one) => one.name.includes('side'))?.name
    await db.sql(
      `ALTER FUNCTION rollcall."${name}" SECURITY INVOKER; ALTER TABLE customers RENAME plan TO tariff`,
    )
    expect(await states(db, watched)).toEqual({
      customers: 'misnamed',
      p1: 'misnamed',
      p2: 'misnamed',
      side: 'outdated',
    })
    await db.sql('DROP TABLE side; ALTER TABLE customers RENAME tariff TO plan')
    expect(await states(db, watched)).toEqual({ customers: 'fits', p1: 'fits', p2: 'fits', side: 'misnamed' })
  })

  test('sees that the functions lack a right, which fails every write', async () => {
    await using db = await database('CREATE TABLE customers (id int, plan text)')
    const watched = configure({ mapping: { user_id: 'id', status: 'plan' } })
    await installed(db, watched)
    const { name: functions } = await db.makeRole()
    for (const one of (await readInstalled(db.pool)).functions)
      await db.sql(`ALTER FUNCTION rollcall."${one.name}" OWNER TO ${functions}`)
    expect(await states(db, watched)).toEqual({ customers: 'outdated' })
    await db.sql(`GRANT USAGE ON SCHEMA rollcall TO ${functions};
      GRANT INSERT ON rollcall.outbox TO ${functions}; GRANT UPDATE ON rollcall.outbox_id_seq TO ${functions};
      GRANT SELECT, INSERT ON rollcall.capture_mark TO ${functions}; GRANT USAGE ON rollcall.capture_mark_id_seq TO ${functions}`)
    expect(await states(db, watched)).toEqual({ customers: 'fits' })
  })

  test('tells columns that were replaced by others of their name, and a view that says something else', async () => {
    await using db = await database(`CREATE TABLE t (id int, plan text, plan_new text, notes text);
      CREATE VIEW v AS SELECT id, plan FROM t`)
    const reading = (customers: object) =>
      configure({
        customers: { ...customers, key: 'id' },
        watch: [{ table: 't', key: 'id' }],
        mapping: { user_id: 'id', status: 'plan' },
      } as never)
    const changes = async (customers: object, sql: string) => {
      const before = await captureVersion(db.pool, reading(customers))
      await db.sql(sql)
      return (await captureVersion(db.pool, reading(customers))) !== before
    }
    const table = { table: 't' }
    expect(await changes(table, 'ANALYZE t; ALTER TABLE t ADD other text; ALTER TABLE t DROP notes')).toBe(
      false,
    )
    expect(
      await changes(table, 'ALTER TABLE t RENAME plan TO plan_old; ALTER TABLE t RENAME plan_new TO plan'),
    ).toBe(true)
    const view = { view: 'v' }
    expect(await changes(view, 'ALTER TABLE t ADD another text')).toBe(false)
    expect(await changes(view, `CREATE OR REPLACE VIEW v AS SELECT id, 'free' AS plan FROM t`)).toBe(true)
    expect(
      await changes({ table: 't' }, `ALTER TABLE t DROP plan; ALTER TABLE t ADD plan text DEFAULT 'premium'`),
    ).toBe(true)
  })

  test('follows what the view reads: its columns, whole rows, and views of views', async () => {
    await using db = await database(`CREATE TABLE base (id int, a text, b text, c text);
      CREATE VIEW inner_view AS SELECT id, a FROM base; CREATE VIEW customers AS SELECT id, a AS plan FROM inner_view`)
    const watched = configure({
      customers: { view: 'customers', key: 'id' },
      watch: [{ table: 'base', key: 'id' }],
      mapping: { user_id: 'id', status: 'plan' },
    })
    const columns = async () =>
      (await planCapture(db.pool, watched)).watchers.map((watcher) => watcher.columns)
    expect(await columns()).toEqual([['a']])
    await installed(db, watched)
    await db.sql('CREATE OR REPLACE VIEW inner_view AS SELECT id, a || b AS a FROM base')
    expect(await columns()).toEqual([['a', 'b']])
    expect(await states(db, watched)).toEqual({ base: 'outdated' })
    await db.sql('CREATE OR REPLACE VIEW inner_view AS SELECT id, to_jsonb(base) ->> a AS a FROM base')
    expect(await columns()).toEqual([['a', 'b', 'c']])
  })

  test('stands for a virtual generated column with the columns that it is made of', async (context) => {
    await using db = await freshDatabase()
    const { rows } = await db.sql(`SELECT current_setting('server_version_num')::int >= 180000 AS virtual`)
    context.skip(!rows[0].virtual, 'this Postgres has no virtual columns')
    await db.sql(
      `CREATE TABLE customers (id int, level int, notes text, plan text GENERATED ALWAYS AS ('p' || level) VIRTUAL)`,
    )
    const watched = configure({ mapping: { user_id: 'id', status: 'plan' } })
    await installed(db, watched)
    await db.sql(
      `INSERT INTO customers VALUES (1, 1); DELETE FROM rollcall.outbox; UPDATE customers SET notes = 'x'`,
    )
    expect((await db.sql('SELECT FROM rollcall.outbox')).rowCount).toBe(0)
    await db.sql('UPDATE customers SET level = 2')
    expect((await db.sql('SELECT FROM rollcall.outbox')).rowCount).toBe(1)
    await db.sql(
      `ALTER TABLE customers RENAME level TO raw; ALTER TABLE customers ADD level int GENERATED ALWAYS AS (raw);
       INSERT INTO customers (id) VALUES (2); DELETE FROM rollcall.outbox; UPDATE customers SET raw = 3`,
    )
    expect((await db.sql('SELECT FROM rollcall.outbox')).rowCount).toBe(2)
  })
})
