import { describe, expect, test } from 'vitest'
import { openMarks } from '../../src/capture/marks.ts'
import { planCapture } from '../../src/capture/relations.ts'
import { CUSTOMERS, config, configure, database, onSession, openScene, type Scene } from './scene.ts'

const THREE = `${CUSTOMERS}; INSERT INTO customers (id, email) VALUES (1, 'a@x.es'), (2, 'b@x.es'), (3, 'c@x.es')`
const kinds = async (scene: Scene) => (await openMarks(scene.db.pool)).map(({ kind }) => kind)

describe('a table that has changed since the triggers were installed', () => {
  for (const [what, change] of [
    ['dropped', 'ALTER TABLE customers DROP COLUMN email'],
    ['renamed', 'ALTER TABLE customers RENAME COLUMN email TO correo'],
  ] as const) {
    test(`a mapped column that was ${what}: statements work, and every row of theirs is noted`, async () => {
      await using scene = await openScene({ tables: THREE })
      await using session = await scene.db.session()
      // The session has the trigger's plan already.
      await session.query(`UPDATE customers SET notes = 'x'`)
      await session.query(change)
      await session.query(`UPDATE customers SET notes = 'y' WHERE id < 3`)
      await scene.sql(`UPDATE customers SET id = 30 WHERE id = 3`)
      await scene.sql(`INSERT INTO customers (id) VALUES (4); DELETE FROM customers WHERE id = 1`)
      expect(await scene.noted()).toEqual(['1 0', '2 1', '3 1', '30 1', '4 1'])
      expect(await kinds(scene)).toEqual([])
    })
  }

  test('a mapped column of another type: capture goes on, in sessions that knew the old one too', async () => {
    await using scene = await openScene({ tables: THREE })
    await using session = await scene.db.session()
    await session.query(`UPDATE customers SET email = 'z' WHERE id = 1`)
    await session.query(`ALTER TABLE customers ALTER COLUMN email TYPE bytea USING email::bytea`)
    await session.query(`UPDATE customers SET email = '\\xff' WHERE id = 2`)
    await session.query(`UPDATE customers SET notes = 'n'`)
    expect(await scene.keys()).toEqual(['1', '2'])
  })

  test('a cast that the owner of a column type has made is never called: it would run with our rights', async () => {
    await using scene = await openScene({ tables: THREE })
    await scene.sql(`
      CREATE TYPE mood AS (word text);
      CREATE FUNCTION refuse(mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'no text for you'; END $$;
      CREATE CAST (mood AS text) WITH FUNCTION refuse(mood);
      ALTER TABLE customers ALTER COLUMN nick TYPE mood USING ROW(nick::text)::mood;
      UPDATE customers SET notes = 'x' WHERE id = 2;
      UPDATE customers SET nick = ROW('other')::mood WHERE id = 3`)
    expect(await scene.noted()).toEqual(['3 1'])
  })

  test('a renamed key column: statements work, and one mark says that capture has a gap', async () => {
    await using scene = await openScene({ tables: THREE })
    await scene.sql('ALTER TABLE customers RENAME COLUMN id TO number')
    await scene.sql(`UPDATE customers SET plan = 'premium'`)
    await scene.sql(`INSERT INTO customers (number) VALUES (4)`)
    await scene.sql(`DELETE FROM customers WHERE number = 1`)
    expect(await scene.noted()).toEqual([])
    expect(await openMarks(scene.db.pool)).toMatchObject([{ kind: 'overflow', relation: 'public.customers' }])
  })

  test('very large statements fall back in the same way', async () => {
    await using scene = await openScene()
    await scene.sql('ALTER TABLE customers RENAME COLUMN email TO correo')
    await scene.sql(`INSERT INTO customers (id) SELECT i FROM generate_series(1, 100001) i`)
    expect(await scene.keys()).toHaveLength(100_001)
    await scene.sql(`UPDATE customers SET notes = 'x'`)
    expect(await scene.keys()).toHaveLength(100_001)
    await scene.sql('ALTER TABLE customers RENAME COLUMN id TO number')
    await scene.sql(`UPDATE customers SET notes = 'y'`)
    expect(await scene.keys()).toHaveLength(0)
    expect(await kinds(scene)).toEqual(['overflow'])
  })
})

test('an application role without any right on our schema writes as before', async () => {
  await using scene = await openScene({ tables: THREE })
  const { name: role } = await scene.db.makeRole()
  await scene.sql(`GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON customers TO ${role}`)
  await onSession(scene.db, async (session) => {
    await session.query(`SET ROLE ${role}`)
    await session.query(`CREATE TEMP TABLE new_rows (id int); CREATE TEMP TABLE outbox (key text)`)
    await session.query(`SET search_path = pg_temp`)
    await session.query(`INSERT INTO public.customers (id) VALUES (4)`)
    await session.query(`UPDATE public.customers SET plan = 'premium' WHERE id = 1`)
    await session.query(`DELETE FROM public.customers WHERE id = 2`)
    await expect(session.query('SELECT FROM rollcall.outbox')).rejects.toThrow('permission denied')
    expect(await scene.noted()).toEqual(['1 1', '2 0', '4 1'])
    await session.query('TRUNCATE public.customers')
    expect(await kinds(scene)).toEqual(['truncate'])
  })
})

