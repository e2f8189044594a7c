import { expect, test } from 'vitest'
import { buildHouse, PATIENT, timed, workingHouse } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { many } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

eachLane('crashes and losses', (lane) => {
  test('a worker killed between call and settle: the outcome is looked up, nothing is sent twice', async () => {
    await using house = await buildHouse(lane)
    house.sandbox.faults.set([{ match: { method: 'POST' }, times: 1, action: { kind: 'hang-after' } }])
    await using first = await runRollcall(house, ['worker'])
    await house.sql(`INSERT INTO clientes (id, plan, nombre, pais) VALUES ('c', 'premium', 'Ana', 'ES')`)
    await until(() => house.sandbox.users.get('c'))
    first.kill('SIGKILL')
    await first.exited

    await using _second = await runRollcall(house, ['worker'])
    await house.settled()
    // No GET shows this field, and the crash hides whether the write carried it: the worker sends it again.
    expect(house.calls('c').slice(1)).toEqual([
      { method: 'GET', body: undefined },
      { method: 'PATCH', body: { status: 2, country_code: 'ES' } },
    ])
  })

  test('a server that ends its sessions at any moment ends no worker', async () => {
    await using house = await buildHouse(lane)
    await using worker = await runRollcall(house, ['worker'])
    for (let round = 0; round < 12; round++) {
      await house.sql(
        `INSERT INTO clientes (id, plan) SELECT $1 || i, 'premium' FROM generate_series(1, 20) i`,
        [`k${round}-`],
      )
      await house.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rollcall' AND datname = current_database()`,
      )
      const so = house.sandbox.users.size
      await until(() => house.sandbox.users.size > so || round < 3)
    }
    await until(() => house.sandbox.users.size === 240, { what: '240 users' })
    worker.kill('SIGTERM')
    expect((await worker.exited).code).toBe(0)
  })

  test('the queue loses everything: what was on it is found again', async () => {
    await using house = await buildHouse(lane)
    house.sandbox.faults.set([{ action: { kind: 'latency', minMs: 30, maxMs: 60 } }])
    await house.startWorker()
    await house.sql(many(150))
    await until(() => house.sandbox.users.size > 20)
    await lane.lose(house.queueUrl)
    await until(() => house.sandbox.users.size > 50)
    await lane.lose(house.queueUrl)
    await house.settled()
    expect(house.sandbox.users.size).toBe(150)
  })

  test('the queue loses a backlog: live changes go on long before the lost leases have passed', async () => {
    const config = { ...timed({ queueLeaseMs: 25_000 }), pace: { ceiling: 100, concurrency: 5 } }
    await using house = await workingHouse(lane, { config })
    await house.sql(many(200))
    await until(() => house.sandbox.users.size > 10)
    await lane.lose(house.queueUrl)
    await house.sql(`INSERT INTO clientes (id, plan) VALUES ('late', 'premium')`)
    await until(() => house.sandbox.users.get('late'))
  })

  test('SIGTERM: running calls are settled, the rest stays owed, and the process ends in good order', async () => {
    await using house = await buildHouse(lane, { config: PATIENT })
    house.sandbox.faults.set([{ action: { kind: 'latency', minMs: 300, maxMs: 500 } }])
    await using worker = await runRollcall(house, ['worker'])
    await house.sql(many(100))
    await until(() => house.sandbox.users.size > 5)
    worker.kill('SIGTERM')
    expect(await worker.exited).toEqual({ code: 0, signal: null })
    const { rows } = await house.sql(
      'SELECT count(*) FILTER (WHERE call_token IS NOT NULL)::int AS open, count(*) FILTER (WHERE unknown)::int AS unknown FROM rollcall.owed',
    )
    expect(rows[0]).toEqual({ open: 0, unknown: 0 })
    house.sandbox.faults.set([])
    await house.startWorker()
    await house.settled()
    expect(house.calls().filter(({ method }) => method === 'POST')).toHaveLength(100)
  })
})
