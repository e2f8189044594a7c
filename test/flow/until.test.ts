import { expect, test } from 'vitest'
import type { Clock, Columns, RollcallConfig } from '../../src/config/define.ts'
import { makePool } from '../../src/database/pool.ts'
import { lane as anyLane, ask } from '../explain/house.ts'
import { buildHouse, type House } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const SQL = 'CREATE TABLE clientes (id text PRIMARY KEY, nombre text, premium_until timestamptz)'

function premiumUntil({ premium_until }: Columns, { now }: Clock) {
  const end = new Date(String(premium_until))
  return end > now ? { value: 2, validUntil: String(premium_until) } : { value: 0, validUntil: null }
}

const config: Partial<RollcallConfig> = {
  mapping: {
    user_id: 'id',
    status: { columns: ['premium_until'], map: premiumUntil },
    first_name: 'nombre',
  },
}

/** Sets until when Ana is premium, from the database's now on. */
async function setPremium({ db: { pool } }: House, ahead: string): Promise<void> {
  await pool.query(
    `INSERT INTO clientes VALUES ('ana', 'Ana', now() + $1::interval)
     ON CONFLICT (id) DO UPDATE SET premium_until = excluded.premium_until`,
    [ahead],
  )
}

/** When Ana is looked at again, as it stands against the row; `never` when only a change makes us look. */
async function lookedAgain({ db: { pool } }: House): Promise<'then' | 'never' | 'another time'> {
  const { rows } = await pool.query<{ never: boolean; then: boolean }>(
    `SELECT replan_at IS NULL AS never, replan_at = date_trunc('milliseconds', premium_until) AS then
     FROM rollcall.owed JOIN clientes c ON key = c.id`,
  )
  if (rows[0]?.never) return 'never'
  return rows[0]?.then ? 'then' : 'another time'
}

/** By the database's clock. */
async function passed({ db: { pool } }: House, time: string): Promise<void> {
  await until(
    async () => (await pool.query('SELECT now() > $1::timestamptz AS passed', [time])).rows[0].passed,
  )
}

async function premiumEnds({ db: { pool } }: House): Promise<string> {
  return (await pool.query('SELECT premium_until::text AS ends FROM clientes')).rows[0].ends
}

const statusOf = (house: House) => house.sandbox.users.get('ana')?.status

eachLane('a status that ends by the time', (lane) => {
  test('is revoked when it ends, without a change of the row, and then left alone', async () => {
    await using house = await buildHouse(lane, { sql: SQL, config })
    await house.startWorker()
    await setPremium(house, '1 hour')
    await house.settled()
    expect(await lookedAgain(house)).toBe('then')
    await setPremium(house, '2 seconds')
    const ends = await premiumEnds(house)
    await until(() => statusOf(house) === 0)
    const { rows } = await house.db.pool.query('SELECT now() >= $1::timestamptz AS over', [ends])
    expect(rows[0].over).toBe(true)
    await house.settled()
    expect(await lookedAgain(house)).toBe('never')
    expect(house.calls('ana')).toEqual([
      { method: 'POST', body: { user_id: 'ana', status: 2, first_name: 'Ana' } },
      { method: 'PATCH', body: { status: 0 } },
    ])
  })

  test('ends when the row says so last: a change before the end moves it, later and sooner', async () => {
    await using house = await buildHouse(lane, { sql: SQL, config })
    await house.startWorker()
    await setPremium(house, '4 seconds')
    await until(() => statusOf(house) === 2)
    await house.settled()
    const first = await premiumEnds(house)
    await setPremium(house, '1 hour')
    await house.settled()
    expect(await lookedAgain(house)).toBe('then')
    await passed(house, first)
    // A change of something else finds Ana premium still, and the end where it was.
    await house.db.pool.query(`UPDATE clientes SET nombre = 'Ana María'`)
    await until(() => house.sandbox.users.get('ana')?.first_name === 'Ana María')
    await house.settled()
    expect(await lookedAgain(house)).toBe('then')
    expect(statusOf(house)).toBe(2)

    await setPremium(house, '1 second')
    await until(() => statusOf(house) === 0)
    await house.settled()
    expect(house.calls('ana').map(({ body }) => body)).toEqual([
      { user_id: 'ana', status: 2, first_name: 'Ana' },
      { status: 2, first_name: 'Ana María' },
      { status: 0 },
    ])
  })

  test('is revoked at once by a worker that was down when it ended', async () => {
    await using house = await buildHouse(lane, { sql: SQL, config })
    const worker = await house.startWorker()
    await setPremium(house, '4 seconds')
    await until(() => statusOf(house) === 2)
    await house.settled()
    await worker.stop()
    await passed(house, await premiumEnds(house))
    expect(statusOf(house)).toBe(2)
    expect(await lookedAgain(house)).toBe('then')

    await house.startWorker()
    await until(() => statusOf(house) === 0)
    await house.settled()
    expect(house.calls('ana')).toHaveLength(2)
  })
})

test('whoever only looks goes by the time too: a dry run tells the end, and access what should be', async () => {
  await using house = await buildHouse(anyLane, { sql: SQL, config })
  await house.db.pool.query(
    `INSERT INTO clientes VALUES ('ana', 'Ana', '2999-12-01 01:00+01'), ('eva', 'Eva', '1999-12-01')`,
  )
  const pool = makePool({ url: house.db.url, max: 2, onError: () => undefined })
  try {
    const told = async (key: string) => (await ask(house, key, { pool })).mapped
    expect(await told('ana')).toMatchObject({ status: 2, validUntil: '2999-12-01T00:00:00.000Z' })
    expect(await told('eva')).toMatchObject({ userId: 'eva', status: 0, set: ['first_name'] })
    expect((await ask(house, 'ana', { pool })).desired).toEqual({ kind: 'user', status: 2 })
    expect((await ask(house, 'eva', { pool })).desired).toEqual({ kind: 'user', status: 0 })
  } finally {
    await pool.end()
  }
})