test('no other role can make our function append for a table of theirs', async () => {
  await using scene = await openScene({ tables: THREE })
  const { name: role } = await scene.db.makeRole()
  await scene.sql(
    `CREATE TABLE theirs (id int); ALTER TABLE theirs OWNER TO ${role}; GRANT USAGE ON SCHEMA rollcall TO ${role}`,
  )
  const { rows } = await scene.db.sql(
    `SELECT oid::regproc::text AS name FROM pg_proc WHERE proname ~ '^capture_'`,
  )
  await onSession(scene.db, async (session) => {
    await session.query(`SET ROLE ${role}`)
    const attempt = session.query(`CREATE TRIGGER x AFTER INSERT ON theirs REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT EXECUTE FUNCTION ${rows[0].name}()`)
    await expect(attempt).rejects.toThrow('permission denied for function')
  })
})

test('a transaction of many statements takes no transaction ids for them', async () => {
  await using scene = await openScene({ tables: THREE })
  await using session = await scene.db.session()
  await session.query('BEGIN')
  for (let i = 0; i < 100; i += 1) await session.query(`UPDATE customers SET email = $1 WHERE id = 1`, [i])
  const { rows } = await session.query(
    'SELECT count(*)::int AS rows, count(DISTINCT xmin::text)::int AS ids FROM rollcall.outbox',
  )
  expect(rows).toEqual([{ rows: 100, ids: 1 }])
})

describe('an outbox that is full', () => {
  const small = { ...configure({}), capture: { outboxLimitMb: 1, checkHours: 24 } }
  const fill = `INSERT INTO rollcall.outbox (key, lane) SELECT i::text, 1 FROM generate_series(1, 30000) i`

  test('takes no more; one mark stands for everything that follows', async () => {
    await using scene = await openScene({ tables: THREE, config: small })
    await scene.sql(fill)
    await scene.sql(`UPDATE customers SET notes = 'nobody looks'`)
    expect(await kinds(scene)).toEqual([])
    await scene.sql(`UPDATE customers SET plan = 'premium'`)
    await scene.sql(`INSERT INTO customers (id) VALUES (4)`)
    await scene.sql(`INSERT INTO customers (id) SELECT i FROM generate_series(5, 100010) i`)
    expect(await kinds(scene)).toEqual(['overflow'])
    const { rows } = await scene.db.sql('SELECT count(*)::int AS n FROM rollcall.outbox')
    expect(rows).toEqual([{ n: 30_000 }])
  })

  test('makes no writer wait for another, also with marks that are not committed', async () => {
    await using scene = await openScene({ tables: THREE, config: small })
    await scene.sql(fill)
    await using first = await scene.db.session()
    await first.query(`BEGIN; UPDATE customers SET plan = 'a' WHERE id = 1`)
    await scene.sql(
      `SET statement_timeout = '2s'; UPDATE customers SET plan = 'b' WHERE id = 2; RESET statement_timeout`,
    )
    await first.query('COMMIT')
    expect(await kinds(scene)).toEqual(['overflow', 'overflow'])
  })

  test('a transaction that looks at the past does not rely on a mark that it sees there', async () => {
    await using scene = await openScene({ tables: THREE, config: small })
    await scene.sql(fill)
    await scene.sql(`UPDATE customers SET plan = 'a' WHERE id = 1`)
    await using old = await scene.db.session()
    await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await old.query('SELECT FROM customers')
    await scene.sql('UPDATE rollcall.capture_mark SET resolved_at = now()')
    await old.query(`UPDATE customers SET plan = 'b' WHERE id = 2`)
    await old.query(`UPDATE customers SET plan = 'b' WHERE id = 3`)
    await old.query('COMMIT')
    expect(await kinds(scene)).toEqual(['overflow'])
  })
})

test('an outbox that refuses the append is heard: better an error than a change that is lost', async () => {
  await using scene = await openScene({ tables: THREE })
  await scene.sql('ALTER TABLE rollcall.outbox ADD CHECK (lane > 5)')
  await expect(scene.sql(`UPDATE customers SET plan = 'premium'`)).rejects.toThrow(
    'violates check constraint',
  )
})

test('a table with foreign partitions is refused, since Postgres would fail its writes', async () => {
  await using db = await database(`
    CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER far FOREIGN DATA WRAPPER nowhere;
    CREATE TABLE customers (id int, plan text) PARTITION BY LIST (id);
    CREATE FOREIGN TABLE far_away PARTITION OF customers FOR VALUES IN (1) SERVER far`)
  const plan = planCapture(db.pool, config)
  await expect(plan).rejects.toMatchObject({
    code: 'CUSTOMERS_UNREADABLE',
    details: [expect.stringContaining('far_away')],
  })
})
