import { type Client, oneRow } from '../database/client.ts'

/**
 * How far an installation has come: the time of its binding, then the token of a lease under it. They have so many
 * digits that a later watermark sorts behind an earlier one. A new binding begins anew, by an operator's decision.
 */
export type Watermark = string

const DIGITS = 19

/** @param boundAt microseconds since 1970 */
export function watermarkOf(boundAt: string, token: string): Watermark {
  return `${boundAt.padStart(DIGITS, '0')}.${token.padStart(DIGITS, '0')}`
}

export const BOUND_AT = '(extract(epoch FROM bound_at) * 1000000)::bigint::text'
const PLACE = `
SELECT ${BOUND_AT} AS "boundAt",
  coalesce(pg_catalog.pg_sequence_last_value('rollcall.token'::pg_catalog.regclass), 0)::text AS token
FROM rollcall.target`

/**
 * Takes so many tokens that no earlier state of the database passes for this one; resolves to the last of them. After a
 * crash, and in a disk snapshot that is put back, a sequence goes on behind what its last WAL record has reserved: 32
 * numbers at most (SEQ_LOG_VALS in Postgres' sequence.c).
 */
export async function leap(client: Client): Promise<string> {
  const taken = `SELECT max(nextval('rollcall.token'))::text AS token FROM generate_series(1, 40)`
  return (await oneRow<{ token: string }>(client, taken)).token
}

/** Where the database stands: its binding, and the last token that it has given. */
export async function readPlace(
  client: Client,
): Promise<{ readonly boundAt: string; readonly watermark: Watermark }> {
  const { rows } = await client.query<{ boundAt: string; token: string }>(PLACE)
  const { boundAt, token } = rows[0] ?? { boundAt: '0', token: '0' }
  return { boundAt, watermark: watermarkOf(boundAt, token) }
}
