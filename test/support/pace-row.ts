// The pace row and its clock without a database: time passes only while a process sleeps.
import type { Pool } from 'pg'
import { HORIZON_MS, type Reservation } from '../../src/pace/row.ts'

export type PaceRow = {
  readonly now: () => number
  readonly reserve: (count: number) => Promise<Omit<Reservation, 'troubled'>>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** How often the row was asked, and for how many permits. */
  readonly asked: number[]
  /** No permit before this. */
  notBefore: number
  /** The breaker is open. */
  closed: boolean
  epoch: string
  /** A test may do this once, while a reservation is under way. */
  meanwhile: (() => void) | null
  /** Lets time pass until no process sleeps. */
  run(until?: number): Promise<void>
}

type Sleeper = { readonly at: number; readonly wake: () => void }

export function makePaceRow(ratePerSecond: number): PaceRow {
  let time = 0
  let nextFree = 0
  const sleepers: Sleeper[] = []
  const row: PaceRow = {
    now: () => time,
    asked: [],
    notBefore: 0,
    closed: false,
    epoch: '0',
    meanwhile: null,
    async reserve(count) {
      row.asked.push(count)
      const start = Math.max(nextFree, time, row.notBefore)
      const fits = 1 + Math.floor((ratePerSecond * (time + HORIZON_MS - start)) / 1000)
      const granted = row.closed ? 0 : Math.max(0, Math.min(count, fits))
      const spacingMs = 1000 / ratePerSecond
      if (granted > 0) nextFree = start + granted * spacingMs
      const { closed, epoch } = row
      row.meanwhile?.()
      row.meanwhile = null
      return { count: granted, startMs: start - time, spacingMs, epoch, closed }
    },
    sleep(ms, signal) {
      return new Promise((resolve) => {
        const sleeper = { at: time + ms, wake: resolve }
        sleepers.push(sleeper)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    },
    async run(until = Number.POSITIVE_INFINITY) {
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve))
        sleepers.sort((a, b) => a.at - b.at)
        const next = sleepers[0]
        if (!next || next.at > until) {
          time = Math.max(time, Number.isFinite(until) ? until : time)
          return
        }
        sleepers.shift()
        time = Math.max(time, next.at)
        next.wake()
      }
    },
  }
  return row
}

/** As after a Retry-After that binds every process. */
export async function holdCalls(pool: Pool, ms: number): Promise<void> {
  await pool.query(`UPDATE rollcall.pace SET not_before = clock_timestamp() + $1 * interval '1 ms'`, [ms])
}
