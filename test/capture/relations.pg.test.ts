import { expect, test } from 'vitest'
import { openMarks } from '../../src/capture/marks.ts'
import { CUSTOMERS, config, configure, openScene } from './scene.ts'

test('a key of several columns is noted in its canonical text; with a NULL in it, not at all', async () => {
  await using scene = await openScene({
    tables: `CREATE TABLE customers (tenant text, id bigint, plan text)`,
    config: configure({
      customers: { table: 'customers', key: ['tenant', 'id'] },
      mapping: { user_id: { columns: ['tenant', 'id'], map: () => 'x' }, status: 'plan' },
    }),
  })
  await scene.sql(
    `INSERT INTO customers VALUES ('a "b", c', 1), ('ñ', 9007199254740993), (NULL, 3), ('d', NULL)`,
  )
  expect(await scene.keys()).toEqual(['["a \\"b\\", c", "1"]', '["ñ", "9007199254740993"]'])
  await scene.sql(`UPDATE customers SET id = 3 WHERE tenant = 'd'; DELETE FROM customers WHERE tenant = 'ñ'`)
  expect(await scene.noted()).toEqual(['["d", "3"] 1', '["ñ", "9007199254740993"] 0'])
})

test('names of any spelling and length', async () => {
  const table = `${'ñ'.repeat(20)} "$rollcall$" 'x'\\y`
  const quoted = `"Ca fé"."${table.replaceAll('"', '""')}"`
  await using scene = await openScene({
    tables: `CREATE SCHEMA "Ca fé"; CREATE TABLE ${quoted} ("select" int, "Plan ""$1""" text, "keys" text, n int)`,
    config: configure({
      customers: { table: `"Ca fé"."${table.replaceAll('"', '""')}"`, key: 'select' },
      mapping: { user_id: 'select', status: 'Plan "$1"', email: 'keys' },
    }),
  })
  await scene.sql(`INSERT INTO ${quoted} VALUES (1, 'free', 'a', 1), (2, 'free', 'a', 1)`)
  expect(await scene.noted()).toEqual(['1 1', '2 1'])
  await scene.sql(`UPDATE ${quoted} SET "keys" = 'b', n = 5 WHERE "select" = 1`)
  await scene.sql(`UPDATE ${quoted} SET n = 6`)
  await scene.sql(`DELETE FROM ${quoted} WHERE "select" = 2`)
  expect(await scene.noted()).toEqual(['1 1', '2 0'])
  await scene.sql(`TRUNCATE ${quoted}`)
  expect(await openMarks(scene.db.pool)).toMatchObject([{ kind: 'truncate', relation: `Ca fé.${table}` }])
})

const PARTITIONED = `
  CREATE TABLE customers (id int, region text, plan text) PARTITION BY LIST (region);
  CREATE TABLE spain PARTITION OF customers FOR VALUES IN ('es');
  CREATE TABLE others PARTITION OF customers DEFAULT PARTITION BY RANGE (id);
  CREATE TABLE others_low PARTITION OF others FOR VALUES FROM (0) TO (100);
  INSERT INTO customers VALUES (1, 'es', 'free'), (2, 'pt', 'free'), (3, 'fr', 'free')`
const BY_REGION = configure({ mapping: { user_id: 'id', status: 'plan' } })

const BEHIND_A_VIEW = `
  CREATE TABLE clientes (id int PRIMARY KEY, correo text, ajeno text);
  CREATE TABLE suscripciones (cliente int, plan text, precio numeric);
  CREATE VIEW planes AS SELECT cliente, max(plan) AS plan FROM suscripciones GROUP BY cliente;
  CREATE VIEW usuarios AS SELECT c.id, c.correo, p.plan FROM clientes c LEFT JOIN planes p ON p.cliente = c.id;
  INSERT INTO clientes VALUES (1, 'a@x.es'), (2, 'b@x.es'), (3, 'c@x.es');
  INSERT INTO suscripciones VALUES (1, 'free', 0), (1, 'free', 0), (2, 'free', 0)`
const BY_VIEW = configure({
  customers: { view: 'usuarios', key: 'id' },
  watch: [
    { table: 'clientes', key: 'id' },
    { table: 'suscripciones', key: 'cliente' },
  ],
  mapping: { user_id: 'id', status: 'plan', email: 'correo' },
})

