// A person waits at the terminal: what Postgres does not answer in time is given up and named.
import { once } from 'node:events'
import pg from 'pg'
import { LOCK_NOT_AVAILABLE } from '../database/transaction.ts'
import { RollcallError } from '../model/errors.ts'

/** For one query, and for one permit of the common pace: perhaps a customer is on the phone. */
export const PATIENCE_MS = 10_000

/** Ended by a timeout of the session: 57014 is also a cancel by a person. */
export function isTimeout(code: string | undefined): boolean {
  return code === '57014' || code === LOCK_NOT_AVAILABLE
}

export function isGivenUp(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && isTimeout(error.code)
}

export async function inTime<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isGivenUp(error)) throw error
    const sentence = `${what}: no answer within ten seconds`
    throw new RollcallError('TABLE_LOCKED', [sentence], { cause: error })
  }
}

/** Rejects when the signal is aborted: to be raced with what heeds no signal. */
export async function aborting(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}
