import type { Pool } from 'pg'
import type { HeldKind } from '../../src/brake/brake.ts'
import type { RollcallConfig } from '../../src/config/define.ts'
import { type House, workingHouse } from './house.ts'
import type { QueueLane } from './lanes.ts'

/** However many there are: ten may be changed in one way, twenty registered. */
export const LIMIT_OF_TEN: NonNullable<RollcallConfig['brake']> = {
  changes: { customers: 10, share: 0 },
  creates: { customers: 100, share: 0 },
}

/** The limit of ten, a worker, and so many customers with access, an e-mail and a name, all settled. */
export async function brakedHouse(lane: QueueLane, count: number, config: Partial<RollcallConfig> = {}) {
  await using stack = new AsyncDisposableStack()
  const house = stack.use(await workingHouse(lane, { config: { brake: LIMIT_OF_TEN, ...config } }))
  await house.settle(
    `INSERT INTO clientes (id, plan, correo, nombre)
     SELECT 'k' || i, 'premium', 'k' || i || '@example.com', 'Ana' FROM generate_series(1, $1::int) i`,
    [count],
  )
  stack.move()
  return house
}

export const shutOut = ({ sandbox }: House): number =>
  sandbox.users.all().filter(({ status }) => status === 0).length

export const PERSON = { by: 'a test', why: 'looked up' }

/** How many customers are held, for any reason or for one. */
export async function heldIn(pool: Pool, kind?: HeldKind): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM rollcall.ledger
     WHERE state = 'held' AND ($1::text IS NULL OR reason->'kinds' ? $1)`,
    [kind ?? null],
  )
  return rows[0]?.n ?? 0
}
