// A house whose worker role has been given the script of `rollcall grants`, as strictly as a DBA may have it.
import pg from 'pg'
import { type GrantsAsked, grantsScript } from '../../src/cli/grants.ts'
import type { TestRole } from '../support/database.ts'
import { buildHouse, CONFIG, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

export const postgresLane = lane

/** The key's type is in a schema of its own. */
const TABLES = `
CREATE SCHEMA tienda;
CREATE TYPE tienda.clase AS ENUM ('a', 'b');
CREATE SCHEMA tipos;
CREATE TYPE tipos.clave AS ENUM ('k1', 'k2', 'k3');
CREATE TABLE tienda.clientes (id tipos.clave PRIMARY KEY, plan text NOT NULL, correo text, interno text, clase tienda.clase);
CREATE TABLE tienda.pedidos (id int, cliente text);
INSERT INTO tienda.pedidos VALUES (1, 'k1')`

export type GrantsScene = AsyncDisposable & {
  readonly house: House
  readonly worker: Granted
  readonly reader: Granted
}

export type Granted = TestRole & { readonly script: string }

export async function openScene(): Promise<GrantsScene> {
  const house = await buildHouse(postgresLane, {
    sql: TABLES,
    config: {
      customers: { table: 'tienda.clientes', key: 'id' },
      mapping: { user_id: 'id', status: CONFIG.mapping.status, email: 'correo' },
    },
  })
  // A role that is not named may run no function, and may not connect.
  await house.sql(
    `REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA rollcall_queue FROM PUBLIC;
     REVOKE ALL ON DATABASE ${house.db.name} FROM PUBLIC`,
  )
  const worker = await grant(house, { kind: 'worker', config: house.config, queue: true })
  const reader = await grant(house, { kind: 'reader' })
  return { house, worker, reader, [Symbol.asyncDispose]: () => house[Symbol.asyncDispose]() }
}

async function grant({ db }: House, asked: GrantsAsked): Promise<Granted> {
  const role = await db.makeRole()
  const { script } = await grantsScript(db.pool, role.name, asked)
  await db.sql(script)
  return { ...role, script }
}

/** A plain session of that role. */
export async function sessionOf({ url }: TestRole) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}
