import { Socket } from 'node:net'
import pg from 'pg'

export type PoolOptions = {
  readonly url: string
  /** Connections at most. */
  readonly max: number
  readonly applicationName?: string
  /** No statement of the worker takes long; a lock that somebody holds must not hold the worker for ever. */
  readonly statementTimeoutMs?: number
  /** Connections that break while idle. The pool replaces them; without a listener the process would end. */
  readonly onError: (error: Error) => void
}

/**
 * Sessions that print every value in one form, whatever the server's or the role's settings are, and read
 * types without loss: `date` as local midnight would shift a birthday by a day in Madrid, and int8 and numeric
 * do not fit a number. Integers of up to 32 bits and floats are numbers, booleans booleans, json is parsed, and
 * everything else (also types that this file has not heard of) is text as Postgres prints it.
 */
export function makePool({
  url,
  max,
  applicationName,
  statementTimeoutMs = 30_000,
  onError,
}: PoolOptions): pg.Pool {
  const { connectionString, options } = withOptions(url)
  const pool = new pg.Pool({
    connectionString,
    options,
    max,
    application_name: applicationName ?? 'rollcall',
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  })
  pool.on('error', onError)
  // The same for connections that somebody has in hand: the query under way fails, and that is enough.
  pool.on('connect', (client) => client.on('error', onError))
  const busy = new Set<pg.PoolClient>()
  pool.on('acquire', (client) => busy.add(client))
  pool.on('release', (_, client) => busy.delete(client))
  BUSY.set(pool, busy)
  return pool
}

const KNOCK_MS = 5000

/**
 * Connects once and lets go: whether the server is up and lets us in. Rejects as pg does; `stop` ends it at once,
 * also while a server that has taken the connection says nothing.
 */
export async function knock(url: string, stop: AbortSignal): Promise<void> {
  const socket = new Socket()
  const { connectionString } = withOptions(url)
  const client = new pg.Client({
    connectionString,
    application_name: 'rollcall',
    connectionTimeoutMillis: KNOCK_MS,
    stream: () => socket,
  })
  client.on('error', () => undefined) // what breaks the connection rejects here
  const cut = () => socket.destroy()
  stop.addEventListener('abort', cut, { once: true })
  try {
    await client.connect()
  } finally {
    stop.removeEventListener('abort', cut)
    await client.end().catch(() => undefined)
  }
}

/** The connections of each pool that somebody has in hand. */
const BUSY = new WeakMap<pg.Pool, ReadonlySet<pg.PoolClient>>()

/** Ends a pool. What still runs after the grace (a query that waits for a lock) is cut off and not waited for. */
export async function endPool(pool: pg.Pool, graceMs: number): Promise<void> {
  const ended = pool.end()
  const cut = () => {
    for (const client of BUSY.get(pool) ?? []) void client.end()
  }
  const timer = setTimeout(cut, graceMs)
  await ended
  clearTimeout(timer)
}

/** As options of the connection they hold from its first statement on and cost no round trip. */
const SETTINGS = [
  'timezone=UTC',
  'datestyle=ISO',
  'intervalstyle=postgres',
  'extra_float_digits=1',
  'bytea_output=hex',
  // The protocol's statements look at what is committed now, whatever the database's default is, and a claim
  // that was answered must survive a crash of the server.
  'default_transaction_isolation=read\\ committed',
  'synchronous_commit=on',
]

/** pg lets the address' own `options` replace ours, so they are taken out of it and put before ours. */
function withOptions(url: string): { connectionString: string; options: string } {
  const ours = SETTINGS.map((setting) => `-c ${setting}`).join(' ')
  const address = URL.canParse(url) ? new URL(url) : undefined
  const theirs = address?.searchParams.get('options')
  if (!address || !theirs) return { connectionString: url, options: ours }
  address.searchParams.delete('options')
  return { connectionString: address.href, options: `${theirs} ${ours}` }
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
