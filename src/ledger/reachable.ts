// Turns the troubles with a database that an operator can do something about into errors that say what.
import pg from 'pg'
import { type ErrorCode, RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'

/** The server is starting, stopping or has no room. */
const NO_SERVICE = /^(57P0[123]|53300)$/
/** Login refused, no such database, no right: Postgres' sentence names objects and roles only. */
const REFUSED = /^(28|3D|42501)/
/** A server that cannot be written to, and a pooler that does not take what a session begins with. */
const UNFIT: Readonly<Record<string, ErrorCode>> = {
  25006: 'DATABASE_STANDBY',
  '08P01': 'SESSION_UNFIT',
}
const CONNECTION = /^E(CONNREFUSED|NOTFOUND|TIMEDOUT|CONNRESET|AI_AGAIN|HOSTUNREACH|NETUNREACH|PIPE)$/
/** Codes of OpenSSL and of Node's own check of certificates; they tell what is wrong, and no value. */
const TLS_CODES =
  /^(CERT_|CRL_|DEPTH_ZERO_|EPROTO$|ERROR_IN_|ERR_SSL_|ERR_TLS_|HOSTNAME_MISMATCH$|INVALID_CA$|SELF_SIGNED_|UNABLE_TO_)/
/** pg's words where the server offers no TLS or breaks it off. */
const TLS_WORDS =
  /^(The server does not support SSL connections|There was an error establishing an SSL connection)$/
/** The messages of pg, without any code, for a connection that took too long or broke. */
const PG_WORDS =
  /^(timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated.*|Client has encountered a connection error.*)$/

/** The words of pg where the server asks for a password that the address does not have. */
const NO_PASSWORD = /client password must be/

type Options = {
  /** The error for a server that is away; default: DATABASE_DOWN. */
  readonly down?: ErrorCode
  /** The role that is refused; see `roleOf`. */
  readonly role?: string
}

export async function reachable<T>(action: () => Promise<T>, options: Options = {}): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw databaseError(error, options) ?? error
  }
}

export function databaseError(
  error: unknown,
  { down = 'DATABASE_DOWN', role }: Options = {},
): RollcallError | null {
  if (error instanceof RollcallError || !(error instanceof Error)) return null
  // Node bundles the refusals of several addresses of one host.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error
  const code = nameOf(inner).code ?? ''
  const failure = (as: ErrorCode, what: string) =>
    new RollcallError(as, [role === undefined ? what : `${role}: ${what}`], { cause: error })
  if (inner instanceof pg.DatabaseError) {
    if (NO_SERVICE.test(code)) return failure(down, inner.message)
    const refusal = REFUSED.test(code) ? 'DATABASE_REFUSED' : (UNFIT[code] ?? unfitStart(inner, code))
    return refusal ? failure(refusal, inner.message) : null
  }
  const tls = tlsProblem(inner)
  if (tls) return failure('TLS_FAILED', tls)
  if (NO_PASSWORD.test(error.message)) return failure('DATABASE_REFUSED', 'the address has no password')
  if (CONNECTION.test(code)) return failure(down, [...serverOf(inner), code].join(': '))
  return PG_WORDS.test(error.message) ? failure(down, error.message) : null
}

/** A setting that the address passes on, and that the server does not know or take. */
function unfitStart({ severity }: pg.DatabaseError, code: string): ErrorCode | undefined {
  return severity === 'FATAL' && /^(22|42|55P02$|58P01$)/.test(code) ? 'SESSION_UNFIT' : undefined
}

/** In words without values, why no encrypted connection came about; undefined for every other error. */
export function tlsProblem(error: unknown): string | undefined {
  const { code = '' } = nameOf(error)
  if (TLS_CODES.test(code)) return code
  return error instanceof Error && TLS_WORDS.test(error.message) ? error.message : undefined
}

/** Node says where it could not connect to, or which name it could not resolve. */
function serverOf(error: unknown): string[] {
  const { address, port, hostname } = error as { address?: string; port?: number; hostname?: string }
  if (hostname) return [hostname]
  if (!address) return []
  return [port === undefined ? address : `${address.includes(':') ? `[${address}]` : address}:${port}`]
}
