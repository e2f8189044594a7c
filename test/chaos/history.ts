// All that is known of one customer, in the order in which it happened.
import type { Ground } from './ground.ts'
import type { Work } from './log.ts'
import type { Arrival } from './service.ts'

type Sources = {
  readonly ground: Ground
  readonly log: readonly Work[]
  readonly arrivals: readonly Arrival[]
  readonly from: number
}

type Line = { readonly at: number; readonly text: string }

/** With field values: they are the test's own. */
export async function historyOf(key: string, { ground, log, arrivals, from }: Sources): Promise<string> {
  const { pool } = ground
  const { rows: calls } = await pool.query<Line>(
    `SELECT (extract(epoch FROM at) * 1000)::float8 AS at,
       format('  %s %s %s -> %s, %s ms (by %s)', plan, method, coalesce(status::text, error), meaning, ms, by) AS text
     FROM rollcall.call WHERE key = $1`,
    [key],
  )
  const { rows: record } = await pool.query<{ text: string }>(
    `SELECT to_jsonb(l)::text AS text FROM rollcall.ledger l WHERE key = $1
     UNION ALL SELECT to_jsonb(o)::text FROM rollcall.owed o WHERE key = $1
     UNION ALL SELECT to_jsonb(c)::text FROM clientes c WHERE id = $1`,
    [key],
  )
  const lines = [
    ...calls,
    ...log
      .filter((work) => work.key === key)
      .map(({ at, before, after }) => ({ at, text: changed(before, after) })),
    ...arrivals
      .filter(({ userId }) => userId === key)
      .map((arrival) => ({ at: arrival.arrivedAt, text: arrived(arrival) })),
  ]
  const told = lines
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, text }) => `${((at - from) / 1000).toFixed(3).padStart(9)} ${text}`)
  return [`--- ${key}`, ...told, ...record.map(({ text }) => text)].join('\n')
}

function arrived({ number, method, raw, status, answeredAt, arrivedAt, carriedOut, note }: Arrival): string {
  const took = answeredAt === null ? '' : ` after ${answeredAt - arrivedAt} ms`
  return `=> ${number} ${method} ${raw} <= ${status ?? 'no status'}${took}${carriedOut ? ' [carried out]' : ''} ${note}`
}

/** Only what is different. */
function changed(before: Work['before'], after: Work['after']): string {
  const names = Object.keys(after) as (keyof Work['after'])[]
  const differing = names.filter((name) => before?.[name] !== after[name])
  return `     ${differing.map((name) => `${name}=${after[name]}`).join(' ')}`
}