test('a partitioned table is captured through itself and through each partition', async () => {
  await using scene = await openScene({ tables: PARTITIONED, config: BY_REGION })
  await scene.sql(`UPDATE customers SET plan = 'premium' WHERE id < 3`)
  expect(await scene.noted()).toEqual(['1 1', '2 1'])
  await scene.sql(`UPDATE spain SET plan = 'trial'; UPDATE others SET plan = 'trial' WHERE id = 2`)
  expect(await scene.noted()).toEqual(['1 1', '2 1'])
  await scene.sql(`INSERT INTO others_low VALUES (7, 'de', 'free'); DELETE FROM others_low WHERE id = 3`)
  expect(await scene.noted()).toEqual(['3 0', '7 1'])
})

test('a row that moves to another partition has not changed by that', async () => {
  await using scene = await openScene({ tables: PARTITIONED, config: BY_REGION })
  await scene.sql(`UPDATE customers SET region = 'it' WHERE id = 1`)
  expect(await scene.keys()).toEqual([])
  await scene.sql(`UPDATE customers SET region = 'es', plan = 'premium' WHERE id = 1`)
  expect(await scene.keys()).toEqual(['1'])
})

test('TRUNCATE of one partition leaves a mark', async () => {
  await using scene = await openScene({ tables: PARTITIONED, config: BY_REGION })
  await scene.sql('TRUNCATE spain')
  expect(await openMarks(scene.db.pool)).toMatchObject([{ kind: 'truncate', relation: 'public.customers' }])
})

test('a table that inherits from the customers is captured with them', async () => {
  await using scene = await openScene({
    tables: `CREATE TABLE customers (id int, plan text); CREATE TABLE vip (perk text) INHERITS (customers)`,
    config: BY_REGION,
  })
  await scene.sql(`INSERT INTO vip VALUES (1, 'free', 'x'); UPDATE customers SET plan = 'premium'`)
  expect(await scene.keys()).toEqual(['1'])
})

test('tables behind a view are captured by the columns that the view reads, deletions among live changes', async () => {
  await using scene = await openScene({ tables: BEHIND_A_VIEW, config: BY_VIEW })
  await scene.sql(`UPDATE clientes SET ajeno = 'x'; UPDATE suscripciones SET precio = 9`)
  expect(await scene.noted()).toEqual([])
  await scene.sql(`UPDATE clientes SET correo = 'z@x.es' WHERE id = 3`)
  await scene.sql(`UPDATE suscripciones SET plan = 'premium' WHERE cliente = 2`)
  expect(await scene.noted()).toEqual(['2 1', '3 1'])
  await scene.sql(
    `DELETE FROM suscripciones WHERE cliente = 2; INSERT INTO suscripciones VALUES (3, 'free', 1), (NULL, 'x', 1)`,
  )
  expect(await scene.noted()).toEqual(['2 1', '3 1'])
})

test('several rows of one key are compared in pairs', async () => {
  await using scene = await openScene({ tables: BEHIND_A_VIEW, config: BY_VIEW })
  await scene.sql(`UPDATE suscripciones SET plan = CASE WHEN ctid = '(0,1)' THEN 'premium' ELSE plan END`)
  expect(await scene.keys()).toEqual(['1'])
  await scene.sql(
    `UPDATE suscripciones SET plan = CASE plan WHEN 'free' THEN 'premium' ELSE 'free' END WHERE cliente = 1`,
  )
  expect(await scene.keys()).toEqual(['1'])
  await scene.sql(`UPDATE suscripciones SET cliente = 3 WHERE cliente = 2`)
  expect(await scene.keys()).toEqual(['2', '3'])
})

test('what a foreign key does on its own is captured too', async () => {
  await using scene = await openScene({
    tables: `${BEHIND_A_VIEW}; ALTER TABLE suscripciones ADD FOREIGN KEY (cliente) REFERENCES clientes ON DELETE CASCADE ON UPDATE CASCADE`,
    config: BY_VIEW,
  })
  await scene.sql(`UPDATE clientes SET id = 20 WHERE id = 2`)
  expect(await scene.keys()).toEqual(['2', '20'])
  await scene.sql(`DELETE FROM clientes WHERE id = 1`)
  expect(await scene.keys()).toEqual(['1'])
})

test('one table can be watched for two keys', async () => {
  const relation = { schema: 'public', name: 'invitation' }
  const byHost = { relation, key: ['host'] }
  const byGuest = { relation, key: ['guest'], columns: ['host'] }
  await using scene = await openScene({
    tables: `${CUSTOMERS}; CREATE TABLE invitation (host int, guest int, state text)`,
    config: { ...config, watch: [...config.watch, byHost, byGuest] },
  })
  await scene.sql(`INSERT INTO invitation VALUES (1, 2, 'sent')`)
  expect(await scene.noted()).toEqual(['1 1', '2 1'])
  await scene.sql(`UPDATE invitation SET state = 'read'`)
  expect(await scene.noted()).toEqual(['1 1'])
})
