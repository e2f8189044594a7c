import type { Client } from '../database/client.ts'
import { iso } from '../database/sql.ts'
import type { CustomerKey } from '../model/customer.ts'

/** One distinct answer of the service; times as ISO text in UTC. */
export type DistinctAnswer = {
  /** As the log of calls has it. */
  readonly fingerprint: string
  readonly method: string
  /** Null when there was no answer; then `error` says why. Both are null where answers are counted together. */
  readonly status: number | null
  readonly error: string | null
  /** Kind of the body, and its shape where it is JSON; see OTHERS in calls.ts. */
  readonly body: string | null
  readonly shape: string | null
  readonly meaning: string
  readonly count: number
  readonly firstAt: string
  readonly lastAt: string
  /** The customer who was answered so last. */
  readonly lastKey: CustomerKey
}

/** By method and status, as a contract is read; in each the most frequent first. */
const ANSWERS = `
SELECT fingerprint, method, status, error, body, shape, meaning, count::float8 AS count,
  ${iso('first_at')} AS "firstAt", ${iso('last_at')} AS "lastAt", last_key AS "lastKey"
FROM rollcall.answer a
ORDER BY array_position('{POST,GET,PUT,PATCH}', method), method, status, error, a.count DESC, fingerprint`

export async function readAnswers(client: Client): Promise<readonly DistinctAnswer[]> {
  return (await client.query<DistinctAnswer>(ANSWERS)).rows
}

/** Locked in the order in which the writers take them. */
const FORGET = `
DELETE FROM rollcall.answer WHERE fingerprint IN (
  SELECT fingerprint FROM rollcall.answer ORDER BY fingerprint COLLATE "C" FOR UPDATE)`

/** Empties the table; resolves to how many there were. The log of calls stays. */
export async function forgetAnswers(client: Client): Promise<number> {
  return (await client.query(FORGET)).rowCount ?? 0
}
