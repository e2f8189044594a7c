// Findings for a report: those of one run, and what the rounds of the workers know without a call.
import type { ClientBase } from 'pg'
import { OPEN_RELEASE } from '../ledger/released.ts'
import { iso } from '../ledger/sql.ts'
import { readHeldAccess } from './held.ts'
import { EMPTY_TALLY, plus, tallyOf } from './tally.ts'
import { SEEN_AT, TOLD } from './verifiable.ts'
import type { DriftTally, Finding, Skipped } from './words.ts'

type Client = Pick<ClientBase, 'query'>

const COLUMNS = `f.id::text, f.key, f.user_id AS "userId", f.kind, to_jsonb(f.fields) AS fields, f.cause, f.access, f.looks, f.repairs,
  ${iso('f.first_seen')} AS "firstSeen", ${iso('f.last_seen')} AS "lastSeen",
  ${iso('f.resolved_at')} AS "resolvedAt", f.resolved_how AS "resolvedHow"`

/** Somebody who is shut out first, then the most serious kinds, then by key. */
const ORDER = `array_position(ARRAY['lost', 'undue'], f.access) NULLS LAST, array_position(ARRAY['unexpected-access', 'missing', 'differs', 'unreadable', 'trial-ended'], f.kind), f.key`

/** Those of these ids that are still kept. */
export async function readFound(client: Client, ids: readonly string[]): Promise<readonly Finding[]> {
  const { rows } = await client.query<Finding>(
    `SELECT ${COLUMNS} FROM rollcall.finding f WHERE f.id = ANY($1::bigint[]) ORDER BY ${ORDER}`,
    [ids],
  )
  return rows
}

/** Of a finding (`f`): it counts in a report. Of the access of whoever is held a trial that ended says nothing. */
const COUNTS = `${TOLD} AND NOT (f.kind = 'trial-ended'
  AND EXISTS (SELECT FROM rollcall.ledger h WHERE h.key = f.key AND h.state = 'held'))`

/** All that are confirmed and open, and can be believed. */
export async function readOpenFound(client: Client): Promise<readonly Finding[]> {
  const { rows } = await client.query<Finding>(
    `SELECT ${COLUMNS} FROM rollcall.finding f WHERE ${COUNTS} ORDER BY ${ORDER}`,
  )
  return rows
}

/**
 * What is said of each one; the findings come first. Who was never registered and is owed a sync waits for that, and any
 * other such record came with a change of somebody out of scope. What nobody believes is as if nobody had looked.
 */
const SAID = `CASE WHEN f.told THEN 'found' WHEN l.state = 'held' AND ${OPEN_RELEASE} THEN 'owed' WHEN l.state IN ('rejected', 'held', 'discarded') THEN l.state
  WHEN f.suspected THEN 'suspected' WHEN NOT f.told THEN 'unlooked'
  WHEN l.remote = 'unasked' THEN CASE WHEN l.state = 'failing' OR EXISTS (SELECT FROM rollcall.owed o
    WHERE o.key = l.key AND (o.due_at IS NOT NULL OR o.unknown)) THEN 'owed' ELSE 'not-ours' END
  WHEN ${SEEN_AT} IS NULL OR ${SEEN_AT} < now() - $1::float8 * interval '1 ms' THEN 'unlooked'
  ELSE 'agrees' END`

const KNOWN = `
SELECT ${SAID} AS said, count(*)::float8 AS count
FROM rollcall.ledger l FULL JOIN (
  SELECT f.key, (${COUNTS}) AS told, f.looks = 1 AS suspected
  FROM rollcall.finding f WHERE f.resolved_at IS NULL) f USING (key)
GROUP BY said`

type KnownOfAll = {
  /** Customers with a record, and who was found without one. */
  readonly population: number
  /** Of them, those of whom a look can say something. */
  readonly chosen: number
  readonly tally: DriftTally
  readonly suspected: number
}

/**
 * What the rounds have found out, counted as a run would count it: whoever was looked at within the period counts as
 * checked, with what is open of it; not who is suspected, or was found by answers that cannot be believed. Null for the
 * period: whenever that was. Each stands in one place, so that the figures add up to the population.
 */
export async function readKnownOfAll(
  client: Client,
  findings: readonly Finding[],
  periodMs: number | null,
): Promise<KnownOfAll> {
  type Said = Skipped | 'found' | 'suspected' | 'unlooked' | 'agrees'
  const { rows } = await client.query<{ said: Said; count: number }>(KNOWN, [periodMs])
  const { found: _, ...said } = Object.fromEntries(rows.map(({ said, count }) => [said, count]))
  const { agrees = 0, suspected = 0, unlooked = 0, ...skipped }: Partial<Record<Said, number>> = said
  const checked = agrees + findings.length
  const chosen = checked + suspected + unlooked
  const population = chosen + Object.values(skipped).reduce((sum, count) => sum + count, 0)
  const heldAccess = await readHeldAccess(client)
  const told = plus(tallyOf(findings), { ...EMPTY_TALLY, access: heldAccess, heldAccess })
  return { population, chosen, suspected, tally: { ...told, checked, agrees, skipped } }
}
