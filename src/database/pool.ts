import { Socket } from 'node:net'
import pg from 'pg'
import type { Client } from './client.ts'
import { connectOne, databaseAt, roleOf, sessionConfig } from './session.ts'

type PoolOptions = {
  readonly url: string
  /** Where the address came from; default: DATABASE_URL. */
  readonly variable?: string
  readonly max: number
  readonly applicationName?: string
  /** No statement of the worker takes long; a lock of another session must not hold the worker for ever. */
  readonly statementTimeoutMs?: number
  /** Connections that break while idle. The pool replaces them; without a listener the process would end. */
  readonly onError: (error: Error) => void
}

/**
 * Sessions as session.ts has them, which read types without loss: `date` as local midnight would shift a birthday by
 * a day in Madrid, and int8 and numeric do not fit a number. Integers of up to 32 bits and floats are numbers,
 * booleans booleans, and json is parsed. Everything else, also unknown types, is text as Postgres prints it.
 */
export function makePool(options: PoolOptions): pg.Pool {
  const { url, variable = 'DATABASE_URL', max, applicationName, onError } = options
  const { statementTimeoutMs = 30_000 } = options
  const pool = new pg.Pool({
    ...sessionConfig({ url, variable }, 'database'),
    max,
    application_name: applicationName ?? 'rollcall',
    statement_timeout: statementTimeoutMs,
    // After that no answer comes any more: the connection passes nothing on.
    query_timeout: statementTimeoutMs + 15_000,
    idle_in_transaction_session_timeout: 60_000,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  })
  const role = roleOf({ url, variable })
  ROLES.set(pool, role)
  pool.on('error', onError)
  pool.on('connect', (client) => {
    ROLES.set(client, role)
    // For connections that are in use: the query under way fails, and that is enough.
    client.on('error', onError)
  })
  const busy = new Set<pg.PoolClient>()
  pool.on('acquire', (client) => busy.add(client))
  pool.on('release', (_, client) => busy.delete(client))
  BUSY.set(pool, busy)
  return pool
}

const ROLES = new WeakMap<object, string>()

/** As `roleOf` has it, of a pool or of a connection from one. */
export function roleBehind(client: Client): string {
  return ROLES.get(client) ?? 'the role'
}

const KNOCK_MS = 5000

/**
 * Connects once and lets go: whether the server is up and lets us in. Rejects as pg does; `stop` ends it at once,
 * also while a server that has taken the connection says nothing.
 */
export async function knock(url: string, stop: AbortSignal): Promise<void> {
  const socket = new Socket()
  const cut = () => socket.destroy()
  stop.addEventListener('abort', cut, { once: true })
  try {
    const client = await connectOne(databaseAt(url), {
      application_name: 'rollcall',
      connectionTimeoutMillis: KNOCK_MS,
      stream: () => socket,
    })
    await client.end()
  } finally {
    stop.removeEventListener('abort', cut)
  }
}

const BUSY = new WeakMap<pg.Pool, ReadonlySet<pg.PoolClient>>()

/** Ends a pool. A query that still runs after the grace (it waits for a lock) is cut off. */
export async function endPool(pool: pg.Pool, graceMs: number): Promise<void> {
  const ended = pool.end()
  const timer = setTimeout(() => BUSY.get(pool)?.forEach((client) => void client.end()), graceMs)
  await ended
  clearTimeout(timer)
}

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't', // bool
  21: Number, // int2
  23: Number, // int4
  114: (text) => JSON.parse(text), // json
  700: Number, // float4
  701: Number, // float8
  3802: (text) => JSON.parse(text), // jsonb
}

function parserOf(oid: number): (text: string) => unknown {
  return PARSERS[oid] ?? ((text) => text)
}
