// A changed mapping, from the deployment that brings it to the calls that follow its application.
import { describe, expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { applyGeneration } from '../../src/ledger/generation.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse, CONFIG, type House, timed } from '../support/house.ts'
import { anyLane as lane } from '../support/lanes.ts'
import { reconfigured, startOther } from '../support/other-mapping.ts'
import { runRollcall } from '../support/process.ts'
import { many, settledHouse } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

function mapping(changes: Partial<RollcallConfig['mapping']>): Partial<RollcallConfig> {
  return { mapping: { ...CONFIG.mapping, ...changes } }
}

/** Freemium customers get in, and the unknown plan is known. */
const CHANGED = mapping({ status: { column: 'plan', values: { free: 2, premium: 2, gold: 2, trial: 4 } } })

const backfill = (house: House, ...args: readonly string[]) =>
  rollcall(house, 'backfill', '--mapping', ...args)

const fingerprint = (changes: Partial<RollcallConfig>, house: House) =>
  resolveConfig({ ...house.authored, ...changes }, 'rollcall.config.ts').fingerprint

const generation = async ({ db }: House) => {
  const { rows } = await db.sql<{ id: number; swept: boolean }>(
    'SELECT id::int, swept_at IS NOT NULL AS swept FROM rollcall.generation ORDER BY id DESC LIMIT 1',
  )
  return rows[0]
}

/** A lease takes one, whatever becomes of it. */
const tokens = async ({ db }: House) => (await db.sql('SELECT last_value FROM rollcall.token')).rows

/** Three of each plan: those of `gold` are rejected by the house's own mapping. */
const FILL = `INSERT INTO clientes (id, plan) SELECT p || i, p FROM unnest('{premium,free,gold}'::text[]) p, generate_series(1, 3) i`

describe('a changed mapping', () => {
  test('sends nothing until it is applied, and then only to those who differ, as the plan says', async () => {
    await using house = await settledHouse(lane, FILL)
    const before = house.calls().length
    const given = await tokens(house)

    await using worker = await startOther(house, CHANGED)
    await until(() => worker.said.some((text) => text.includes('rollcall backfill --mapping')))
    await house.sql(`INSERT INTO clientes (id, plan) VALUES ('new', 'premium')`)
    await house.sql(`UPDATE clientes SET nombre = 'Ana' WHERE id = 'premium1'`)
    await until(
      async () => (await house.sql('SELECT FROM rollcall.owed WHERE due_at IS NOT NULL')).rowCount === 2,
    )
    expect(await tokens(house)).toEqual(given)
    const changed = reconfigured(house, CHANGED)
    const dry = await backfill(changed, '--dry-run', '--json')
    expect(dry.code).toBe(3)
    expect(JSON.parse(dry.output)).toMatchObject({
      generation: '1',
      current: false,
      applied: false,
      dryRun: true,
      ended: true,
      customers: 10,
      plans: { patch: 3, create: 3 },
      fields: { status: 3 },
      owedAndChanged: 1,
    })
    expect(await generation(house)).toEqual({ id: 1, swept: true })
    expect(house.calls()).toHaveLength(before)

    const done = await backfill(changed)
    expect(done.output).toContain('generation 2')
    expect(done.code).toBe(0)
    await house.settled()
    expect(await generation(house)).toEqual({ id: 2, swept: true })
    const calls = house
      .calls()
      .slice(before)
      .map(({ method, body }) => JSON.stringify([method, body]))
    expect(calls.toSorted()).toEqual(
      [
        ...[1, 2, 3].map(() => ['PATCH', { status: 2 }]),
        ...[1, 2, 3].map((i) => ['POST', { user_id: `gold${i}`, status: 2 }]),
        ['POST', { user_id: 'new', status: 2 }],
        ['PATCH', { status: 2, first_name: 'Ana' }],
      ]
        .map(([method, body]) => JSON.stringify([method, body]))
        .toSorted(),
    )
    expect((await house.sql(`SELECT FROM rollcall.ledger WHERE state <> 'idle'`)).rowCount).toBe(0)
  })

  test('an older worker stands back when a newer mapping is applied, and what it fetched is not delayed', async () => {
    const config = { ...timed({ queueLeaseMs: 60_000 }), pace: { ceiling: 10, concurrency: 20 } }
    await using house = await buildHouse(lane, { config })
    await house.sql(many(20))
    await using older = await startOther(house, {})
    await house.settled()
    // It has jobs in hand that wait for their turn at the service, and then may not claim.
    await house.sql(`UPDATE clientes SET nombre = 'first'`)
    const inHand = 'SELECT FROM rollcall.owed WHERE token IS NOT NULL AND call_token IS NULL'
    await until(async () => ((await house.sql(inHand)).rowCount ?? 0) > 2)
    await applyGeneration(house.db.pool, fingerprint(CHANGED, house))
    await using newer = await startOther(house, CHANGED)
    await house.settled()
    await until(() => older.said.some((text) => text.includes('a later mapping is active')))
    expect(newer.said.join()).not.toContain('backfill')
    const byNewer = () => house.sql('SELECT FROM rollcall.ledger WHERE generation = 2')
    expect((await byNewer()).rowCount).toBeGreaterThan(2)
    await house.settle(`UPDATE clientes SET nombre = 'second'`)
    expect((await byNewer()).rowCount).toBe(20)

    await applyGeneration(house.db.pool, house.config.fingerprint)
    await until(() => older.said.includes('the mapping of this worker is active now: the worker syncs'))
    await house.settle(`UPDATE clientes SET nombre = 'last'`)
    const after = await house.sql('SELECT DISTINCT generation::int AS generation FROM rollcall.ledger')
    expect(after.rows).toEqual([{ generation: 3 }])
    await until(() => newer.said.some((text) => text.includes('a later mapping is active')))
  })

  test('a sweep that was killed half way is brought to its end by a worker with that mapping', async () => {
    await using house = await buildHouse(lane)
    const old = await house.startWorker()
    await house.settle(FILL)
    // It cannot get past this one, and is killed when it waits.
    await using blocker = await house.db.session()
    await blocker.query('BEGIN')
    await blocker.query(`SELECT FROM rollcall.owed WHERE key = 'free2' FOR UPDATE`)
    await using command = await runRollcall(reconfigured(house, CHANGED), ['backfill', '--mapping'])
    await until(
      async () =>
        (
          await house.sql(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          )
        ).rowCount,
    )
    command.kill('SIGKILL')
    await command.exited
    await house.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    await blocker.query('ROLLBACK')
    expect(await generation(house)).toEqual({ id: 2, swept: false })
    await using _worker = await startOther(house, CHANGED)
    await until(async () => (await generation(house))?.swept)
    await house.settled()
    for (const user of ['free1', 'free2', 'free3', 'gold1', 'gold2', 'gold3'])
      expect(house.sandbox.users.get(user)?.status).toBe(2)
    await old.stop()
  })
})
