import { expect, test } from 'vitest'
import { discard, release } from '../../src/brake/held.ts'
import { brakedHouse, heldIn, PERSON, shutOut } from '../support/held.ts'
import { otherLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

/** All customers are looked up again, as after a suspicion. */
const SUSPECT = `
UPDATE rollcall.owed SET change_version = change_version + 1, suspect_version = change_version + 1, unknown = true,
  due_at = coalesce(due_at, now())`

otherLane('the brake holds', (lane) => {
  test('what was discarded, although GETs at the service fail', async () => {
    await using house = await brakedHouse(lane, 30)
    const { pool } = house.db
    await pool.query('DELETE FROM clientes')
    await until(async () => (await heldIn(pool)) === 20)
    await discard(pool, { kind: 'revocation', ...PERSON })
    // Seldom enough that they hardly ever fail ten times in a row: after that all calls would stop for a while.
    house.sandbox.faults.set([
      { rate: 0.35, match: { method: 'GET' }, action: { kind: 'status', status: 500 } },
    ])
    await pool.query(SUSPECT)
    await until(() => house.calls().filter(({ method }) => method === 'GET').length > 30)
    house.sandbox.faults.clear()
    await house.settled()
    expect([shutOut(house), await heldIn(pool)]).toEqual([10, 0])
  })

  test('registrations, when it is the clearing of a field that was released', async () => {
    await using house = await brakedHouse(lane, 40)
    const { pool } = house.db
    await pool.query('UPDATE clientes SET correo = NULL')
    await until(async () => (await heldIn(pool, 'clear:email')) === 30)
    house.sandbox.users.clear()
    await release(pool, { kind: 'clear:email', ...PERSON })
    await house.settled()
    expect(house.sandbox.users.size).toBeLessThanOrEqual(10)
    expect(await heldIn(pool, 'absence')).toBeGreaterThanOrEqual(20)
  })

  test('an absence, also where another reason came in between', async () => {
    await using house = await brakedHouse(lane, 40)
    house.sandbox.users.clear()
    await house.sql(`UPDATE clientes SET nombre = 'Eva'`)
    await until(async () => (await heldIn(house.db.pool, 'absence')) === 30)
    await house.sql(`UPDATE clientes SET plan = 'nonsense'`)
    const rejected = `SELECT FROM rollcall.ledger WHERE state = 'rejected'`
    await until(async () => (await house.sql(rejected)).rowCount === 40)
    await house.settle(`UPDATE clientes SET plan = 'premium'`)
    expect([house.sandbox.users.size, await heldIn(house.db.pool, 'absence')]).toEqual([10, 30])
  })

  test('no customer that the service knows again: edits arrive, and deletions', async () => {
    await using house = await brakedHouse(lane, 40)
    house.sandbox.faults.set([{ action: { kind: 'status', status: 404 } }])
    await house.sql(`UPDATE clientes SET nombre = 'Eva'`)
    await until(async () => (await heldIn(house.db.pool, 'absence')) === 30)
    house.sandbox.faults.clear()
    await discard(house.db.pool, { kind: 'absence', ...PERSON })
    await house.settle(SUSPECT)
    expect(house.sandbox.users.all().filter(({ first_name }) => first_name === 'Eva')).toHaveLength(40)
    await house.settle(`DELETE FROM clientes WHERE id = 'k19'`)
    expect(house.sandbox.users.get('k19')?.status).toBe(0)
  })

  test('no revocation for the sake of an erasing that waits, and no erasing because of a revocation', async () => {
    await using house = await brakedHouse(lane, 40, { onRemove: 'erase' })
    const { pool } = house.db
    await pool.query('DELETE FROM clientes')
    await until(async () => (await heldIn(pool, 'erase')) === 30)
    expect(await heldIn(pool, 'revocation')).toBe(30)
    await release(pool, { kind: 'revocation', ...PERSON })
    await house.settled()
    expect([shutOut(house), await heldIn(pool, 'erase')]).toEqual([40, 30])
    expect(house.sandbox.users.all().filter(({ email }) => email === null)).toHaveLength(10)
    await release(pool, { kind: 'erase', ...PERSON })
    await house.settled()
    expect(shutOut(house)).toBe(40)
    expect(house.sandbox.users.all().every(({ email }) => email === null)).toBe(true)
  })

  test('no customer whose access is given back after a release took it', async () => {
    await using house = await brakedHouse(lane, 40)
    const { pool } = house.db
    await pool.query('CREATE TABLE kept AS TABLE clientes; DELETE FROM clientes')
    await until(async () => (await heldIn(pool)) === 30)
    await release(pool, { kind: 'revocation', ...PERSON })
    await house.settled()
    expect(shutOut(house)).toBe(40)
    await house.settle('INSERT INTO clientes TABLE kept')
    expect([shutOut(house), await heldIn(pool)]).toEqual([0, 0])
    await pool.query(`UPDATE clientes SET plan = 'trial'`)
    await until(async () => (await heldIn(pool, 'status')) === 30)
  })

  test('no update that writes back a loss which a lookup has just shown, also where the row asks for it', async () => {
    await using house = await brakedHouse(lane, 40)
    const { users } = house.sandbox
    for (const { user_id } of users.all()) users.edit(user_id, { status: 0 })
    await house.settle(`UPDATE rollcall.owed SET unknown = true;
      UPDATE clientes SET plan = 'free', nombre = 'Eva'`)
    expect(users.all().filter(({ first_name }) => first_name === 'Eva')).toHaveLength(10)
    expect(await heldIn(house.db.pool, 'revocation')).toBe(30)
  })

  test('after wrong answers for a while, the customers are looked up before anything else', async () => {
    await using house = await brakedHouse(lane, 40)
    const setAll = (status: 0 | 2) => {
      for (const { user_id } of house.sandbox.users.all()) house.sandbox.users.edit(user_id, { status })
    }
    setAll(0)
    await house.sql(SUSPECT)
    await until(async () => (await heldIn(house.db.pool, 'status')) === 30)
    setAll(2)
    await house.sql(`UPDATE clientes SET nombre = 'Eva' WHERE id IN ('k1', 'k2', 'k3', 'k4')`)
    await house.settle(`DELETE FROM clientes WHERE id IN ('k11', 'k12', 'k13', 'k14', 'k15')`)
    expect(shutOut(house)).toBe(5)
    expect(house.sandbox.users.all().filter(({ first_name }) => first_name === 'Eva')).toHaveLength(4)
  })

  test('the clearing of a country that no GET shows, also with another key for the digests or for the customer', async () => {
    await using house = await brakedHouse(lane, 40)
    await house.settle(`UPDATE clientes SET pais = 'ES'`)
    await house.sql('UPDATE rollcall.ledger SET digest_key = $1', ['another'])
    await house.settle('UPDATE clientes SET pais = NULL')
    expect(await heldIn(house.db.pool, 'clear:country_code')).toBe(30)
    expect(house.sandbox.users.all().filter(({ country_code }) => country_code === null)).toHaveLength(10)
  })
})
