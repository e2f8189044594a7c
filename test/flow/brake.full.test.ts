// Accidents with many customers at once: each stops at its limit and waits for a person.
import { describe, expect, test } from 'vitest'
import { discard, release } from '../../src/brake/held.ts'
import { brakedHouse, heldIn, PERSON, shutOut } from '../support/held.ts'
import type { House } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

async function arriving(house: House, work: () => Promise<unknown>): Promise<readonly unknown[]> {
  const before = house.calls().length
  await work()
  return house.calls().slice(before)
}

async function someoneHeld({ db }: House): Promise<string> {
  const { rows } = await db.sql<{ key: string }>(
    `SELECT key FROM rollcall.ledger WHERE state = 'held' ORDER BY key LIMIT 1`,
  )
  return rows[0]?.key ?? ''
}

describe('a mass accident stops at its limit', () => {
  test('rows that are deleted: live changes go on, restored rows cost no call', async () => {
    await using house = await brakedHouse(lane, 60)
    await house.sql(`CREATE TABLE kept AS SELECT * FROM clientes WHERE id <> 'k1'`)
    await house.sql(`DELETE FROM clientes WHERE id <> 'k1'`)
    await until(async () => (await heldIn(house.db.pool, 'revocation')) === 49)
    await house.settle(`UPDATE clientes SET nombre = 'Eva' WHERE id = 'k1'`)
    expect(house.sandbox.users.get('k1')?.first_name).toBe('Eva')
    expect(shutOut(house)).toBe(10)

    const late = await arriving(house, async () => {
      await house.settle('INSERT INTO clientes SELECT * FROM kept')
    })
    expect(await heldIn(house.db.pool)).toBe(0)
    expect(late).toHaveLength(10)
    expect(shutOut(house)).toBe(0)
  })

  test('rows that are deleted, and discarded: no call, and no call after a sweep of all customers', async () => {
    await using house = await brakedHouse(lane, 30)
    await house.sql('DELETE FROM clientes')
    await until(async () => (await heldIn(house.db.pool, 'revocation')) === 20)
    await house.settled()
    const calls = await arriving(house, async () => {
      await discard(house.db.pool, { kind: 'revocation', ...PERSON })
      await house.settle(
        `UPDATE rollcall.owed SET change_version = change_version + 1, due_at = now() WHERE due_at IS NULL`,
      )
    })
    expect(calls).toEqual([])
    const { rowCount } = await house.sql(`SELECT FROM rollcall.ledger WHERE state = 'discarded'`)
    expect([rowCount, shutOut(house)]).toEqual([20, 10])
  })

  test('rows that are deleted, and released: exactly these lose access, and the next one counts from nothing', async () => {
    await using house = await brakedHouse(lane, 40)
    const { pool } = house.db
    await pool.query(`DELETE FROM clientes WHERE id NOT IN ('k1', 'k2')`)
    await until(async () => (await heldIn(pool, 'revocation')) === 28)
    await release(pool, { kind: 'revocation', ...PERSON })
    await house.settled()
    expect(shutOut(house)).toBe(38)
    await house.settle(`DELETE FROM clientes WHERE id = 'k1'`)
    expect(house.sandbox.users.get('k1')?.status).toBe(0)
    expect(await heldIn(pool)).toBe(0)
  })

  test('a release is for what was held: who comes back and is deleted again is held again', async () => {
    await using house = await brakedHouse(lane, 20)
    const { pool } = house.db
    await pool.query(`CREATE TABLE kept AS SELECT * FROM clientes`)
    await pool.query('DELETE FROM clientes')
    await until(async () => (await heldIn(pool, 'revocation')) === 10)
    const key = await someoneHeld(house)
    await pool.query('INSERT INTO clientes SELECT * FROM kept WHERE id = $1', [key])
    await release(pool, { keys: [key], ...PERSON })
    await house.settled()
    await house.settle('DELETE FROM clientes WHERE id = $1', [key])
    expect(house.sandbox.users.get(key)?.status).toBe(2)
    expect(await heldIn(pool, 'revocation')).toBe(10)
  })

  test('a plan that changes for every customer', async () => {
    await using house = await brakedHouse(lane, 30)
    await house.sql(`UPDATE clientes SET plan = 'trial'`)
    await until(async () => (await heldIn(house.db.pool, 'status')) === 20)
    await house.settled()
    expect(house.sandbox.users.all().filter(({ status }) => status === 4)).toHaveLength(10)
    const calls = await arriving(house, async () => {
      await house.settle(
        `UPDATE clientes SET plan = 'premium' WHERE id IN (SELECT key FROM rollcall.ledger WHERE state = 'held')`,
      )
    })
    expect(calls).toEqual([])
  })

  test('an e-mail that is emptied for every customer; access and other fields go on', async () => {
    await using house = await brakedHouse(lane, 30)
    await house.sql('UPDATE clientes SET correo = NULL')
    await until(async () => (await heldIn(house.db.pool, 'clear:email')) === 20)
    await house.settled()
    expect(house.sandbox.users.all().filter(({ email }) => email === null)).toHaveLength(10)
    const key = await someoneHeld(house)
    await house.settle(`UPDATE clientes SET nombre = 'Eva', plan = 'trial' WHERE id = $1`, [key])
    const user = { first_name: 'Eva', status: 4, email: `${key}@example.com` }
    expect(house.sandbox.users.get(key)).toMatchObject(user)
    expect(await heldIn(house.db.pool, 'clear:email')).toBe(20)
  })

  test('an import', async () => {
    await using house = await brakedHouse(lane, 130)
    expect([house.sandbox.users.size, await heldIn(house.db.pool, 'create')]).toEqual([100, 30])
    await house.sql(`DELETE FROM clientes WHERE id IN (SELECT key FROM rollcall.ledger WHERE state = 'held')`)
    const calls = await arriving(house, () => house.settled())
    expect(calls.every((call) => (call as { method: string }).method === 'GET')).toBe(true)
    expect(house.sandbox.users.size).toBe(100)
  })

  test('a service that suddenly knows no user', async () => {
    await using house = await brakedHouse(lane, 30)
    house.sandbox.users.clear()
    await house.sql(`UPDATE clientes SET nombre = 'Eva'`)
    await until(async () => (await heldIn(house.db.pool, 'absence')) === 20)
    await house.settled()
    expect(house.sandbox.users.size).toBe(10)
  })

  test('with two workers at once exactly as many go through', async () => {
    await using house = await brakedHouse(lane, 60)
    await house.startWorker()
    await house.sql('DELETE FROM clientes')
    await until(async () => (await heldIn(house.db.pool)) === 50)
    await house.settled()
    expect(shutOut(house)).toBe(10)
  })
})
