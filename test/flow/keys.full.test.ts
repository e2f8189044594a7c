// Customers whose key changes, and keys that are used again: whose user is whose, and at which price in calls.
import { expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { buildHouse, CUSTOMERS, type House, PATIENT, workingHouse } from '../support/house.ts'
import { otherLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

/** Checked at the end of a statement, so that keys can move on in a chain. */
const CHAINABLE = CUSTOMERS.replace('PRIMARY KEY', 'PRIMARY KEY DEFERRABLE')

/** Every call so far as one text; with `from`, those after a number of the journal. */
function sent({ sandbox }: House, userId: string, after = 0): string[] {
  return sandbox.journal.list({ userId, after }).map(({ method, raw }) => `${method} ${raw}`.trim())
}

otherLane('a key that changes and is the user_id', (lane) => {
  test('A to B: the old user is revoked, the new one is created', async () => {
    await using house = await workingHouse(lane)
    await house.settle(`INSERT INTO clientes (id, plan, nombre) VALUES ('a', 'premium', 'Ana')`)
    await house.settle(`UPDATE clientes SET id = 'b'`)
    expect(sent(house, 'a').slice(1)).toEqual(['PATCH {"status":0}'])
    expect(sent(house, 'b')).toEqual(['POST {"user_id":"b","status":2,"first_name":"Ana"}'])
    // And back: the user is there already, and no more than its access and what changed is sent.
    await house.settle(`UPDATE clientes SET id = 'a', correo = 'a@a.es'`)
    expect(sent(house, 'a').slice(2)).toEqual(['PATCH {"status":2,"email":"a@a.es"}'])
    expect(sent(house, 'b').slice(1)).toEqual(['PATCH {"status":0}'])
  })

  test('A to B and B to C in one statement, and two that change places', async () => {
    await using house = await buildHouse(lane, { sql: CHAINABLE })
    const { journal } = house.sandbox
    await house.startWorker()
    await house.settle(
      `INSERT INTO clientes (id, plan, nombre, apellidos) VALUES ('a', 'premium', 'Ana', 'Gil'),
         ('b', 'trial', 'Bea', 'Gil'), ('x', 'premium', 'Xus', 'X'), ('y', 'premium', 'Yago', 'Y')`,
    )
    const before = journal.last
    await house.settle(
      `UPDATE clientes c SET id = m.new FROM (VALUES ('a', 'b'), ('b', 'c'), ('x', 'y'), ('y', 'x')) m (old, new) WHERE m.old = c.id`,
    )
    expect(sent(house, 'a', before)).toEqual(['PATCH {"status":0}'])
    expect(sent(house, 'b', before)).toEqual(['PATCH {"status":2,"first_name":"Ana"}'])
    expect(sent(house, 'c', before)).toEqual([
      'POST {"user_id":"c","status":4,"first_name":"Bea","last_name":"Gil"}',
    ])
    expect(sent(house, 'x', before)).toEqual(['PATCH {"status":2,"first_name":"Yago","last_name":"Y"}'])
    expect(sent(house, 'y', before)).toEqual(['PATCH {"status":2,"first_name":"Xus","last_name":"X"}'])
    expect(journal.last - before).toBe(5)
  })

  test('registered and renamed in one transaction: the earlier name is asked for, and left', async () => {
    await using house = await workingHouse(lane)
    await house.settle(
      `BEGIN; INSERT INTO clientes (id, plan) VALUES ('a', 'premium'); UPDATE clientes SET id = 'b'; COMMIT`,
    )
    expect([sent(house, 'a'), sent(house, 'b')]).toEqual([['GET'], ['POST {"user_id":"b","status":2}']])
  })
})

/** A customer whose user has become another customer's gets no more lookups, and may stay unknown. */
async function nothingOwed({ db }: House): Promise<void> {
  const reported = async () => {
    const { rows } = await db.sql(
      `SELECT (SELECT count(*) FROM rollcall.outbox) + (SELECT count(*) FROM rollcall.owed WHERE due_at IS NOT NULL) AS n`,
    )
    return rows[0].n === '0'
  }
  await until(reported, { what: 'nothing captured and nothing owed' })
}

/** The user_id is one of two key columns. */
const TWO: Partial<RollcallConfig> = {
  customers: { table: 'public.clientes', key: ['region', 'id'] },
  mapping: {
    user_id: 'id',
    status: { column: 'plan', values: { premium: 2, trial: 4 } },
    first_name: 'nombre',
    country_code: 'pais',
  },
}
const TWO_SQL =
  'CREATE TABLE clientes (region text, id text, plan text, nombre text, pais text, PRIMARY KEY (region, id))'

otherLane('a key that changes while the user_id stays', (lane) => {
  const moves = {
    'is updated': `UPDATE clientes SET region = 'PT'`,
    'is deleted and inserted in one transaction': `BEGIN; CREATE TEMP TABLE t AS SELECT * FROM clientes;
       DELETE FROM clientes; INSERT INTO clientes SELECT 'PT', id, plan, nombre, pais FROM t; COMMIT`,
    'is inserted before it is deleted': `BEGIN; INSERT INTO clientes SELECT 'PT', id, plan, nombre, pais FROM clientes;
       DELETE FROM clientes WHERE region = 'ES'; COMMIT`,
  }
  test.each(Object.entries(moves))(
    'no customer loses access, not even for a moment, when it %s',
    async (_how, move) => {
      const count = 30
      await using house = await buildHouse(lane, { sql: TWO_SQL, config: { ...TWO, ...PATIENT } })
      const { journal, users } = house.sandbox
      await house.startWorker()
      await house.startWorker()
      await house.settle(
        `INSERT INTO clientes SELECT 'ES', 'k' || i, CASE i % 3 WHEN 0 THEN 'trial' ELSE 'premium' END, 'Ana', 'ES'
       FROM generate_series(1, ${count}) i`,
      )
      expect(users.size).toBe(count)
      const before = journal.last
      await house.sql(move)
      await nothingOwed(house)
      expect(journal.list({ after: before }).filter(({ raw }) => raw.includes('"status":0'))).toEqual([])
      const wrong = users
        .all()
        .filter(({ user_id, status }) => status !== (Number(user_id.slice(1)) % 3 ? 2 : 4))
      expect(wrong).toEqual([])
      // The new key knows what the old one has sent, and looks whether it is so.
      for (const { user_id } of users.all()) expect(sent(house, user_id, before)).toEqual(['GET'])

      // The last claimant revokes once no key is left.
      const end = journal.last
      await house.sql(`DELETE FROM clientes WHERE id = 'k1'`)
      await nothingOwed(house)
      expect(sent(house, 'k1', end)).toEqual(['PATCH {"status":0}'])
    },
  )
})

otherLane('many keys that change at once while their user_ids stay', (lane) => {
  const insert = (region: string) =>
    `INSERT INTO clientes SELECT '${region}', 'k' || i, 'premium', 'Ana', 'ES' FROM generate_series(1, 1100) i`

  test('no customer loses access, though new keys are captured long before they are noted, or old rows leave the scope', async () => {
    const scope = { column: 'nombre', in: ['Ana'] }
    const config = { ...TWO, ...PATIENT, scope, pace: { ceiling: 2000, concurrency: 50 } }
    await using house = await buildHouse(lane, { sql: TWO_SQL, config })
    const { journal } = house.sandbox
    await house.startWorker()
    await house.startWorker()
    await house.sql(insert('ES'))
    await nothingOwed(house)
    for (const change of [
      `UPDATE clientes SET region = 'PT'`,
      `BEGIN; UPDATE clientes SET nombre = 'Old'; ${insert('AD')}; COMMIT`,
    ]) {
      const before = journal.last
      await house.sql(change)
      await nothingOwed(house)
      const calls = journal.list({ after: before })
      expect(calls.map(({ raw }) => raw).filter((raw) => raw.includes('"status":0'))).toEqual([])
      expect(calls.length).toBeGreaterThanOrEqual(1100)
    }
  })
})

otherLane('a trial under a key that changes while the user_id stays', (lane) => {
  // The new key knows nothing of what was agreed on under the old one.
  test('is not granted again when it has ended', async () => {
    await using house = await workingHouse(lane, {
      sql: TWO_SQL,
      config: TWO,
      contract: { trialAgain: 'restarts' },
    })
    await house.settle(`INSERT INTO clientes VALUES ('ES', 'c', 'trial', 'Ana')`)
    house.sandbox.clock.advance(15 * 86_400_000)
    await house.settle(`UPDATE clientes SET nombre = 'Bea'`)
    expect(house.sandbox.users.access('c')).toBe('none')
    await house.sql(`UPDATE clientes SET region = 'PT'`)
    await nothingOwed(house)
    expect(house.sandbox.users.access('c')).toBe('none')
  })
})

otherLane('a key that is deleted and created again', (lane) => {
  const insert = (house: House) =>
    house.sql(
      `INSERT INTO clientes (id, plan, nombre, apellidos, pais) VALUES ('c', 'premium', 'Ana', 'Gil', 'ES')`,
    )
  const remove = `DELETE FROM clientes WHERE id = 'c'`
  const again = `INSERT INTO clientes (id, plan, nombre, correo, pais) VALUES ('c', 'premium', 'Bea', 'b@a.es', 'ES')`
  const changed = 'PATCH {"status":2,"email":"b@a.es","first_name":"Bea","last_name":null}'

  test('in one transaction, in two, or a while later: what changed is sent, and no customer is registered again', async () => {
    await using house = await buildHouse(lane)
    const worker = await house.startWorker()
    await insert(house)
    await house.settled()
    await house.settle(`BEGIN; ${remove}; ${again}; COMMIT`)
    expect(sent(house, 'c').slice(1)).toEqual([changed])
    await house.settle(`BEGIN; ${remove}; ${again}; COMMIT`)
    expect(sent(house, 'c')).toHaveLength(2)

    // Both exist before the first lookup.
    await worker.stop()
    await house.sql(remove)
    await house.sql(again.replace("'Bea'", "'Cai'"))
    await house.startWorker()
    await house.settled()
    expect(sent(house, 'c').slice(2)).toEqual(['PATCH {"status":2,"first_name":"Cai"}'])

    // After it was revoked, and as a trial: the access comes back, and what changed meanwhile.
    await house.settle(remove)
    await house.settle(again.replace('premium', 'trial'))
    expect(sent(house, 'c').slice(3)).toEqual(['PATCH {"status":0}', 'PATCH {"status":4,"first_name":"Bea"}'])

    for (let round = 0; round < 5; round++) {
      const before = house.sandbox.journal.last
      await house.sql(remove)
      await house.settle(`INSERT INTO clientes (id, plan, nombre) VALUES ('c', 'premium', 'N${round}')`)
      expect(house.sandbox.users.get('c')).toMatchObject({ status: 2, first_name: `N${round}` })
      expect(sent(house, 'c', before).length).toBeLessThanOrEqual(2)
    }
    expect(house.calls('c').filter(({ method }) => method === 'POST')).toHaveLength(1)
  })
})
