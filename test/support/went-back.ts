// A database that went back in time, for those who tell what a worker makes of it.
import { expect } from 'vitest'
import { rollcall } from './command.ts'
import type { House } from './house.ts'
import type { QueueLane } from './lanes.ts'
import { runRollcall } from './process.ts'
import { many, settledHouse } from './settled-house.ts'
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

/** A worker whose database is behind names its remedy first. */
export const BACK = {
  code: 2,
  output: expect.stringMatching(/went back in time[\s\S]*Run `rollcall migrate --target new`/),
}

export const GO_BACK = `SELECT setval('rollcall.token', 1)`

/** Five customers are settled, and the worker has stopped. */
export const settledFive = (lane: QueueLane): Promise<House> => settledHouse(lane, many(5))
