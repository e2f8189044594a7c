import { expect, test } from 'vitest'
import { release } from '../../src/brake/held.ts'
import { dismissMarks } from '../../src/capture/marks.ts'
import { heldIn, LIMIT_OF_TEN } from '../support/held.ts'
import { buildHouse } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

eachLane('losing access', (lane) => {
  test('a revocation that fails counts once, however often it is tried', async () => {
    await using house = await buildHouse(lane, { config: { brake: LIMIT_OF_TEN } })
    await house.startWorker()
    const { pool } = house.db
    await pool.query(
      `INSERT INTO clientes (id, plan) SELECT 'k' || i, 'premium' FROM generate_series(1, 30) i`,
    )
    await house.settled()
    house.sandbox.faults.set([
      { times: 2, match: { method: 'PATCH' }, action: { kind: 'status', status: 429 } },
      { times: 6, match: { method: 'PATCH' }, action: { kind: 'status', status: 500 } },
    ])
    await pool.query('DELETE FROM clientes')
    await until(async () => (await heldIn(pool)) === 20)
    await house.settled()
    expect(house.calls().filter(({ method }) => method === 'PATCH')).toHaveLength(18)
    expect(await heldIn(pool)).toBe(20)
    expect(house.sandbox.users.all().filter(({ status }) => status === 0)).toHaveLength(10)
  })

  test('after a TRUNCATE nobody who is missing loses access, noted or not, until a person has looked', async () => {
    await using house = await buildHouse(lane)
    const first = await house.startWorker()
    const { pool } = house.db
    await pool.query(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium'), ('b', 'premium')`)
    await house.settled()
    await first.stop()
    await pool.query(`UPDATE clientes SET nombre = 'Ana'; TRUNCATE clientes`)
    await house.startWorker()
    await until(async () => (await heldIn(pool, 'truncated')) === 2)
    expect(house.sandbox.users.all().map(({ status }) => status)).toEqual([2, 2])
    await dismissMarks(pool)
    await release(pool, { kind: 'truncated', by: 'a test', why: 'the table was to be emptied' })
    await house.settled()
    expect(house.sandbox.users.all().map(({ status }) => status)).toEqual([0, 0])
  })

  test('a customer without access from the start is looked for first: a create might take it from somebody', async () => {
    await using house = await buildHouse(lane)
    house.sandbox.users.set('known', { status: 2 })
    await house.startWorker()
    await house.db.pool.query(`INSERT INTO clientes (id, plan) VALUES ('known', 'free'), ('new', 'free')`)
    await house.settled()
    expect(house.calls('known').map(({ method }) => method)).toEqual(['GET', 'PATCH'])
    expect(house.calls('new').map(({ method }) => method)).toEqual(['GET', 'POST'])
  })

  test('a status of 0 in the row is a loss of access too, and counts', async () => {
    await using house = await buildHouse(lane, { config: { brake: LIMIT_OF_TEN } })
    await house.startWorker()
    const { pool } = house.db
    await pool.query(
      `INSERT INTO clientes (id, plan) SELECT 'k' || i, 'premium' FROM generate_series(1, 12) i`,
    )
    await house.settled()
    await pool.query(`UPDATE clientes SET plan = 'free'`)
    await until(async () => (await heldIn(pool, 'revocation')) === 2)
    await pool.query(`UPDATE clientes SET plan = 'premium'`)
    await house.settled()
    expect(house.sandbox.users.all().every(({ status }) => status === 2)).toBe(true)
  })

  test('TRUNCATE revokes nobody until a person says so', async () => {
    await using house = await buildHouse(lane)
    await house.startWorker()
    const { pool } = house.db
    await pool.query(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium'), ('b', 'premium')`)
    await house.settled()
    await pool.query('TRUNCATE clientes')
    await pool.query(`INSERT INTO clientes (id, plan, nombre) VALUES ('b', 'premium', 'Eva')`)
    await until(() => house.sandbox.users.get('b')?.first_name === 'Eva')
    await house.settled()
    expect(house.sandbox.users.get('a')?.status).toBe(2)
    const { rows } = await pool.query('SELECT kind FROM rollcall.capture_mark WHERE resolved_at IS NULL')
    expect(rows).toEqual([{ kind: 'truncate' }])
  })

  test('out of scope counts as removed, and coming back as new', async () => {
    await using house = await buildHouse(lane, { config: { scope: { column: 'pais', in: ['ES'] } } })
    await house.startWorker()
    const { pool } = house.db
    await pool.query(
      `INSERT INTO clientes (id, plan, pais) VALUES ('c', 'premium', 'ES'), ('d', 'premium', 'PT')`,
    )
    await house.settled()
    // Never in scope: others may look after that user, so nobody is asked about it.
    expect(house.calls('d')).toEqual([])
    await pool.query(`UPDATE clientes SET pais = 'PT' WHERE id = 'c'`)
    await house.settled()
    expect(house.calls('c').at(-1)).toEqual({ method: 'PATCH', body: { status: 0 } })
    await pool.query(`UPDATE clientes SET pais = 'ES' WHERE id = 'c'`)
    await house.settled()
    expect(house.sandbox.users.get('c')?.status).toBe(2)
  })

  test('a customer who is deleted before the first call is asked about, and loses an access that others gave', async () => {
    await using house = await buildHouse(lane)
    house.sandbox.users.set('known', { status: 2 })
    const { pool } = house.db
    await pool.query(`INSERT INTO clientes (id, plan) VALUES ('known', 'premium'), ('new', 'premium')`)
    await pool.query('DELETE FROM clientes')
    await house.startWorker()
    await house.settled()
    expect(house.calls('known').map(({ method }) => method)).toEqual(['GET', 'PATCH'])
    expect(house.calls('new').map(({ method }) => method)).toEqual(['GET'])
    expect(house.sandbox.users.get('known')?.status).toBe(0)
  })

  test('a key that changes revokes the old user and creates the new one', async () => {
    await using house = await buildHouse(lane)
    await house.startWorker()
    const { pool } = house.db
    await pool.query(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium')`)
    await house.settled()
    await pool.query(`UPDATE clientes SET id = 'b'`)
    await house.settled()
    expect(house.sandbox.users.all().map(({ user_id, status }) => [user_id, status])).toEqual([
      ['a', 0],
      ['b', 2],
    ])
  })

  test('two customers with one user are rejected, both, and one is right again when the other goes', async () => {
    const sql = `CREATE TABLE clientes (pais text, id text, plan text, nombre text, PRIMARY KEY (pais, id))`
    const mapping = {
      user_id: { columns: ['id'], map: ({ id }: Record<string, unknown>) => String(id) },
      status: { column: 'plan', values: { premium: 2 } },
      first_name: 'nombre',
    }
    await using house = await buildHouse(lane, {
      sql,
      config: { customers: { table: 'clientes', key: ['pais', 'id'] }, mapping },
    })
    await house.startWorker()
    const { pool } = house.db
    await pool.query(
      `INSERT INTO clientes VALUES ('ES', '1', 'premium', 'Ana'), ('PT', '1', 'premium', 'Rui')`,
    )
    await until(async () => {
      const { rows } = await pool.query(
        `SELECT key, reason->'keys' AS keys FROM rollcall.ledger WHERE state = 'rejected' ORDER BY key`,
      )
      expect(rows).toEqual([
        { key: '["ES", "1"]', keys: ['["PT", "1"]'] },
        { key: '["PT", "1"]', keys: ['["ES", "1"]'] },
      ])
      return true
    })
    await pool.query(`DELETE FROM clientes WHERE pais = 'PT'`)
    await until(async () => {
      const { rows } = await pool.query(
        'SELECT count(*)::int AS n FROM rollcall.owed WHERE due_at IS NOT NULL',
      )
      expect([rows[0].n, house.sandbox.users.get('1')]).toMatchObject([0, { status: 2, first_name: 'Ana' }])
      return true
    })
  })
})
