// A house whose customers are at the service already, for what comes after that.
import { setTimeout as sleep } from 'node:timers/promises'
import { buildHouse, type House } from './house.ts'
import type { QueueLane } from './lanes.ts'

/** `customers`: the statement that brings them. Once all are settled the worker has stopped. */
export async function settledHouse(
  lane: QueueLane,
  customers: string,
  options: Parameters<typeof buildHouse>[1] = {},
): Promise<House> {
  await using stack = new AsyncDisposableStack()
  const house = stack.use(await buildHouse(lane, options))
  const worker = await house.startWorker()
  await house.settle(customers)
  await worker.stop()
  stack.move()
  return house
}

/** A worker runs until nothing is owed. */
export async function settleOnce(house: House): Promise<void> {
  const worker = await house.startWorker()
  await house.settled()
  await worker.stop()
}

/** The statement that brings premium customers of these keys. */
export function named(keys: readonly string[]): string {
  return `INSERT INTO clientes (id, plan, nombre) SELECT k, 'premium', 'Ana' FROM unnest('{${keys.join()}}'::text[]) k`
}

/** The statement that brings so many premium customers, `k1` and so on. */
export function many(count: number, prefix = 'k'): string {
  return `INSERT INTO clientes (id, plan) SELECT '${prefix}' || i, 'premium' FROM generate_series(1, ${count}) i`
}

/** One customer after the other is changed here, about fifty times a second, for as long as the work lasts. */
export async function whileChanging<T>(
  { db }: House,
  keys: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  let done = false
  const changing = (async () => {
    for (let n = 0; !done; n++) {
      const values = [keys[n % keys.length], `G${n}`, `C${n}@Example.com`]
      await db.sql('UPDATE clientes SET apellidos = $2, correo = $3 WHERE id = $1', values)
      await sleep(20)
    }
  })()
  try {
    return await work()
  } finally {
    done = true
    await changing
  }
}
