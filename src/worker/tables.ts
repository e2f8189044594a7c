import type { Pool } from 'pg'
import { endPool, makePool } from '../database/pool.ts'
import type { DriftKind, WrongAccess } from '../drift/words.ts'
import { type Overview, readOverview } from '../ledger/overview.ts'
import { readSweeps, type SweepsReport } from '../ledger/runs-read.ts'

/** What is asked of each kind of the brake. */
export type BrakeReading = {
  readonly kind: string
  /** Customers who wait for a person. */
  readonly held: number
  /** Null: it has not tripped. */
  readonly trippedAt: unknown
}

export type PaceReading = {
  readonly ceiling: number
  readonly rate: number
  /** For how long the service has asked everybody to wait. */
  readonly heldForMs: number
  readonly breaker: string
  readonly cause: string | null
}

/** What is asked of verification. */
export type DriftReading = {
  readonly coverage: {
    readonly customers: number
    readonly within: number
    readonly oldestAgeMs: number | null
    readonly overdue: number
    readonly proof: { readonly medianMs: number; readonly p95Ms: number } | null
  }
  readonly open: Readonly<Record<DriftKind, number>>
  readonly access: Readonly<Record<WrongAccess, number>>
  readonly doubt: object | null
}

export type Tables = {
  readonly overview: Overview
  readonly sweeps: SweepsReport
  readonly brake: readonly BrakeReading[] | null
  readonly pace: PaceReading | null
  readonly drift: DriftReading | null
}

export type Readers = {
  readonly brake?: (pool: Pool) => Promise<readonly BrakeReading[]>
  readonly pace?: (pool: Pool) => Promise<PaceReading | null>
  readonly drift?: (pool: Pool) => Promise<DriftReading>
}

type Options = {
  readonly url: string
  readonly readers: Readers
  readonly onPoolError: (error: Error) => void
}

/** One for what may be slow, and one for the question whether the database answers. */
const CONNECTIONS = 2
/** A large ledger takes a second; a lock that somebody holds must not. */
const STATEMENT_MS = 10_000
/** A network that swallows everything would keep a query for a quarter of an hour. */
const CUT_MS = 15_000

/**
 * Reads what metrics show of the tables, on connections of its own, so that neither waits for the other: not the
 * metrics for a worker that has all of its connections in hand, nor the worker for the metrics.
 */
export function openTables({ url, readers, onPoolError }: Options) {
  let pool: Pool | null = null

  const open = () =>
    makePool({
      url,
      max: CONNECTIONS,
      applicationName: 'rollcall metrics',
      statementTimeoutMs: STATEMENT_MS,
      onError: onPoolError,
    })

  async function close(): Promise<void> {
    const ended = pool
    pool = null
    if (ended) await endPool(ended, 0)
  }

  async function inTime<T>(ask: (pool: Pool) => Promise<T>): Promise<T> {
    pool ??= open()
    const cut = setTimeout(() => void close().catch(onPoolError), CUT_MS)
    try {
      return await ask(pool)
    } finally {
      clearTimeout(cut)
    }
  }

  return {
    read: (): Promise<Tables> =>
      inTime(async (asked) => ({
        overview: await readOverview(asked),
        sweeps: await readSweeps(asked),
        brake: (await readers.brake?.(asked)) ?? null,
        pace: (await readers.pace?.(asked)) ?? null,
        drift: (await readers.drift?.(asked)) ?? null,
      })),
    /** Whether the database answers at all. */
    ping: (): Promise<boolean> => inTime(async (asked) => (await asked.query('SELECT 1')).rowCount === 1),
    close,
  }
}
