// A database that went back in time: the service remembers more than it does.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { makeClaim } from '../../src/ledger/claim.ts'
import { leaseKey } from '../../src/ledger/lease.ts'
import { readBinding } from '../../src/ledger/target.ts'
import { backUp } from '../support/backup.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House } from '../support/house.ts'
import { eachLane, lanes } from '../support/lanes.ts'
import { buildOwnHouse, type OwnHouse } from '../support/own-house.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

const [redis, postgres] = lanes
if (!redis || !postgres) throw new Error('there are two lanes')

type Calling = Pick<House, 'authored' | 'env'>

/** A worker in a process of its own, and anything else in this one. */
async function run(house: Calling, ...args: readonly string[]) {
  if (args[0] !== 'worker') return await rollcall(house, ...args)
  await using process = await runRollcall(house, args)
  const { code } = await process.exited
  return { code, output: process.output() }
}

/** Starts one, and ends it in good order once it runs. */
async function runsAndStops(house: Calling): Promise<void> {
  await using worker = await runRollcall(house, ['worker'])
  await until(() => worker.output().includes('the worker runs'))
  worker.kill('SIGTERM')
  expect(await worker.exited).toMatchObject({ code: 0 })
}

/** What the worker says when the database is behind: the remedy for it comes first. */
const BACK = {
  code: 2,
  output: expect.stringMatching(/went back in time[\s\S]*Run `rollcall migrate --target new`/),
}

