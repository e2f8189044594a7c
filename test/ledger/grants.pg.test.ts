import { describe, expect, test } from 'vitest'
import { collapseOutbox } from '../../src/capture/collapse.ts'
import { checkRights } from '../../src/ledger/readable.ts'
import { ofFile } from '../support/of-file.ts'
import { openScene, sessionOf } from './grants-scene.ts'

const scene = ofFile(openScene)

/** All rights in the database, beside those of its owner. */
async function allRights(): Promise<string> {
  const { rows } = await scene.house.db.pool.query<{ rights: string }>(
    `SELECT jsonb_build_array(
       (SELECT jsonb_agg(array[oid::text, relacl::text] ORDER BY oid) FROM pg_class),
       (SELECT jsonb_agg(array[attrelid::text, attname, attacl::text] ORDER BY attrelid, attnum) FROM pg_attribute),
       (SELECT jsonb_agg(array[oid::text, nspacl::text] ORDER BY oid) FROM pg_namespace),
       (SELECT jsonb_agg(array[oid::text, proacl::text] ORDER BY oid) FROM pg_proc),
       (SELECT jsonb_agg(array[oid::text, datacl::text] ORDER BY oid) FROM pg_database WHERE datname = current_database()))::text AS rights`,
  )
  return rows[0]?.rights ?? ''
}

test('the script can be run again: the second time nothing changes', async () => {
  const once = await allRights()
  await scene.house.db.pool.query(scene.worker.script)
  expect(await allRights()).toBe(once)
})

describe('the role of the worker', () => {
  test.each([
    [
      'reads no column of the customers beside those of the configuration',
      'SELECT interno FROM tienda.clientes',
    ],
    ['reads no other table', 'SELECT * FROM tienda.pedidos'],
    ['changes no customer', `UPDATE tienda.clientes SET plan = 'free'`],
    ['locks no customer', 'SELECT id FROM tienda.clientes FOR UPDATE'],
    ['makes no table in public', 'CREATE TABLE public.x (id int)'],
    ['makes none beside its own', 'CREATE TABLE rollcall.x (id int)'],
    ['makes no sequence in the queue', 'CREATE SEQUENCE rollcall_queue.x'],
    ['makes no function', `CREATE FUNCTION rollcall.x() RETURNS int LANGUAGE sql AS 'SELECT 1'`],
    [
      'makes no trigger',
      'CREATE TRIGGER x AFTER INSERT ON tienda.clientes EXECUTE FUNCTION suppress_redundant_updates_trigger()',
    ],
    ['empties no table', 'TRUNCATE rollcall.owed'],
    ['takes no work row away', 'DELETE FROM rollcall.owed'],
    ['makes no change up', `INSERT INTO rollcall.outbox (key, lane) VALUES ('k1', 0)`],
    ['binds the records to no other service', `UPDATE rollcall.target SET origin = 'https://example.com'`],
    ['says of no migration that it was made', `INSERT INTO rollcall.migration (hash) VALUES ('x')`],
    ['gives its rights to nobody', 'GRANT SELECT ON rollcall.owed TO PUBLIC'],
  ])('%s', async (_what, statement) => {
    await using session = await sessionOf(scene.worker)
    if (statement.startsWith('GRANT')) {
      const before = await allRights()
      await session.client.query(statement).catch(() => undefined)
      return expect(await allRights()).toBe(before)
    }
    await expect(session.client.query(statement)).rejects.toThrow(/permission denied|must be owner/)
  })
})

test('a worker whose role lacks a right names it at its start', async () => {
  const { house, worker } = scene
  await using session = await sessionOf(worker)
  await checkRights(session.client, worker.name)
  const lacking = [
    'INSERT ON rollcall.run',
    'UPDATE (bound_by) ON rollcall.target',
    'USAGE ON SEQUENCE rollcall.token',
  ]
  const change = (verb: string, to: string) =>
    lacking.map((each) => `${verb} ${each} ${to} ${worker.name}`).join('; ')
  await house.sql(change('REVOKE', 'FROM'))
  const details = [
    ...lacking.map((each) => `${worker.name} lacks ${each}`),
    expect.stringContaining('grants'),
  ]
  await expect(checkRights(session.client, worker.name)).rejects.toMatchObject({
    code: 'DATABASE_REFUSED',
    details,
  })
  await house.sql(change('GRANT', 'TO'))
})

test('without the right to VACUUM, as before Postgres 17, the outbox is tidied and nothing fails', async () => {
  const { house, worker } = scene
  await house.sql(
    `REVOKE MAINTAIN ON rollcall.outbox FROM ${worker.name};
     INSERT INTO rollcall.outbox (key, lane) VALUES ('k1', 1), ('k1', 1)`,
  )
  await using session = await sessionOf(worker)
  const notices: string[] = []
  session.client.on('notice', ({ message }) => notices.push(message ?? ''))
  expect(await collapseOutbox(session.client)).toBe(1)
  expect(notices).toEqual([expect.stringContaining('permission denied to vacuum "outbox", skipping it')])
})
