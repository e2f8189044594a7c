// Rows vanish for a while during the run of a worker: no customer loses access for it, and rollcall reports it.
import { expect, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { buildHouse, CONFIG, CUSTOMERS, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const KEYS = ['a', 'b', 'c']
const WITH_ACCESS = [2, 2, 2]

async function sync(house: House): Promise<void> {
  await house.sql(`INSERT INTO clientes (id, plan) SELECT k, 'premium' FROM unnest($1::text[]) k`, [KEYS])
  await house.startWorker()
  await until(() => KEYS.every((key) => house.sandbox.users.get(key)))
  await house.settled()
}

const statuses = (house: House) => KEYS.map((key) => house.sandbox.users.get(key)?.status)

async function waiting(house: House, code = 'unwatched'): Promise<number> {
  const { rowCount } = await house.sql(
    `SELECT FROM rollcall.ledger WHERE state = 'failing' AND reason->>'code' = $1`,
    [code],
  )
  return rowCount ?? 0
}

test('a table that is made anew accuses no customer of being gone before its triggers are there', async () => {
  await using house = await buildHouse(lane)
  await sync(house)
  await house.sql(`CREATE TABLE kept AS TABLE clientes; UPDATE clientes SET nombre = 'Ana';
    DROP TABLE clientes; ${CUSTOMERS}; GRANT SELECT ON clientes TO PUBLIC`)
  await until(async () => (await waiting(house)) === KEYS.length)
  expect(statuses(house)).toEqual(WITH_ACCESS)
  const { output } = await rollcall(house, 'failures')
  expect(output.replaceAll(/\s+/g, ' ')).toContain('rollcall capture install')
  // A key that neither the rows nor the ledger have is still a typing error.
  expect(await rollcall(house, 'sync', 'nobody')).toMatchObject({ code: 2 })

  await house.sql('INSERT INTO clientes TABLE kept')
  expect(await rollcall(house, 'capture', 'install')).toMatchObject({ code: 0 })
  await house.settled()
  expect([await waiting(house), statuses(house)]).toEqual([0, WITH_ACCESS])
  await house.sql(`DELETE FROM clientes WHERE id = 'b'`)
  await until(() => house.sandbox.users.get('b')?.status === 0)
  expect(statuses(house)).toEqual([2, 0, 2])
})

test("a joined table that is made anew takes no customer's access before its triggers are there", async () => {
  const customers = { view: 'public.v_clientes', key: 'id' } as const
  const plans = (table: string) => `CREATE TABLE ${table} (cliente text PRIMARY KEY, plan text NOT NULL);
    GRANT SELECT ON ${table} TO PUBLIC`
  const view = `CREATE VIEW v_clientes AS SELECT c.*, s.plan AS tarifa FROM clientes c LEFT JOIN suscripciones s ON s.cliente = c.id;
    GRANT SELECT ON v_clientes TO PUBLIC`
  await using house = await buildHouse(lane, {
    sql: `${CUSTOMERS}; ${plans('suscripciones')}; ${view}`,
    config: {
      customers,
      watch: [
        { table: 'public.clientes', key: 'id' },
        { table: 'public.suscripciones', key: 'cliente' },
      ],
      mapping: { ...CONFIG.mapping, status: { column: 'tarifa', values: { premium: 2 }, whenNull: 0 } },
    },
  })
  await house.sql(`INSERT INTO suscripciones SELECT k, 'premium' FROM unnest($1::text[]) k`, [KEYS])
  await sync(house)
  // rollcall does not remember access for this customer, so the next claim makes a lookup.
  await house.sql(`UPDATE rollcall.ledger SET sent_status = 0, seen_status = 0 WHERE key = 'c';
    UPDATE rollcall.owed SET unknown = true WHERE key = 'c'`)
  await house.sql(`CREATE TABLE kept AS TABLE suscripciones; DROP VIEW v_clientes; DROP TABLE suscripciones;
    ${plans('suscripciones')}; ${view}; UPDATE clientes SET nombre = 'Ana'`)
  await until(async () => (await waiting(house)) === KEYS.length)
  expect(statuses(house)).toEqual(WITH_ACCESS)
  for (const command of [['explain', 'a'], ['sync', 'a'], ['sync', 'a', '--dry-run'], ['failures']])
    expect((await rollcall(house, ...command)).output, command.join(' ')).toContain(
      'rollcall capture install',
    )
  const { output } = await rollcall(house, 'explain', 'a')
  expect(output).not.toContain('reject')

  await house.sql('INSERT INTO suscripciones TABLE kept')
  expect(await rollcall(house, 'capture', 'install')).toMatchObject({ code: 0 })
  await house.settled()
  expect([await waiting(house), statuses(house)]).toEqual([0, WITH_ACCESS])
  await house.sql(`DELETE FROM suscripciones WHERE cliente = 'b'`)
  await until(() => house.sandbox.users.get('b')?.status === 0)
  expect(statuses(house)).toEqual([2, 0, 2])
  await house.sql(`DO $$ BEGIN EXECUTE (SELECT format('CREATE TABLE unwatched (id text); CREATE TRIGGER %I
    AFTER INSERT ON unwatched EXECUTE FUNCTION %s()', tgname, tgfoid::regproc) FROM pg_trigger WHERE tgname ^@ 'rollcall' LIMIT 1); END $$`)
  const { output: removed } = await rollcall(house, 'capture', 'install')
  expect(removed).toMatch(/^Removed triggers .*:\s+public\.unwatched$/s)
})
