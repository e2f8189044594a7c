// Turns the troubles with a database that an operator can do something about into errors that say what.
import pg from 'pg'
import { type ErrorCode, RollcallError } from '../model/errors.ts'

/** The server is starting, stopping or has no room. */
const NO_SERVICE = /^(57P0[123]|53300)$/
/** Login refused, no such database, no right: Postgres' sentence names objects and roles only. */
const REFUSED = /^(28|3D|42501)/
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'ETIMEDOUT',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
])
/** What pg says, without any code, when a connection took too long or broke. */
const PG_WORDS = /^(timeout exceeded when trying to connect|timeout expired|Connection terminated.*)$/

/** Runs `work`; other errors than those pass as they are. `down` is the error for a server that is away. */
export async function reachable<T>(work: () => Promise<T>, down: ErrorCode = 'DATABASE_DOWN'): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw databaseError(error, down) ?? error
  }
}

export function databaseError(error: unknown, down: ErrorCode = 'DATABASE_DOWN'): RollcallError | null {
  if (error instanceof RollcallError || !(error instanceof Error)) return null
  // Node bundles the refusals of several addresses of one host.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error
  const code = codeOf(inner)
  if (inner instanceof pg.DatabaseError) {
    if (NO_SERVICE.test(code)) return new RollcallError(down, [inner.message], { cause: error })
    return REFUSED.test(code)
      ? new RollcallError('DATABASE_REFUSED', [inner.message], { cause: error })
      : null
  }
  if (CONNECTION_CODES.has(code)) return new RollcallError(down, [code], { cause: error })
  return PG_WORDS.test(error.message) ? new RollcallError(down, [error.message], { cause: error }) : null
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : ''
}
