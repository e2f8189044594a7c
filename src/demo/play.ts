// Carries out the shop's transactions at their times.
import type { Pool } from 'pg'
import type { Action, Phase } from './phases.ts'

type Options = {
  readonly pool: Pool
  readonly phase: Phase
  readonly now: () => number
  /** Resolves early when the demo is stopped. */
  readonly sleep: (ms: number) => Promise<void>
  readonly stop: AbortSignal
}

/** One transaction after the other; one that is late is not left out. */
export async function play({ pool, phase, now, sleep, stop }: Options): Promise<void> {
  const begun = now()
  for (const action of phase.actions) {
    const early = begun + action.atMs - now()
    if (early > 0) await sleep(early)
    if (stop.aborted) return
    await transact(pool, action)
  }
}

async function transact(pool: Pool, { statements, end }: Action): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    for (const { text, values } of statements) await client.query(text, [...values])
    await client.query(end)
    client.release()
  } catch (error) {
    client.release(true) // its transaction ends with the connection
    throw error
  }
}
