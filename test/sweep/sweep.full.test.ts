// A sweep over a ledger that claims have filled, against the sandbox: its counts, and the customers that it notes.
import type pg from 'pg'
import { expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { makeClaim } from '../../src/ledger/claim.ts'
import { applyGeneration } from '../../src/ledger/generation.ts'
import { readBinding } from '../../src/ledger/target.ts'
import { runSweep, type SweepingOptions } from '../../src/sweep/run.ts'
import { makeDigester } from '../../src/sync/digest.ts'
import { buildHouse, CONFIG, type House, SECRETS, timed } from '../support/house.ts'
import { installCapture } from '../support/install.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const FAST: Partial<RollcallConfig> = {
  pace: { ceiling: 1000, concurrency: 50 },
  ...timed({ lifetimeMs: 10_000, queueLeaseMs: 30_000 }),
}

function sweeping(house: House, changes: Partial<RollcallConfig> = {}): SweepingOptions {
  return {
    pool: house.db.pool,
    config: resolveConfig({ ...house.authored, ...changes }, 'rollcall.config.ts'),
    digester: makeDigester(SECRETS.ROLLCALL_DIGEST_KEY),
    signal: new AbortController().signal,
    kind: 'mapping',
  }
}

/** Installs capture for the columns that this mapping reads. */
async function captured({ pool, config }: SweepingOptions): Promise<void> {
  await installCapture(pool, config)
}

/** Applies the mapping, and notes who differs by it. */
async function applied(options: SweepingOptions) {
  await captured(options)
  await applyGeneration(options.pool, options.config.fingerprint)
  return await runSweep(options)
}

function mapping(changes: Partial<RollcallConfig['mapping']>): Partial<RollcallConfig> {
  return { mapping: { ...CONFIG.mapping, ...changes } }
}

/** Keys of those who are owed, in order. */
async function owed(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(
    'SELECT key FROM rollcall.owed WHERE due_at IS NOT NULL ORDER BY key',
  )
  return rows.map(({ key }) => key)
}

test('900 customers: counts and notes those who differ, by plan and field, and no others', async () => {
  await using house = await buildHouse(lane, { config: FAST })
  const worker = await house.startWorker()
  await house.settle(
    `INSERT INTO clientes (id, plan, correo, pais)
     SELECT 'k' || i, CASE WHEN i % 100 = 0 THEN 'gold' WHEN i % 10 = 0 THEN 'free' ELSE 'premium' END,
       CASE WHEN i % 3 = 0 THEN 'k' || i || '@example.com' END, 'ES' FROM generate_series(1, 900) i`,
  )
  await house.settle(`DELETE FROM clientes WHERE id IN ('k1', 'k2', 'k3')`)
  await worker.stop()
  const before = house.calls().length

  const as = await applied(sweeping(house))
  expect(as).toMatchObject({ ended: true, tally: { customers: 900, verdicts: { same: 900, differs: 0 } } })
  expect(await owed(house.db.pool)).toEqual([])

  const changed = mapping({
    status: { column: 'plan', values: { free: 2, premium: 2, gold: 4, trial: 4 } },
    email: { value: null as never },
  })
  const { tally, ended } = await applied({ ...sweeping(house, changed), page: 200 })
  expect(ended).toBe(true)
  // 9 golden ones who were rejected, 81 free ones, and every third has an e-mail; k3 is gone, as k1 and k2.
  const withMail = await house.sql(`SELECT FROM clientes WHERE correo IS NOT NULL AND plan <> 'gold'`)
  const differing = await house.sql<{ id: string }>(
    `SELECT id FROM clientes WHERE plan IN ('gold', 'free') OR correo IS NOT NULL ORDER BY id COLLATE "C"`,
  )
  expect(tally).toMatchObject({
    customers: 900,
    verdicts: { differs: differing.rowCount, same: 900 - (differing.rowCount ?? 0), owed: 0 },
    plans: { create: 9, patch: (differing.rowCount ?? 0) - 9 },
    fields: { status: 81, email: withMail.rowCount },
    loseAccess: 0,
  })
  expect(await owed(house.db.pool)).toEqual(differing.rows.map(({ id }) => id))
  expect(house.calls()).toHaveLength(before)

  const again = await applied(sweeping(house, changed))
  // Rejected ones who are others now are noted again, which changes nothing; the others are owed already.
  expect(again.tally.verdicts).toMatchObject({ differs: 9, owed: (differing.rowCount ?? 0) - 9 })
})

