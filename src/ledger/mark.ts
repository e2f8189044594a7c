import type { ClientBase } from 'pg'

/**
 * How far an installation has come: the time of its binding, then a token of a lease under it, in so many digits that a
 * later mark sorts behind an earlier one. A new binding begins anew: an operator has decided about the database.
 */
export type Mark = string

const DIGITS = 19

/** @param boundAt microseconds since 1970 */
export function markOf(boundAt: string, token: string): Mark {
  return `${boundAt.padStart(DIGITS, '0')}.${token.padStart(DIGITS, '0')}`
}

const PLACE = `
SELECT (extract(epoch FROM bound_at) * 1000000)::bigint::text AS "boundAt",
  coalesce(pg_catalog.pg_sequence_last_value('rollcall.token'::pg_catalog.regclass), 0)::text AS token
FROM rollcall.target`

/** Where the database stands: its binding, and the last token that it has given. */
export async function readPlace(
  client: Pick<ClientBase, 'query'>,
): Promise<{ readonly boundAt: string; readonly mark: Mark }> {
  const { rows } = await client.query<{ boundAt: string; token: string }>(PLACE)
  const { boundAt, token } = rows[0] ?? { boundAt: '0', token: '0' }
  return { boundAt, mark: markOf(boundAt, token) }
}
