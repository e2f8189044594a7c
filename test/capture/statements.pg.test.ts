// Whatever changes a watched column of a customer, in whatever kind of statement, is noted once it is committed, and
// nothing else is.
import { describe, expect, test } from 'vitest'
import { openMarks } from '../../src/capture/marks.ts'
import { type CapturedChange, drainOutbox } from '../../src/capture/outbox.ts'
import { runs } from '../support/size.ts'
import { CUSTOMERS, openScene } from './scene.ts'

const FOUR = `${CUSTOMERS};
  INSERT INTO customers (id, email) VALUES (1, 'a@x.es'), (2, 'b@x.es'), (3, 'c@x.es'), (4, 'd@x.es')`
const DEFERRABLE = 'ALTER TABLE customers DROP CONSTRAINT customers_pkey, ADD UNIQUE (id) DEFERRABLE;'

describe('one table', () => {
  test.each<[name: string, statements: string, noted: readonly string[]]>([
    [
      'an update of a mapped column is noted, for the rows that it changes',
      `UPDATE customers SET email = 'b@x.es' WHERE id <= 3`,
      ['1 1', '3 1'],
    ],
    ['an update of other columns is not noted', `UPDATE customers SET notes = 'called', plan = plan`, []],
    [
      'from and to NULL are changes',
      `UPDATE customers SET email = NULL WHERE id = 1; UPDATE customers SET nick = '' WHERE id = 2`,
      ['1 1', '2 1'],
    ],
    [
      'a deletion is noted in the most urgent lane',
      `DELETE FROM customers WHERE id IN (2, 3)`,
      ['2 0', '3 0'],
    ],
    [
      'a chain of key changes in one statement notes every key in it',
      `${DEFERRABLE} UPDATE customers SET id = CASE id WHEN 2 THEN 3 ELSE 30 END WHERE id IN (2, 3)`,
      ['2 1', '3 1', '30 1'],
    ],
    [
      'a change of the key alone notes both keys',
      `UPDATE customers SET id = 40 WHERE id = 4`,
      ['4 1', '40 1'],
    ],
    [
      'two rows that swap their keys are both noted',
      `${DEFERRABLE} UPDATE customers SET id = 3 - id WHERE id IN (1, 2)`,
      ['1 1', '2 1'],
    ],
    [
      'a session that ends at any error goes on',
      `SET exit_on_error = on; UPDATE customers SET plan = 'trial' WHERE id < 3; RESET exit_on_error`,
      ['1 1', '2 1'],
    ],
    ['COPY is an insert', `COPY customers (id) FROM PROGRAM 'seq 5 7'`, ['5 1', '6 1', '7 1']],
    [
      'ON CONFLICT notes what was inserted and what was changed',
      `INSERT INTO customers (id, email) VALUES (1, 'a@x.es'), (2, 'new@x.es'), (9, 'i@x.es')
       ON CONFLICT (id) DO UPDATE SET email = excluded.email, notes = 'again'`,
      ['2 1', '9 1'],
    ],
    [
      'ON CONFLICT DO NOTHING is not noted',
      `INSERT INTO customers (id) VALUES (1) ON CONFLICT DO NOTHING`,
      [],
    ],
    [
      'MERGE notes what each of its actions changed',
      `MERGE INTO customers c USING (VALUES (1), (2), (3), (9)) AS s (id) ON c.id = s.id
       WHEN MATCHED AND s.id = 1 THEN DELETE
       WHEN MATCHED AND s.id = 2 THEN UPDATE SET plan = 'premium'
       WHEN MATCHED THEN UPDATE SET notes = 'seen'
       WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)`,
      ['1 0', '2 1', '9 1'],
    ],
    [
      'one statement that changes one table several times over is noted as a whole',
      `WITH gone AS (DELETE FROM customers WHERE id = 1), more AS (INSERT INTO customers (id) VALUES (9))
       UPDATE customers SET plan = 'premium' WHERE id = 2`,
      ['1 0', '2 1', '9 1'],
    ],
    [
      'what was rolled back is not noted',
      `BEGIN; INSERT INTO customers (id) VALUES (5); ROLLBACK; BEGIN; INSERT INTO customers (id) VALUES (6);
       SAVEPOINT here; INSERT INTO customers (id) VALUES (7); ROLLBACK TO here; COMMIT`,
      ['6 1'],
    ],
    [
      'a key that changed several times is handed over once, with the most urgent lane',
      `UPDATE customers SET plan = 'premium' WHERE id = 1; DELETE FROM customers WHERE id = 1;
       INSERT INTO customers (id) VALUES (1)`,
      ['1 0'],
    ],
  ])('%s', async (_, statements, noted) => {
    await using scene = await openScene({ tables: FOUR })
    await scene.sql(statements)
    expect(await scene.noted()).toEqual(noted)
  })

  test('an insert is noted, with the time of the change', async () => {
    await using scene = await openScene()
    const before = Date.now()
    await scene.sql(`INSERT INTO customers (id) VALUES (1), (2)`)
    const changes: CapturedChange[] = []
    await drainOutbox(scene.db.pool, async (_, some) => void changes.push(...some), 100)
    expect(changes.map(({ key, lane }) => ({ key, lane }))).toEqual([
      { key: '1', lane: 1 },
      { key: '2', lane: 1 },
    ])
    for (const { at } of changes) expect(Math.abs(at.getTime() - before)).toBeLessThan(60_000)
  })

  test('TRUNCATE leaves a mark and names nobody', async () => {
    await using scene = await openScene({ tables: FOUR })
    await scene.sql('TRUNCATE customers')
    expect(await scene.noted()).toEqual([])
    expect(await openMarks(scene.db.pool)).toMatchObject([{ kind: 'truncate', relation: 'public.customers' }])
  })

  test('statements over very many rows are noted completely', async () => {
    const rows = runs(120_000)
    await using scene = await openScene()
    await scene.sql(`INSERT INTO customers (id) SELECT i FROM generate_series(1, ${rows}) i`)
    expect(await scene.keys()).toHaveLength(rows)
    await scene.sql(`UPDATE customers SET plan = 'premium' WHERE id % 2 = 0`)
    expect(await scene.keys()).toHaveLength(rows / 2)
    await scene.sql(`UPDATE customers SET plan = CASE WHEN id % 3 = 0 THEN 'trial' ELSE plan END`)
    expect(await scene.keys()).toHaveLength(rows / 3)
    await scene.sql(`UPDATE customers SET notes = 'x'`)
    expect(await scene.keys()).toHaveLength(0)
    await scene.sql(`DELETE FROM customers`)
    expect(new Set((await scene.noted()).map((line) => line.slice(-2)))).toEqual(new Set([' 0']))
  })
})

