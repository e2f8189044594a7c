// A database that went back in time: the service remembers more than it does.
import { describe, expect, test } from 'vitest'
import { makeClaim } from '../../src/ledger/claim.ts'
import { leaseKey } from '../../src/ledger/lease.ts'
import { readBinding } from '../../src/ledger/target.ts'
import { backUp } from '../support/backup.ts'
import { buildHouse } from '../support/house.ts'
import { eachLane, lanes } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { many, settleOnce } from '../support/settled-house.ts'
import { until } from '../support/until.ts'
import { BACK, GO_BACK, run, runsAndStops, settledFive } from '../support/went-back.ts'

const [redis, postgres] = lanes
if (!redis || !postgres) throw new Error('there are two lanes')

describe('a backup that is restored over the same database', () => {
  test('stops every command that would call, until the operator has said so', async () => {
    await using house = await buildHouse(postgres)
    await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
    expect(await run(house, 'sync', 'c')).toMatchObject({ code: 0 })
    const backup = await backUp(house.db.pool)
    await house.sql(`UPDATE clientes SET plan = 'free'`)
    expect(await run(house, 'sync', 'c')).toMatchObject({ code: 0 })
    expect(house.sandbox.users.get('c')?.status).toBe(0)

    await backup.restore()
    await house.sql(`UPDATE clientes SET plan = 'premium'; DELETE FROM rollcall.outbox`)
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

eachLane('a database that goes back under a worker', (lane) => {
  test('ends it, with what to do', async () => {
    await using house = await buildHouse(lane)
    await using worker = await runRollcall(house, ['worker'])
    await house.sql(many(5))
    await until(() => house.sandbox.users.size === 5)
    await house.settled()
    await house.sql(GO_BACK)
    expect(await worker.exited).toMatchObject({ code: 2 })
    expect({ code: 2, output: worker.output() }).toMatchObject(BACK)
  })
})

describe.skipIf(!redis.available)('what Redis remembers of a database', () => {
  test('also stops it where the database lacks the last decision of the operator', async () => {
    await using house = await settledFive(redis)
    await house.sql('CREATE TABLE kept AS SELECT bound_at FROM rollcall.target')
    expect(await run(house, 'migrate', '--target', 'same')).toMatchObject({ code: 0 })
    await house.sql(`UPDATE clientes SET plan = 'free' WHERE id = 'k1'`)
    await settleOnce(house)
    // As the row of an earlier binding would be.
    await house.sql(
      `BEGIN; UPDATE rollcall.target SET bound_at = kept.bound_at, bound_by = DEFAULT FROM kept; COMMIT`,
    )
    expect(await run(house, 'worker')).toMatchObject(BACK)
  })

  test('is nothing after a flush, and no customer is stopped for that', async () => {
    await using house = await settledFive(redis)
    await house.sql(GO_BACK)
    await redis.lose(house.queueUrl)
    await runsAndStops(house)
  })
})
