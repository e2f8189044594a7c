import { expect, test } from 'vitest'
import { acceptTarget } from '../../src/ledger/accept.ts'
import { makeClaim } from '../../src/ledger/claim.ts'
import { leaseKey } from '../../src/ledger/lease.ts'
import { readBinding } from '../../src/ledger/target.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House, SECRETS } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

function run(house: House, args: readonly string[], env: Record<string, string> = {}) {
  return rollcall({ ...house, env: { ...house.env, ...env } }, ...args)
}

test('another service, key or database stops every command that would call, until the operator says what it is', async () => {
  await using house = await buildHouse(lane)
  await house.sql(`INSERT INTO clientes (id, plan, pais) VALUES ('c', 'premium', 'ES')`)
  expect(await run(house, ['sync', 'c'])).toMatchObject({ code: 0 })

  const key = { SERVICE_API_KEY: 'another-api-key' }
  const refused = await run(house, ['sync', 'c'], key)
  expect(refused.code).toBe(2)
  expect(refused.output).toContain('SERVICE_API_KEY')
  expect(refused.output).toContain('rollcall migrate --target same')
  expect(refused.output).not.toContain('another-api-key')

  const other = await startSandbox({
    apiKey: 'another-api-key',
    secretKey: house.env.SERVICE_SECRET_KEY ?? '',
  })
  try {
    const elsewhere = { ...key, SERVICE_URL: other.url }
    expect(await run(house, ['worker'], elsewhere)).toMatchObject({ code: 2 })
    expect(await run(house, ['migrate', '--target', 'new'], elsewhere)).toMatchObject({ code: 0 })
    expect(await run(house, ['sync', 'c'], elsewhere)).toMatchObject({ code: 0 })
    expect(other.journal.list().map(({ method }) => method)).toEqual(['GET', 'POST'])
    expect((await house.sql('SELECT FROM rollcall.capture_mark')).rowCount).toBe(0)
  } finally {
    await other.stop()
  }
})

test('a worker that runs while the ledger is bound to another service claims nothing any more', async () => {
  await using house = await buildHouse(lane)
  const { pool } = house.db
  await house.startWorker()
  await house.settle(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  const before = house.calls().length
  const binding = (await readBinding(pool)) ?? ''
  const client = await pool.connect()
  await acceptTarget(
    client,
    { origin: 'https://service.example.com', apiKey: 'k', digestKey: SECRETS.ROLLCALL_DIGEST_KEY },
    'new',
  )
  client.release()
  await pool.query(`INSERT INTO clientes (id, plan) VALUES ('d', 'premium')`)
  const due = 'SELECT FROM rollcall.owed WHERE due_at <= now() AND token IS NULL'
  await until(async () => (await pool.query(due)).rowCount === 2)
  // Nor would it claim what was put there before.
  const lease = await leaseKey(pool, 'c', 5000)
  const claim = makeClaim(pool, { lastsMs: 5000, binding, fingerprint: house.config.fingerprint })
  expect(lease && (await claim(lease))).toBeNull()
  expect(lease).not.toBeNull()
  expect(house.calls()).toHaveLength(before)
})

test('a copy of the database does not call the service', async () => {
  await using house = await buildHouse(lane)
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  expect(await run(house, ['sync', 'c'])).toMatchObject({ code: 0 })
  await house.sql('UPDATE rollcall.target SET database_oid = database_oid + 1')
  const { code, output } = await run(house, ['sync', 'c'])
  expect([code, output]).toEqual([2, expect.stringContaining('was restored')])
})

test('a decision is not stored where the workers’ database cannot be asked whether it is the same', async () => {
  await using house = await buildHouse(lane)
  expect(await run(house, ['sync', 'nobody', '--removed'])).toMatchObject({ code: 0 })
  const before = await readBinding(house.db.pool)
  const away = new URL(house.db.url)
  away.port = '1'
  const mixed = { DATABASE_URL: away.href, MIGRATE_DATABASE_URL: house.db.url }
  expect(await run(house, ['migrate', '--target', 'new'], mixed)).toMatchObject({ code: 1 })
  expect(await readBinding(house.db.pool)).toBe(before)
  expect(await run(house, ['migrate'], mixed)).toMatchObject({ code: 0 })
})