describe('types', () => {
  test('json is compared although it has no equality', async () => {
    await using scene = await openScene({ tables: FOUR })
    await scene.sql(`UPDATE customers SET profile = '{"a": 1}' WHERE id IN (1, 2)`)
    expect(await scene.keys()).toEqual(['1', '2'])
    await scene.sql(`UPDATE customers SET profile = '{"a": 1}' WHERE id = 1`)
    expect(await scene.keys()).toEqual([])
  })

  test('a change of case counts, in citext and under a collation that ignores case', async () => {
    await using scene = await openScene({
      tables: `${FOUR};
        CREATE COLLATION ignoring (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        ALTER TABLE customers ALTER COLUMN email TYPE text COLLATE ignoring;
        UPDATE customers SET nick = 'ana'`,
    })
    await scene.sql(`UPDATE customers SET nick = 'Ana' WHERE id = 1`)
    await scene.sql(`UPDATE customers SET email = 'B@X.es' WHERE id = 2`)
    expect(await scene.keys()).toEqual(['1', '2'])
  })

  test('a key in citext is noted in every spelling that it had', async () => {
    await using scene = await openScene({
      tables: `${CUSTOMERS}; ALTER TABLE customers ALTER COLUMN id TYPE citext; INSERT INTO customers (id) VALUES ('ana')`,
    })
    await scene.sql(`UPDATE customers SET id = 'ANA'`)
    expect(await scene.keys()).toEqual(['ANA', 'ana'])
  })
})

describe('transactions', () => {
  test('a transaction that commits after a later one is not skipped', async () => {
    await using scene = await openScene()
    await using slow = await scene.db.session()
    await slow.query('BEGIN')
    await slow.query('INSERT INTO customers (id) VALUES (1)')
    await scene.sql('INSERT INTO customers (id) VALUES (2)')
    expect(await scene.keys()).toEqual(['2'])
    await slow.query('COMMIT')
    expect(await scene.keys()).toEqual(['1'])
  })

  test('a drain takes no more than its limit, and the rest stays', async () => {
    await using scene = await openScene({ tables: FOUR })
    await scene.sql(`UPDATE customers SET plan = 'premium'`)
    const first: CapturedChange[] = []
    expect(await drainOutbox(scene.db.pool, async (_, some) => void first.push(...some), 3)).toBe(3)
    expect([...first.map(({ key }) => key), ...(await scene.keys())].sort()).toEqual(['1', '2', '3', '4'])
  })
})
