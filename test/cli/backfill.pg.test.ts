// The commands while another mapping than that of their configuration is active.
import { beforeAll, describe, expect, test } from 'vitest'
import type { RollcallConfig } from '../../src/config/define.ts'
import { alone } from '../../src/ledger/alone.ts'
import { rollcall } from '../support/command.ts'
import { CONFIG, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { reconfigured } from '../support/other-mapping.ts'
import { runRollcall } from '../support/process.ts'
import { settledHouse, settleOnce } from '../support/settled-house.ts'
import { unfolded } from '../support/unfolded.ts'
import { until } from '../support/until.ts'

const CHANGED: Partial<RollcallConfig> = {
  mapping: { ...CONFIG.mapping, status: { column: 'plan', values: { free: 2, premium: 0, trial: 4 } } },
}

async function run(house: House, ...args: readonly string[]) {
  const { code, output } = await rollcall(house, ...args)
  return { code, output: unfolded(output) }
}

const THREE = `INSERT INTO clientes (id, plan) VALUES ('a', 'premium'), ('b', 'premium'), ('c', 'free')`

describe('with a mapping that is not applied', () => {
  let house: House
  let changed: House
  let calls: number
  beforeAll(async () => {
    house = await settledHouse(lane, THREE)
    changed = reconfigured(house, CHANGED)
    calls = house.calls().length
    return () => house[Symbol.asyncDispose]()
  })

  test('sync is refused, with what to do; so is --lookup', async () => {
    for (const args of [['a'], ['a', '--lookup']]) {
      const { code, output } = await run(changed, 'sync', ...args)
      expect(code).toBe(2)
      expect(output).toContain('rollcall backfill --mapping')
      expect(output).toContain('generation 1')
    }
    expect(house.calls()).toHaveLength(calls)
    const { rowCount } = await house.sql('SELECT FROM rollcall.owed WHERE due_at IS NOT NULL')
    expect(rowCount).toBe(0)
  })

  test('sync --dry-run plans by it, and says that nothing is sent with it', async () => {
    const { code, output } = await run(changed, 'sync', 'a', '--dry-run')
    expect(code).toBe(0)
    expect(output).toMatch(/mapped .*status 0/)
    expect(output).toMatch(/plan .*PATCH.* status/s)
    expect(output).toContain('nothing, because this mapping is not active. When `rollcall backfill')
    const present = await run(house, 'sync', 'a', '--dry-run')
    expect(present.output).not.toContain('mapping is not active')
    const json = await run(changed, 'sync', 'a', '--dry-run', '--json')
    expect(JSON.parse(json.output)).toMatchObject([
      { key: 'a', mappingCurrent: false, desired: { kind: 'user' }, mapped: { kind: 'user' }, leftOut: [] },
    ])
  })

  test('status says so, counts who differs, and ends with 3', async () => {
    const { code, output } = await run(changed, 'status')
    expect(code).toBe(3)
    expect(output).toMatch(/^mapping .*generation 1, active since 20.*from another configuration/m)
    expect(output).toMatch(/^attention .*backfill --mapping.*3 of 3 customers/m)
    const json = JSON.parse((await run(changed, 'status', '--json')).output)
    expect(json.mapping).toMatchObject({
      generation: '1',
      current: false,
      earlier: false,
      swept: true,
      differ: { ended: true, tally: { verdicts: { differs: 3 }, loseAccess: 2 } },
    })
    expect(json.attention).toHaveLength(1)
  })

  test('capture resync is refused, and leaves what waits for a person as it is', async () => {
    await house.sql(
      `INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('truncate', 'public.clientes')`,
    )
    const { code, output } = await run(changed, 'capture', 'resync')
    expect(code).toBe(2)
    expect(output).toContain('rollcall backfill --mapping')
    expect((await house.sql('SELECT FROM rollcall.capture_mark WHERE resolved_at IS NULL')).rowCount).toBe(1)
    await house.sql('DELETE FROM rollcall.capture_mark')
    expect((await run(house, 'capture', 'resync')).output).toMatch(/^Compared 3 .* requested: 0\./m)
    const elsewhere = { ...house, env: { ...house.env, SERVICE_URL: 'http://127.0.0.1:1' } } as House
    expect((await run(elsewhere, 'capture', 'resync')).output).toMatch(/can start .*: SERVICE_URL was/)
    await settleOnce(house)
    expect(house.calls()).toHaveLength(calls)
  })

  test('capture resync says what it waits for; stopped, it tells how far it has come', async () => {
    const ran = await alone(house.db.pool, 'sweep', async () => {
      await using process = await runRollcall(house, ['capture', 'resync'])
      await until(
        async () =>
          process.output().includes('this command waits until it ends') ||
          Promise.reject(new Error(process.output())),
        { what: 'it says that it waits' },
      )
      process.kill('SIGINT')
      const { code } = await process.exited
      return { code, output: process.output() }
    })
    expect(ran?.code).toBe(1)
    expect(ran?.output).toMatch(/^Compared 0 .* requested: 0\./m)
    expect(ran?.output).toMatch(/^Not all .*again/m)
  })

  test('the dry run says who differs, by call and by field, and who may lose access', async () => {
    const { code, output } = await run(changed, 'backfill', '--mapping', '--dry-run')
    expect(code).toBe(3)
    expect(output).toMatch(/generation 1.*from another configuration.*another mapping is active/s)
    expect(output).toMatch(/^customers +3 compared/m)
    expect(output).toMatch(/^differ +3 customers: 3 to update \(PATCH\)/m)
    expect(output).toMatch(/^fields .*3 × status/m)
    expect(output).toMatch(/^access .* 2 lose it/m)
    expect(house.calls()).toHaveLength(calls)
  })
})

test('with the mapping that is the present one it says so, and sweeps all the same', async () => {
  await using house = await settledHouse(lane, THREE)
  await house.sql('ALTER TABLE clientes DISABLE TRIGGER ALL')
  await house.sql(`UPDATE clientes SET nombre = 'Ana' WHERE id = 'a'`)
  const unfit = await run(house, 'backfill', '--mapping')
  expect(unfit).toMatchObject({ code: 2, output: expect.stringContaining('rollcall capture install') })
  await house.sql('ALTER TABLE clientes ENABLE TRIGGER ALL')
  const { code, output } = await run(house, 'backfill', '--mapping')
  expect(code).toBe(0)
  expect(output).toContain('generation 1, active since')
  expect(output).toMatch(/^differ +1 customer: 1 to update/m)
  const { rows } = await house.sql('SELECT key FROM rollcall.owed WHERE due_at IS NOT NULL')
  expect(rows).toEqual([{ key: 'a' }])

  await house.sql(`INSERT INTO rollcall.generation (id, fingerprint) VALUES (2, 'newer')`)
  expect((await run(house, 'backfill', '--mapping', '--dry-run')).output).toMatch(
    /of\s+this\s+command\s+was\s+active\s+before/,
  )
})
