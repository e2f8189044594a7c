// Work that one process at a time may do.
import type { Pool, PoolClient } from 'pg'
import { oneRow } from '../database/client.ts'

/** "roll" as an integer, and a number for each kind of work; 1 is the migrator's. */
const SPACE = 0x726f6c6c
const NUMBER = { sweep: 2, backfill: 3, schedule: 4, run: 5 } as const

/**
 * Runs the work unless another process is at it; null then. The lock is the connection's, so it goes with a process that
 * dies; were it lost on the way, two would work, which is harmless.
 */
export async function alone<T>(
  pool: Pool,
  what: keyof typeof NUMBER,
  task: () => Promise<T>,
): Promise<T | null> {
  const client = await pool.connect()
  // If it cannot be unlocked, it goes with the session.
  let broken = true
  try {
    const lock = [SPACE, NUMBER[what]]
    const tried = 'SELECT pg_try_advisory_lock($1, $2) AS alone'
    if (!(await oneRow<{ alone: boolean }>(client, tried, lock)).alone) {
      broken = false
      return null
    }
    try {
      return await task()
    } finally {
      broken = !(await unlocks(client, lock))
    }
  } finally {
    client.release(broken)
  }
}

/** A connection may be cut while hours of work are done beside it: its lock went with it, and what was done stands. */
async function unlocks(client: PoolClient, lock: readonly number[]): Promise<boolean> {
  try {
    const ended = 'SELECT pg_advisory_unlock($1, $2) AS unlocked'
    return (await oneRow<{ unlocked: boolean }>(client, ended, lock)).unlocked
  } catch {
    return false
  }
}
