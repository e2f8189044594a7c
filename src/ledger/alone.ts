import type { Pool } from 'pg'

/** "roll" as an integer; the second one says what for. */
const ROLL = 0x726f6c6c
/** 1: migrations. */
export const SWEEPS = 2
export const ROUNDS = 3
export const RUNS = 4

/**
 * One process of all at a time; null when another one is at it. The lock is the connection's, so it goes with a process
 * that dies; were it lost on the way, two would do the same.
 */
export async function alone<T>(pool: Pool, what: number, work: () => Promise<T>): Promise<T | null> {
  const client = await pool.connect()
  // If it cannot be unlocked, it goes with the session.
  let broken = true
  try {
    const { rows } = await client.query<{ alone: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS alone', [
      ROLL,
      what,
    ])
    const done = rows[0]?.alone ? await work() : null
    if (rows[0]?.alone) await client.query('SELECT pg_advisory_unlock($1, $2)', [ROLL, what])
    broken = false
    return done
  } finally {
    client.release(broken)
  }
}
