// A live change beside a backfill: what stands on the queue already is all that is in front of it.
import { expect, test } from 'vitest'
import { noteGently } from '../../src/ledger/note-unchanged.ts'
import { LANE } from '../../src/model/customer.ts'
import { buildHouse, timed } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'
import { many } from '../support/settled-house.ts'
import { until } from '../support/until.ts'

const BACKLOG = 3000

eachLane('a live change during a backfill', (lane) => {
  test('is called after what a slow service takes in moments, not after what the pace would allow in a second', async () => {
    await using house = await buildHouse(lane, {
      config: {
        // Four calls at once, of 50 ms each: 80 a second at the most, where the pace would allow 2000.
        pace: { ceiling: 2000, concurrency: 4 },
        service: { timeoutMs: 10_000 },
        ...timed({ lifetimeMs: 25_000, queueLeaseMs: 60_000 }),
      },
    })
    house.sandbox.faults.set([{ action: { kind: 'latency', minMs: 50, maxMs: 50 } }])
    await house.sql(`BEGIN; SET LOCAL session_replication_role = replica; ${many(BACKLOG)}; COMMIT`)
    const keys = Array.from({ length: BACKLOG }, (_, i) => `k${i + 1}`)
    await noteGently(house.db.pool, keys, LANE.backfill)
    await house.startWorker()
    await until(() => house.calls().length >= 80, { what: 'eighty calls of the backfill' })

    await house.sql(`INSERT INTO clientes (id, plan) VALUES ('live', 'premium')`)
    const before = house.calls().length
    await until(() => house.calls('live').length === 1, { what: 'the call of the live change' })
    expect(house.calls().length - before).toBeLessThan(BACKLOG / 10)
  })
})