test('customers with composite keys, those who are gone, those without a record, and two who are one user', async () => {
  const sql = `CREATE TABLE clientes (pais text, id int, plan text NOT NULL, PRIMARY KEY (pais, id))`
  const user_id = {
    columns: ['pais', 'id'],
    map: (row: { [column: string]: unknown }) => `${String(row.pais).toLowerCase()}-${row.id}`,
  }
  const status = { column: 'plan', values: { free: 0, premium: 2 } } as const
  const config: Partial<RollcallConfig> = {
    customers: { table: 'public.clientes', key: ['pais', 'id'] },
    mapping: { user_id, status },
  }
  await using house = await buildHouse(lane, { sql, config })
  const worker = await house.startWorker()
  await house.sql(
    `INSERT INTO clientes SELECT p, i, 'premium' FROM unnest(ARRAY['ES', '"', 'Ñ']) p, generate_series(1, 5) i`,
  )
  await house.sql(`INSERT INTO clientes VALUES ('es', 1, 'premium')`)
  await house.sql(`DELETE FROM clientes WHERE id = 5`)
  await until(async () => {
    const { rows } = await house.sql<{ open: number }>(
      `SELECT (SELECT count(*) FROM rollcall.outbox) + (SELECT count(*) FROM rollcall.owed WHERE due_at IS NOT NULL) AS open`,
    )
    return Number(rows[0]?.open) === 0
  })
  await worker.stop()
  await house.sql('ALTER TABLE clientes DISABLE TRIGGER ALL')
  await house.sql(`DELETE FROM clientes WHERE id = 4`)
  await house.sql(`INSERT INTO clientes VALUES ('PT', 1, 'premium')`)
  await expect(runSweep(sweeping(house))).rejects.toMatchObject({ code: 'CAPTURE_UNFIT' })
  await house.sql('ALTER TABLE clientes ENABLE TRIGGER ALL')

  const { tally } = await applied({ ...sweeping(house), page: 2 })
  // Capture missed the three customers who are gone, and the one who has come.
  expect(tally).toMatchObject({
    customers: 17,
    verdicts: { differs: 3, 'never-asked': 1, same: 13 },
    plans: { revoke: 3 },
    fields: { status: 3 },
    loseAccess: 3,
  })
  expect(await owed(house.db.pool)).toEqual(['["ES", "4"]', '["\\"", "4"]', '["Ñ", "4"]'])
})

test('a claim that is under way is noted, so that its ending makes the customer due again', async () => {
  const config = { service: { timeoutMs: 8000 }, ...timed({ lifetimeMs: 20_000 }) }
  await using house = await buildHouse(lane, { config })
  house.sandbox.faults.set([
    { match: { method: 'POST' }, action: { kind: 'latency', minMs: 3000, maxMs: 3000 } },
  ])
  await house.startWorker()
  await house.sql(`INSERT INTO clientes (id, plan, correo) VALUES ('c', 'premium', 'c@example.com')`)
  await until(
    async () => (await house.sql('SELECT FROM rollcall.owed WHERE call_token IS NOT NULL')).rowCount,
  )
  const version = 'SELECT change_version::int AS v FROM rollcall.owed'
  const before = (await house.sql(version)).rows[0].v
  const { tally } = await applied(sweeping(house))
  expect(tally.verdicts.owed).toBe(1)
  expect((await house.sql(version)).rows[0].v).toBe(before + 1)
  await house.settled()
})