describe('a backup that is restored over the same database', () => {
  test('stops every command that would call, until the operator has said so', async () => {
    await using house = await buildHouse(postgres)
    const { pool } = house.db
    await pool.query(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
    expect(await run(house, 'sync', 'c')).toMatchObject({ code: 0 })
    const backup = await backUp(pool)
    await pool.query(`UPDATE clientes SET plan = 'free'`)
    expect(await run(house, 'sync', 'c')).toMatchObject({ code: 0 })
    expect(house.sandbox.users.get('c')?.status).toBe(0)

    await backup.restore()
    await pool.query(`UPDATE clientes SET plan = 'premium'; DELETE FROM rollcall.outbox`)
    const refused = {
      code: 2,
      output: expect.stringMatching(/a backup was restored[\s\S]*Run `rollcall migrate --target new`/),
    }
    expect(await run(house, 'worker')).toMatchObject(refused)
    expect(await run(house, 'sync', 'c')).toMatchObject(refused)
    const status = await run(house, 'status', '--json')
    expect(status.code).toBe(3)
    expect(JSON.parse(status.output).binding.differences).toMatchObject([{ kind: 'restored' }])

    expect(await run(house, 'migrate', '--target', 'new')).toMatchObject({ code: 0 })
    await house.startWorker()
    await until(() => house.sandbox.users.get('c')?.status === 2)
    await house.settled()
  })

  test('stops the claims of a process that goes on meanwhile', async () => {
    await using house = await buildHouse(postgres)
    const { pool } = house.db
    await pool.query(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
    expect(await run(house, 'sync', 'c')).toMatchObject({ code: 0 })
    const binding = (await readBinding(pool)) ?? ''
    const claim = makeClaim(pool, { lastsMs: 5000, binding, fingerprint: house.config.fingerprint })
    const claimed = async () => {
      await pool.query(
        'UPDATE rollcall.owed SET due_at = now(), not_before = NULL, token = NULL, call_token = NULL',
      )
      const lease = await leaseKey(pool, 'c', 5000)
      if (!lease) throw new Error('the customer could not be leased')
      return (await claim(lease)) !== null
    }
    expect(await claimed()).toBe(true)
    await (await backUp(pool)).restore()
    expect(await claimed()).toBe(false)
  })
})

const GO_BACK = `SELECT setval('rollcall.token', 1)`

eachLane('a database that goes back under a worker', (lane) => {
  test('ends it, with what to do', async () => {
    await using house = await buildHouse(lane)
    const { pool } = house.db
    await using worker = await runRollcall(house, ['worker'])
    await pool.query(
      `INSERT INTO clientes (id, plan) SELECT 'c' || i, 'premium' FROM generate_series(1, 5) i`,
    )
    await until(() => house.sandbox.users.size === 5)
    await house.settled()
    await pool.query(GO_BACK)
    expect(await worker.exited).toMatchObject({ code: 2 })
    expect({ code: 2, output: worker.output() }).toMatchObject(BACK)
  })
})

describe.skipIf(!redis.available)('what Redis remembers of a database', () => {
  const settled = async () => {
    const house = await buildHouse(redis)
    const worker = await house.startWorker()
    await house.db.pool.query(
      `INSERT INTO clientes (id, plan) SELECT 'c' || i, 'premium' FROM generate_series(1, 5) i`,
    )
    await until(() => house.sandbox.users.size === 5)
    await house.settled()
    await worker.stop()
    return house
  }

  test('stops a worker while it is more, and no longer once the operator has decided', async () => {
    await using house = await settled()
    await runsAndStops(house)
    await house.db.pool.query(GO_BACK)
    expect(await run(house, 'worker')).toMatchObject(BACK)
    expect(await run(house, 'migrate', '--target', 'same')).toMatchObject({ code: 0 })
    await runsAndStops(house)
  })

  test('also stops it where the database lacks the last decision of the operator', async () => {
    await using house = await settled()
    const { pool } = house.db
    await pool.query('CREATE TABLE kept AS SELECT bound_at FROM rollcall.target')
    expect(await run(house, 'migrate', '--target', 'same')).toMatchObject({ code: 0 })
    const worker = await house.startWorker()
    await pool.query(`UPDATE clientes SET plan = 'free' WHERE id = 'c1'`)
    await house.settled()
    await worker.stop()
    // As the row of an earlier binding would be.
    await pool.query(
      `BEGIN; UPDATE rollcall.target SET bound_at = kept.bound_at, bound_by = DEFAULT FROM kept; COMMIT`,
    )
    expect(await run(house, 'worker')).toMatchObject(BACK)
  })

  test('is nothing after a flush, and nobody is stopped for that', async () => {
    await using house = await settled()
    await house.db.pool.query(GO_BACK)
    await redis.lose(house.queueUrl)
    await runsAndStops(house)
  })
})

/** The data directory of a server that was killed, as a disk holds it at that moment. */
async function snapshot({ pool, postgres: server }: OwnHouse) {
  const { rows } = await pool.query<{ data_directory: string }>('SHOW data_directory')
  const data = rows[0]?.data_directory ?? ''
  const copy = async (from: string, to: string) => {
    await server.kill()
    await promisify(execFile)('sh', [
      '-c',
      'rm -rf "$2" && cp -a "$1" "$2" && rm -f "$2/postmaster.pid"',
      'sh',
      from,
      to,
    ])
    await server.restart()
  }
  await copy(data, `${data}-snapshot`)
  return { putBack: () => copy(`${data}-snapshot`, data) }
}

test.skipIf(!redis.available)(
  'a disk snapshot that is put back is noticed, and `new` makes all right',
  async () => {
    await using house = await buildOwnHouse(redis)
    const { pool, sandbox } = house
    const write = (sql: string) => until(() => pool.query(sql), { what: 'the write is taken' })
    await write(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
    const running = await runRollcall(house, ['worker'])
    await using worker = running
    await until(() => sandbox.users.get('c')?.status === 2)
    await house.settled()
    const disk = await snapshot(house)
    await write(`UPDATE clientes SET plan = 'free'`)
    await until(() => sandbox.users.get('c')?.status === 0)
    await house.settled()

    await disk.putBack()
    expect({ ...(await worker.exited), output: worker.output() }).toMatchObject(BACK)
    expect(await run(house, 'worker')).toMatchObject(BACK)
    expect(sandbox.users.get('c')?.status).toBe(0)

    expect(await run(house, 'migrate', '--target', 'new')).toMatchObject({ code: 0 })
    await using again = await runRollcall(house, ['worker'])
    await until(() => sandbox.users.get('c')?.status === 2)
    again.kill('SIGTERM')
    expect(await again.exited).toMatchObject({ code: 0 })
  },
  120_000,
)
