// Whether the service is credible where it says that users are not there, or answers what cannot be read. Such a mass is far
// likelier about the service than about each of its users: so a sample of them is asked before it is confirmed of any, and
// that sample alone decides. See docs/decisions/2026-11-23-checks.md.
import type { DecidedBy } from '../brake/held.ts'
import { type Client, oneRow } from '../database/client.ts'
import { ms } from '../database/sql.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Snapshot, SnapshotReading } from '../sync/snapshot.ts'
import { type GetUsers, readCandidates } from './get-users.ts'
import { SAMPLED, SAMPLED_AT } from './open-findings.ts'
import { wasRegistered } from './tally.ts'
import { CHECKABLE, type DriftKind, type DriftVerdict, type Skipped, type Stopped } from './words.ts'

const STRANGE_KINDS: readonly DriftKind[] = ['missing', 'unreadable']

/** Confirmed only where a sample speaks for the service. A user who was never registered is rightly not there. */
export function isStrange({ kind, cause }: Pick<DriftVerdict, 'kind' | 'cause'>): boolean {
  return STRANGE_KINDS.includes(kind) && (kind !== 'missing' || wasRegistered(cause))
}

/** Answers about users at random, of those who were there when they were last heard of. */
export type Sample = {
  /** With a clear answer, and those of them who are not there, or whose answer cannot be read. */
  readonly asked: number
  readonly strange: number
  /** Users who were to be asked, and who would have been but for a change that is on its way. */
  readonly wanted: number
}

export type Evidence = Sample & {
  /** A person has approved within a day that it is meant. */
  readonly meant: boolean
  readonly ageMs: number
}

/** So few answers say nothing of the service as a whole. */
const ENOUGH = 5

/**
 * One user who is not there says nothing of the others. At a service that has lost 65 % of its users, a sample of
 * thirty looks well five times in a thousand. At one that has lost 25 %, it looks ill twenty times in a thousand.
 */
export function isTooStrange({ asked, strange }: Pick<Sample, 'asked' | 'strange'>): boolean {
  return strange > 1 && strange * 5 > asked * 2
}

export function isNotCredible({ asked, strange, wanted, meant }: Evidence): boolean {
  return !meant && (asked < Math.min(ENOUGH, wanted) || isTooStrange({ asked, strange }))
}

const EVIDENCE = `
SELECT (sample->>'asked')::float8 AS asked, (sample->>'strange')::float8 AS strange, (sample->>'wanted')::float8 AS wanted,
  ${ms('clock_timestamp() - sampled_at')} AS "ageMs",
  EXISTS (SELECT FROM rollcall.decision d WHERE d.action = 'credible' AND d.at > now() - interval '1 day'
    AND d.at > (SELECT max(bound_at) FROM rollcall.target)) AS meant
FROM rollcall.pace WHERE sampled_at = ${SAMPLED_AT}`

export async function readEvidence(client: Client): Promise<Evidence | null> {
  return (await client.query<Evidence>(EVIDENCE)).rows[0] ?? null
}

const SUSPECTED = `
SELECT count(*)::int AS suspected, count(*) FILTER (WHERE NOT ${SAMPLED})::int AS unsampled
FROM rollcall.finding f WHERE f.key = ANY ($1) AND f.resolved_at IS NULL AND f.kind = ANY ($2)`

/** A sample that is not credible is repeated, so that checks go on once the service is. */
const AGAIN_MS = 60_000

/** Before these are checked: a suspicion is newer than the last sample, or that was bad and is a minute old. */
export async function isSampleDue(client: Client, keys: readonly CustomerKey[]): Promise<boolean> {
  type Suspected = { readonly suspected: number; readonly unsampled: number }
  const { suspected, unsampled } = await oneRow<Suspected>(client, SUSPECTED, [keys, STRANGE_KINDS])
  if (unsampled > 0) return true
  const evidence = await readEvidence(client)
  if (evidence === null || evidence.ageMs < AGAIN_MS) return false
  return isNotCredible(evidence) && (suspected > 0 || isTooStrange(evidence))
}

const DRAW = `
SELECT extract(epoch FROM clock_timestamp())::float8 AS at, to_jsonb(ARRAY(SELECT l.key FROM rollcall.ledger l
  WHERE ${CHECKABLE} AND l.remote = 'present' ORDER BY random() LIMIT $1)) AS keys`

/** Suspected customers included: without them it would be a sample of the others. `at`: by the database's clock, in seconds since 1970. */
export async function drawSample(client: Client, most: number) {
  return await oneRow<{ at: number; keys: readonly CustomerKey[] }>(client, DRAW, [most])
}

export async function writeSample(client: Client, at: number, sample: Sample): Promise<void> {
  const values = [at, JSON.stringify(sample)]
  await client.query('UPDATE rollcall.pace SET sampled_at = to_timestamp($1), sample = $2', values)
}

/** A person approves that users who are not there are meant. */
export async function setCredible(client: Client, { by, why }: DecidedBy): Promise<void> {
  await client.query(`INSERT INTO rollcall.decision (action, by, why) VALUES ('credible', $1, $2)`, [by, why])
}

const SIZE = 30
/** Most of them may be of customers that cannot be checked. */
const MOST_DRAWN = 500

const WAITING: ReadonlySet<Skipped | null> = new Set<Skipped>(['owed', 'just-written', 'unreadable-row'])

/** Stores the answers, unless it was stopped. They say something of the service, and nothing of the customers. */
export type AskSample = (signal: AbortSignal) => Promise<Stopped | null>

export function makeSampling(reading: SnapshotReading, getUsers: GetUsers): AskSample {
  const { pool } = reading

  return async (signal) => {
    const { at, keys } = await drawSample(pool, MOST_DRAWN)
    const { snapshots, waiting } = await readSample(keys)
    const { answers, stopped } = await getUsers(snapshots, signal)
    if (stopped) return stopped
    const shown = [...answers.values()].flatMap((answer) => ('observed' in answer ? answer.observed : []))
    const strange = shown.filter((observed) => typeof observed === 'string').length
    await writeSample(pool, at, { asked: shown.length, strange, wanted: snapshots.length + waiting })
    return null
  }

  /** In the order of the keys, which is a random one; reads as few as it takes. */
  async function readSample(keys: readonly CustomerKey[]) {
    const snapshots: Snapshot[] = []
    let waiting = 0
    for (let at = 0; at < keys.length && snapshots.length < SIZE; at += SIZE) {
      const read = await readCandidates(reading, keys.slice(at, at + SIZE))
      snapshots.push(...read.flatMap(({ snapshot, skip }) => (skip === null ? snapshot : [])))
      waiting += read.filter(({ skip }) => WAITING.has(skip)).length
    }
    return { snapshots: snapshots.slice(0, SIZE), waiting }
  }
}