test('applying a mapping waits for claims that are being made by another one', async () => {
  await using house = await buildHouse(lane)
  const { pool } = house.db
  const worker = await house.startWorker()
  await house.settle(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  await pool.query(
    `UPDATE rollcall.owed SET token = 1, not_before = NULL, due_at = now() + interval '1 hour'`,
  )
  const blocker = await pool.connect()
  await blocker.query('BEGIN')
  await blocker.query('SELECT FROM rollcall.owed FOR UPDATE')
  const claim = makeClaim(pool, {
    lastsMs: 1000,
    binding: (await readBinding(pool)) ?? '',
    fingerprint: house.config.fingerprint,
  })
  const claimed = claim({ id: '1', token: '1', lane: 1 })
  const waiting = (text: string) =>
    until(async () => {
      const { rows } = await pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
        [`%${text}%`],
      )
      return rows.length > 0
    })
  await waiting('call_token = o.token')
  let applied = false
  const applying = applyGeneration(pool, 'another').then((done) => {
    applied = done
  })
  await waiting('LOCK TABLE rollcall.generation')
  expect(applied).toBe(false)
  await blocker.query('ROLLBACK')
  blocker.release()
  expect(await claimed).toMatchObject({ key: 'c', generation: '1' })
  await applying
  expect(applied).toBe(true)
  await pool.query('UPDATE rollcall.owed SET call_token = NULL')
  expect(await claim({ id: '1', token: '1', lane: 1 })).toBe(null)
  await worker.stop()
})

test('rejected as before: not asked again; another user now, waiting or not: tried at once', async () => {
  const config = timed({ retryMinMs: 3_600_000, retryMaxMs: 3_600_000 })
  await using house = await buildHouse(lane, { config })
  house.sandbox.faults.set([{ match: { userId: 'f' }, action: { kind: 'status', status: 403 } }])
  const worker = await house.startWorker()
  await house.sql(
    `INSERT INTO clientes (id, plan, correo) VALUES ('f', 'premium', 'f@example.com'), ('r', 'gold', NULL), ('s', 'lead', NULL)`,
  )
  await until(async () => {
    const { rows } = await house.sql(`SELECT array_agg(state ORDER BY key) AS states FROM rollcall.ledger`)
    return rows[0].states?.join() === 'failing,rejected,rejected'
  })
  await worker.stop()
  expect((await applied(sweeping(house))).tally.verdicts).toMatchObject({ same: 2, owed: 1 })
  expect(await owed(house.db.pool)).toEqual(['f'])

  const changed = mapping({
    status: { column: 'plan', values: { free: 0, premium: 2, gold: 2, trial: 4 } },
    first_name: { value: 'X' },
  })
  const { tally } = await applied(sweeping(house, changed))
  expect(tally).toMatchObject({ verdicts: { differs: 2, same: 1 }, plans: { create: 1, lookup: 1 } })
  const { rows } = await house.sql(
    `SELECT key FROM rollcall.owed WHERE due_at < now() + interval '1 minute' ORDER BY key`,
  )
  expect(rows).toEqual([{ key: 'f' }, { key: 'r' }])
})

test('a row that cannot be read is noted, and does not keep the others from being swept', async () => {
  const sql = `CREATE TABLE t (id int PRIMARY KEY, plan text, n int);
    CREATE VIEW v AS SELECT id, plan, (100 / n)::text AS share FROM t`
  const config: Partial<RollcallConfig> = {
    customers: { view: 'public.v', key: 'id' },
    watch: [{ table: 'public.t', key: 'id' }],
    mapping: { user_id: 'id', status: { column: 'plan', values: { premium: 2 } }, description: 'share' },
  }
  const customers = `INSERT INTO t SELECT i, 'premium', 1 FROM generate_series(1, 30) i`
  await using house = await settledHouse(lane, customers, { sql, config })
  await house.sql('ALTER TABLE t DISABLE TRIGGER ALL')
  await house.sql('UPDATE t SET n = 0 WHERE id = 17')
  await house.sql('UPDATE t SET n = 2 WHERE id = 18')
  await house.sql('ALTER TABLE t ENABLE TRIGGER ALL')
  const { tally } = await applied(sweeping(house))
  expect(tally.verdicts).toMatchObject({ unreadable: 1, differs: 1, same: 28 })
  expect(await owed(house.db.pool)).toEqual(['17', '18'])
})
