// A database that went back in time, for those who tell what a worker makes of it.
import { expect } from 'vitest'
import { rollcall } from './command.ts'
import { buildHouse, type House } from './house.ts'
import type { QueueLane } from './lanes.ts'
import { runRollcall } from './process.ts'
import { until } from './until.ts'

type Calling = Pick<House, 'authored' | 'env'>

/** A worker in a process of its own, and anything else in this one. */
export async function run(house: Calling, ...args: readonly string[]) {
  if (args[0] !== 'worker') return await rollcall(house, ...args)
  await using process = await runRollcall(house, args)
  const { code } = await process.exited
  return { code, output: process.output() }
}

/** Starts one, and ends it in good order once it runs. */
export async function runsAndStops(house: Calling): Promise<void> {
  await using worker = await runRollcall(house, ['worker'])
  await until(() => worker.output().includes('the worker runs'))
  worker.kill('SIGTERM')
  expect(await worker.exited).toMatchObject({ code: 0 })
}

/** What the worker says when the database is behind: the remedy for it comes first. */
export const BACK = {
  code: 2,
  output: expect.stringMatching(/went back in time[\s\S]*Run `rollcall migrate --target new`/),
}

export const GO_BACK = `SELECT setval('rollcall.token', 1)`

/** Five customers are settled, and the worker has stopped. */
export async function settledFive(lane: QueueLane): Promise<House> {
  const house = await buildHouse(lane)
  const worker = await house.startWorker()
  await house.db.pool.query(
    `INSERT INTO clientes (id, plan) SELECT 'c' || i, 'premium' FROM generate_series(1, 5) i`,
  )
  await until(() => house.sandbox.users.size === 5)
  await house.settled()
  await worker.stop()
  return house
}
