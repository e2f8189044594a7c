import { RollcallError } from '../model/errors.ts'

/** Server is starting, stopping or has no room; connection failures of the driver have no such class. */
const DOWN = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  'ECONNREFUSED',
  'ENOTFOUND',
  'ETIMEDOUT',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
])
/** SQLSTATE classes: 28 refused login, 3D no such database, 42501 no right. */
const REFUSED = /^(28|3D|42501)/
/** pg reports a connection that took too long without any code. */
const TIMED_OUT = 'timeout exceeded when trying to connect'

/** Turns the errors that an operator can do something about into ones that say what; others pass as they are. */
export async function reachable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw databaseError(error) ?? error
  }
}

export function databaseError(error: unknown): RollcallError | null {
  if (error instanceof RollcallError || !(error instanceof Error)) return null
  // Node bundles the refusals of several addresses of one host.
  const inner = error instanceof AggregateError ? error.errors[0] : error
  const code = (inner as { code?: unknown } | undefined)?.code
  if (typeof code === 'string' && DOWN.has(code))
    return new RollcallError('DATABASE_DOWN', [code], { cause: error })
  if (typeof code === 'string' && REFUSED.test(code))
    return new RollcallError('DATABASE_REFUSED', [code], { cause: error })
  if (error.message === TIMED_OUT)
    return new RollcallError('DATABASE_DOWN', ['no connection in time'], { cause: error })
  return null
}
