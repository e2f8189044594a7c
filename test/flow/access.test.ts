import { describe, expect, test } from 'vitest'
import { discard } from '../../src/brake/held.ts'
import { closeMarks } from '../../src/capture/marks.ts'
import { rollcall } from '../support/command.ts'
import { heldIn, LIMIT_OF_TEN } from '../support/held.ts'
import { buildHouse, PATIENT, workingHouse } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { many } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

describe('losing access', () => {
  test('a revocation that fails counts once, however often it is tried', async () => {
    await using house = await workingHouse(lane, { config: { brake: LIMIT_OF_TEN } })
    await house.settle(many(30))
    house.sandbox.faults.set([
      { times: 2, match: { method: 'PATCH' }, action: { kind: 'status', status: 429 } },
      { times: 6, match: { method: 'PATCH' }, action: { kind: 'status', status: 500 } },
    ])
    await house.sql('DELETE FROM clientes')
    await until(async () => (await heldIn(house.db.pool)) === 20)
    await house.settled()
    expect(house.calls().filter(({ method }) => method === 'PATCH')).toHaveLength(18)
    expect(await heldIn(house.db.pool)).toBe(20)
    expect(house.sandbox.users.all().filter(({ status }) => status === 0)).toHaveLength(10)
  })

  test('a customer without access from the start is looked for first: a create might take it from another system', async () => {
    await using house = await buildHouse(lane, { config: PATIENT })
    house.sandbox.users.set('known', { status: 2 })
    await house.startWorker()
    await house.settle(`INSERT INTO clientes (id, plan) VALUES ('known', 'free'), ('new', 'free')`)
    expect(house.calls('known').map(({ method }) => method)).toEqual(['GET', 'PATCH'])
    expect(house.calls('new').map(({ method }) => method)).toEqual(['GET', 'POST'])
  })

  test('TRUNCATE revokes no customer, noted or not, until a resync is asked for, and who is back goes on', async () => {
    await using house = await buildHouse(lane)
    const first = await house.startWorker()
    const { pool } = house.db
    await house.settle(
      `INSERT INTO clientes (id, plan) VALUES ('a', 'premium'), ('b', 'premium'), ('c', 'premium'), ('d', 'premium')`,
    )
    await first.stop()
    await pool.query(`UPDATE clientes SET nombre = 'Ana' WHERE id IN ('a', 'd'); TRUNCATE clientes`)
    await pool.query(`INSERT INTO clientes (id, plan, nombre) VALUES ('b', 'premium', 'Eva')`)
    await house.startWorker()
    await until(async () => (await heldIn(pool, 'truncated')) === 2)
    await until(() => house.sandbox.users.get('b')?.first_name === 'Eva')
    await house.settled()
    const statuses = () => ['a', 'b', 'c', 'd'].map((id) => house.sandbox.users.get(id)?.status)
    expect(statuses()).toEqual([2, 2, 2, 2])
    const { rows } = await pool.query('SELECT kind FROM rollcall.capture_mark WHERE resolved_at IS NULL')
    expect(rows).toEqual([{ kind: 'truncate' }])

    await discard(pool, { keys: ['d'], by: 'a test', why: 'to be kept' })
    await closeMarks(pool, ['truncate'])
    // A customer that the mark held, and a customer that was never noted.
    await until(() => statuses().join() === '0,2,0,2')
    expect((await rollcall(house, 'backfill', '--dry-run')).code).toBe(0)
    expect((await rollcall(house, 'explain', 'd')).out).toMatch(
      /next +at most: .*\s*The\s+discarded\s+change\s+is\s+not\s+sent/,
    )
  })

  test('two customers with one user are rejected, both, and one is right again when the other goes', async () => {
    const sql = `CREATE TABLE clientes (pais text, id text, plan text, nombre text, PRIMARY KEY (pais, id))`
    const status = { column: 'plan', values: { premium: 2 } }
    const mapping = { user_id: 'id', status, first_name: 'nombre' }
    const config = { customers: { table: 'clientes', key: ['pais', 'id'] as const }, mapping }
    await using house = await workingHouse(lane, { sql, config })
    await house.sql(
      `INSERT INTO clientes VALUES ('ES', '1', 'premium', 'Ana'), ('PT', '1', 'premium', 'Rui')`,
    )
    await until(async () => {
      const { rows } = await house.sql(
        `SELECT key, reason->'keys' AS keys FROM rollcall.ledger WHERE state = 'rejected' ORDER BY key`,
      )
      expect(rows).toEqual([
        { key: '["ES", "1"]', keys: ['["PT", "1"]'] },
        { key: '["PT", "1"]', keys: ['["ES", "1"]'] },
      ])
      return true
    })
    await house.sql(`DELETE FROM clientes WHERE pais = 'PT'`)
    await until(() => house.sandbox.users.get('1')?.first_name === 'Ana')
    expect(house.sandbox.users.get('1')).toMatchObject({ status: 2, first_name: 'Ana' })
  })
})
