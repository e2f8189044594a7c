// A database whose users another integration has registered: `rollcall drift` says what a backfill would do, and nothing
// is written, then or later.
import { expect, test } from 'vitest'
import { runDrift } from '../support/drift-command.ts'
import { buildHouse, CONFIG, CUSTOMERS, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { until } from '../support/until.ts'

const COUNT = Number(process.env.SHADOW_CUSTOMERS ?? 200)
/** Every tenth customer differs, in one of four ways. */
const EACH = COUNT / 40

/** The older integration has registered them all with countries that no GET shows; some of them have no access. */
const ROWS = `
INSERT INTO clientes (id, plan, correo, nombre, pais)
SELECT 'k' || i, CASE WHEN i % 5 = 3 THEN 'free' ELSE 'premium' END, 'k' || i || '@example.com', 'Ana', 'ES'
FROM generate_series(0, ${COUNT - 1}) i`
/** Out of scope, and never synced: another system manages their users. */
const OTHERS = `INSERT INTO clientes (id, plan) VALUES ('other', 'trial')`

function registerAll({ sandbox: { users } }: House): void {
  users.set('other', { status: 2 })
  for (let i = 0; i < COUNT; i++) {
    const key = `k${i}`
    const status = i % 5 === 3 ? 0 : 2
    users.set(key, { status, email: `${key}@example.com`, first_name: 'Ana', country_code: 'FR' })
    if (i % 10 !== 0) continue
    if ((i / 10) % 4 === 0) users.edit(key, { first_name: 'Eva' })
    if ((i / 10) % 4 === 1) users.edit(key, { email: 'other@example.org', description: 'theirs' })
    if ((i / 10) % 4 === 2) users.edit(key, { status: 0 })
    if ((i / 10) % 4 === 3) users.delete(key)
  }
}

const EXPECTED = {
  ...{ checked: COUNT, agrees: COUNT - 4 * EACH, unverifiable: COUNT - 4 * EACH },
  kinds: { differs: 3 * EACH, missing: EACH },
  fields: { first_name: EACH, email: EACH, description: EACH, status: EACH },
  access: { lost: 2 * EACH },
  causes: { 'never-delivered': 4 * EACH },
  skipped: { 'not-ours': 1 },
}

test('before anything was ever sent, drift says what a backfill would do, and nothing is written by it or later', async () => {
  const scope = { column: 'plan', in: ['premium', 'free'] }
  const config = { scope, reconcile: { period: '2s', mode: 'repair' } } as const
  await using house = await buildHouse(lane, { config, sql: [CUSTOMERS, ROWS, OTHERS].join(';') })
  registerAll(house)
  const written = () => house.calls().filter(({ method }) => method !== 'GET')

  const { code, out } = await runDrift(house, ['--json'])
  expect(code).toBe(3)
  expect(JSON.parse(out)).toMatchObject({ conclusion: 'drift', suspected: 0, counts: EXPECTED })
  expect(house.calls('other')).toEqual([])
  expect(house.calls('k1')).toHaveLength(1)

  const { first_name: _, ...mapping } = CONFIG.mapping
  const { out: less } = await runDrift({ ...house, authored: { ...house.authored, mapping } }, ['--json'])
  expect(JSON.parse(less).counts).toMatchObject({ kinds: { differs: 2 * EACH, missing: EACH } })
  expect((await runDrift(house, ['--json'])).code).toBe(3)
  await house.sql('UPDATE rollcall.finding SET checks = 1, next_check_at = now() WHERE resolved_at IS NULL')
  const worker = await house.startWorker()
  for (const day of [1, 2]) {
    await house.sql(`UPDATE rollcall.generation SET applied_at = applied_at - interval '25 hours'`)
    await house.sql(`UPDATE rollcall.run SET ended_at = ended_at - interval '25 hours'`)
    const checked = `SELECT FROM rollcall.run WHERE kind = 'check' AND ended_at > now() - interval '1 hour'`
    await until(async () => (await house.sql(checked)).rowCount === 1, { what: `the check of day ${day}` })
  }
  const suspected = 'SELECT FROM rollcall.finding WHERE checks < 2 AND resolved_at IS NULL'
  const confirmed = async () => (await house.sql(suspected)).rowCount === 0
  await until(confirmed, { what: 'second checks of what a run that was stopped would leave' })
  await worker.stop()
  expect(written()).toEqual([])
  expect((await house.sql('SELECT FROM rollcall.owed WHERE due_at IS NOT NULL')).rowCount).toBe(0)
})
