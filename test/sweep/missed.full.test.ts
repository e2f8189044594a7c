// Customers that count as missed by capture, beside a worker at work: exactly those without a captured change.
import { expect, test } from 'vitest'
import type { Clock, Columns, RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { applyGeneration } from '../../src/ledger/generation.ts'
import type { SweepKind } from '../../src/ledger/runs.ts'
import { runSweep } from '../../src/sweep/run.ts'
import { makeDigester } from '../../src/sync/digest.ts'
import { buildHouse, CONFIG, type House, SECRETS } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

/** `contrato` says until when a plan is had; empty: for ever. */
function planUntil({ plan, contrato }: Columns, { now }: Clock) {
  const status = ({ free: 0, premium: 2, trial: 4 } as Record<string, number>)[String(plan)]
  if (contrato === null) return { value: status, validUntil: null }
  const end = new Date(String(contrato))
  return end > now ? { value: status, validUntil: end.toISOString() } : { value: 0, validUntil: null }
}

const { contract_number: _, ...mapping } = CONFIG.mapping
const TIMED: Partial<RollcallConfig> = {
  mapping: { ...mapping, status: { columns: ['plan', 'contrato'], map: planUntil } },
  pace: { ceiling: 2000, concurrency: 50 },
  brake: { changes: { customers: 3, share: 0.01 } },
}

type More = { readonly kind?: SweepKind; readonly key?: string; readonly changes?: Partial<RollcallConfig> }

async function look(
  house: House,
  { kind = 'check', key = SECRETS.ROLLCALL_DIGEST_KEY, changes = {} }: More = {},
) {
  const config = resolveConfig({ ...house.authored, ...changes }, 'rollcall.config.ts')
  const signal = new AbortController().signal
  const { pool } = house.db
  const { tally, ended } = await runSweep({
    pool,
    config,
    digester: makeDigester(key),
    signal,
    kind,
    page: 7,
  })
  expect(ended).toBe(true)
  return tally
}

const NOTHING = { inserted: 0, changed: 0, deleted: 0 }

/** Idle, rejected (no such plan), held (the brake lets three lose access), with a time far ahead, and out of access. */
const FILL = `
INSERT INTO clientes (id, plan, contrato)
SELECT 'k' || i, CASE WHEN i % 10 = 0 THEN 'gold' WHEN i % 10 = 1 THEN 'free' ELSE 'premium' END,
  CASE WHEN i % 10 = 2 THEN (now() + interval '1 day')::text END
FROM generate_series(1, 40) i`

/** Nothing is due, nor will be soon because a time has passed, but for those who wait for a person. */
async function quiet({ db: { pool } }: House): Promise<void> {
  await until(
    async () => {
      const { rows } = await pool.query<{ open: number }>(
        `SELECT (SELECT count(*) FROM rollcall.outbox)::int
           + (SELECT count(*) FROM rollcall.owed
              WHERE due_at IS NOT NULL OR replan_at < now() + interval '1 hour')::int AS open`,
      )
      return rows[0]?.open === 0
    },
    { what: 'nothing captured and nothing owed' },
  )
}

test('what was captured never counts, whatever changes meanwhile; what was not is counted by how', async () => {
  await using house = await buildHouse(lane, { config: TIMED })
  const worker = await house.startWorker()
  await house.sql(FILL)
  await look(house, { kind: 'backfill' })
  await quiet(house)
  await house.sql(`UPDATE clientes SET plan = 'free' WHERE id IN ('k3', 'k4', 'k5', 'k6', 'k7')`)
  await quiet(house)
  const states = await house.sql('SELECT DISTINCT state FROM rollcall.ledger ORDER BY 1')
  expect(states.rows.map(({ state }) => state)).toEqual(['held', 'idle', 'rejected'])

  // Checks without a pause, beside changes of every kind.
  let checks = 0
  const changes = (async () => {
    for (let i = 0; checks < 5 && i < 100; i++) {
      await house.sql(
        `INSERT INTO clientes (id, plan, contrato) VALUES ($1, 'premium', (now() + interval '0.4 s')::text)`,
        [`n${i}`],
      )
      await house.sql(`UPDATE clientes SET nombre = $1 WHERE id ~ ('[' || $2::text || ']$')`, [
        `N${i}`,
        i % 10,
      ])
      await house.sql(`UPDATE clientes SET plan = 'premium' WHERE id = $1`, [`k${10 * (1 + (i % 4))}`])
      await house.sql('DELETE FROM clientes WHERE id = $1', [`n${i - 3}`])
    }
  })()
  let found = 0
  while (checks < 5) {
    const { missed, verdicts } = await look(house)
    checks++
    expect.soft(missed).toEqual(NOTHING)
    found += verdicts.differs + verdicts.owed
  }
  await changes
  expect(found).toBeGreaterThan(0)
  await quiet(house)
  expect((await look(house)).missed).toEqual(NOTHING)
  await quiet(house)
  await worker.stop()

  // Changes that wait to be noted.
  await house.sql(`UPDATE clientes SET nombre = 'late' WHERE id IN ('k8', 'k9')`)
  expect(await look(house)).toMatchObject({ missed: NOTHING, verdicts: { differs: 2 } })

  await house.sql('ALTER TABLE clientes DISABLE TRIGGER ALL')
  await house.sql(`INSERT INTO clientes (id, plan) SELECT 'new' || i, 'premium' FROM generate_series(1, 4) i`)
  // Idle, with a time ahead, rejected before or not, held.
  await house.sql(`UPDATE clientes SET apellidos = 'X' WHERE id IN ('k12', 'k18', 'k20', 'k7')`)
  await house.sql(`DELETE FROM clientes WHERE id IN ('k13', 'k14')`)
  await house.sql('ALTER TABLE clientes ENABLE TRIGGER ALL')
  expect((await look(house)).missed).toEqual({ inserted: 4, changed: 4, deleted: 2 })
  expect((await look(house)).missed).toEqual(NOTHING)
})

test('another digest key, another mapping and a mark that stands are no miss', async () => {
  await using house = await buildHouse(lane)
  const worker = await house.startWorker()
  await house.sql(`INSERT INTO clientes (id, plan) SELECT 'k' || i, 'premium' FROM generate_series(1, 20) i`)
  await look(house, { kind: 'backfill' })
  await quiet(house)
  await worker.stop()
  const key = 'another-digest-key-of-thirty-two-chars'
  expect((await look(house, { key })).missed).toEqual(NOTHING)

  await house.sql('ALTER TABLE clientes DISABLE TRIGGER ALL')
  await house.sql(`UPDATE clientes SET plan = 'free' WHERE id IN ('k1', 'k2')`)
  await house.sql('ALTER TABLE clientes ENABLE TRIGGER ALL')
  await house.sql(`INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('truncate', 'public.clientes')`)
  await house.sql('UPDATE rollcall.owed SET due_at = NULL')
  expect(await look(house)).toMatchObject({ missed: NOTHING, verdicts: { differs: 2 } })
  await house.sql('UPDATE rollcall.owed SET due_at = NULL')
  await house.sql('UPDATE rollcall.capture_mark SET resolved_at = now(), resynced_at = now()')
  expect(await look(house)).toMatchObject({ missed: { inserted: 0, changed: 2, deleted: 0 } })

  const changes = { mapping: { ...CONFIG.mapping, description: { value: 'cliente' } } }
  const changed = resolveConfig({ ...house.authored, ...changes }, 'rollcall.config.ts')
  await applyGeneration(house.db.pool, changed.fingerprint)
  await house.sql('UPDATE rollcall.owed SET due_at = NULL')
  // While it is being applied a sweep of all customers cannot tell the mapping from the row.
  expect((await look(house, { kind: 'backfill', changes })).missed).toEqual(NOTHING)
  expect((await look(house, { kind: 'mapping', changes })).missed).toEqual(NOTHING)
  expect(await look(house, { changes })).toMatchObject({ missed: NOTHING, verdicts: { owed: 20 } })
})
