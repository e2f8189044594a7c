import { describe, expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { workingHouse } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

/** Customers in two tables, seen through a view. */
const SQL = `
CREATE TABLE clientes (codigo text PRIMARY KEY, nombre text, correo text, alta date);
CREATE TABLE suscripciones (id serial PRIMARY KEY, cliente text NOT NULL, plan text NOT NULL, notas text);
CREATE VIEW v_clientes AS
  SELECT c.codigo, c.nombre, c.correo, coalesce(s.plan, 'ninguno') AS plan
  FROM clientes c LEFT JOIN suscripciones s ON s.cliente = c.codigo`

const config: Partial<RollcallConfig> = {
  customers: { view: 'v_clientes', key: 'codigo' },
  watch: [
    { table: 'clientes', key: 'codigo' },
    { table: 'suscripciones', key: 'cliente' },
  ],
  mapping: {
    user_id: 'codigo',
    status: { column: 'plan', values: { ninguno: 0, basico: 2, prueba: 4 } },
    first_name: 'nombre',
    email: 'correo',
  },
}

describe('customers seen through a view', () => {
  test('a change in either table reaches the service, and columns that the view does not use cost nothing', async () => {
    await using house = await workingHouse(lane, { sql: SQL, config })
    await house.sql(`INSERT INTO clientes VALUES ('c-1', 'Ana', 'ana@example.com', '2024-01-01')`)
    await house.settle(`INSERT INTO suscripciones (cliente, plan) VALUES ('c-1', 'basico')`)
    expect(house.sandbox.users.get('c-1')).toMatchObject({ status: 2, first_name: 'Ana' })

    await house.sql(`UPDATE clientes SET alta = '2025-01-01'; UPDATE suscripciones SET notas = 'x'`)
    expect((await house.sql('SELECT FROM rollcall.outbox')).rowCount).toBe(0)

    await house.settle(`UPDATE suscripciones SET plan = 'prueba'`)
    expect(house.calls('c-1').at(-1)).toEqual({ method: 'PATCH', body: { status: 4 } })

    await house.settle('DELETE FROM suscripciones')
    expect(house.calls('c-1').at(-1)).toEqual({ method: 'PATCH', body: { status: 0 } })
    await house.settle('DELETE FROM clientes')
    expect(house.calls('c-1').at(-1)).toEqual({ method: 'PATCH', body: { status: 0 } })
  })

  test('a mapped column that goes away while the worker runs: writers go on, and it is caught up afterwards', async () => {
    const { customers: _view, watch: _watch, ...rest } = config
    const table: Partial<RollcallConfig> = { ...rest, customers: { table: 'clientes', key: 'codigo' } }
    await using house = await workingHouse(lane, {
      sql: 'CREATE TABLE clientes (codigo text PRIMARY KEY, nombre text, correo text, plan text)',
      config: table,
    })
    await house.settle(`INSERT INTO clientes VALUES ('c-1', 'Ana', NULL, 'basico')`)
    await house.sql('ALTER TABLE clientes RENAME nombre TO nom')
    await house.sql(
      `UPDATE clientes SET nom = 'Eva'; INSERT INTO clientes VALUES ('c-2', 'Pía', NULL, 'basico')`,
    )
    await until(async () => {
      const { rows } = await house.sql(
        `SELECT count(*)::int AS n FROM rollcall.ledger WHERE reason->>'code' = 'customer-unreadable'`,
      )
      return rows[0].n === 2
    })
    await house.settle('ALTER TABLE clientes RENAME nom TO nombre')
    expect(house.sandbox.users.all().map(({ first_name }) => first_name)).toEqual(['Eva', 'Pía'])
    // No lookup was made: no call had been made of unknown outcome.
    expect(
      house
        .calls()
        .map(({ method }) => method)
        .filter((method) => method === 'GET'),
    ).toEqual([])
  })
})
