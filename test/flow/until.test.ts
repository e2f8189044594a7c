import { describe, expect, test } from 'vitest'
import type { Clock, Columns, RollcallConfig } from '../../src/config/define.ts'
import { behindCapture } from '../drift/scene.ts'
import { buildHouse, type House, PATIENT, workingHouse } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const SQL = 'CREATE TABLE clientes (id text PRIMARY KEY, nombre text, premium_until timestamptz)'

function premiumUntil({ premium_until }: Columns, { now }: Clock) {
  const end = new Date(String(premium_until))
  return end > now ? { value: 2, validUntil: String(premium_until) } : { value: 0, validUntil: null }
}

const config: Partial<RollcallConfig> = {
  ...PATIENT,
  mapping: { user_id: 'id', status: { columns: ['premium_until'], map: premiumUntil }, first_name: 'nombre' },
}

/** Sets until when Ana is premium, from the database's now on. */
async function setPremium({ db: { pool } }: House, ahead: string): Promise<void> {
  await pool.query(
    `INSERT INTO clientes VALUES ('ana', 'Ana', now() + $1::interval)
     ON CONFLICT (id) DO UPDATE SET premium_until = excluded.premium_until`,
    [ahead],
  )
}

/** When Ana is looked up again, as it stands against the row; `never` when only a change makes us look. */
async function plannedAgain({ db: { pool } }: House): Promise<'then' | 'never' | 'another time'> {
  const { rows } = await pool.query<{ never: boolean; then: boolean }>(
    `SELECT replan_at IS NULL AS never, replan_at = date_trunc('milliseconds', premium_until) AS then
     FROM rollcall.owed JOIN clientes c ON key = c.id`,
  )
  if (rows[0]?.never) return 'never'
  return rows[0]?.then ? 'then' : 'another time'
}

async function premiumEnds({ db: { pool } }: House): Promise<string> {
  return (await pool.query('SELECT premium_until::text AS ends FROM clientes')).rows[0].ends
}

const statusOf = (house: House) => house.sandbox.users.get('ana')?.status

describe('a status that ends by the time', () => {
  test('is revoked when it ends, without a change of the row, and then left alone', async () => {
    await using house = await workingHouse(lane, { sql: SQL, config })
    await setPremium(house, '1 hour')
    await house.settled()
    expect(await plannedAgain(house)).toBe('then')
    await setPremium(house, '2 seconds')
    const ends = await premiumEnds(house)
    await until(() => statusOf(house) === 0)
    const { rows } = await house.sql('SELECT now() >= $1::timestamptz AS over', [ends])
    expect(rows[0].over).toBe(true)
    await house.settled()
    expect(await plannedAgain(house)).toBe('never')
    expect(house.calls('ana')).toEqual([
      { method: 'POST', body: { user_id: 'ana', status: 2, first_name: 'Ana' } },
      { method: 'PATCH', body: { status: 0 } },
    ])
  })

  test('is revoked at once by a worker that was down when it ended', async () => {
    await using house = await buildHouse(lane, { sql: SQL, config })
    const worker = await house.startWorker()
    await setPremium(house, '1 hour')
    await house.settled()
    await worker.stop()
    // The hour passes.
    await behindCapture(house, `UPDATE clientes SET premium_until = premium_until - interval '1 hour'`)
    await house.sql(`UPDATE rollcall.owed SET replan_at = replan_at - interval '1 hour'`)
    expect(statusOf(house)).toBe(2)
    expect(await plannedAgain(house)).toBe('then')

    await house.startWorker()
    await until(() => statusOf(house) === 0)
    await house.settled()
    expect(house.calls('ana')).toHaveLength(2)
  })
})
