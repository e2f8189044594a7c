// The one row of `rollcall.pace` as the pure decisions see it, read under its lock and written back.
import type { ClientBase, Pool } from 'pg'
import * as z from 'zod'
import { retried } from '../database/batch.ts'
import { type Client, oneRow } from '../database/client.ts'
import { ms } from '../database/sql.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Breaker, TroubleTally } from './breaker.ts'
import type { Changed, CommonPace } from './common.ts'

/** With the lease of the probe that is under way, as text. */
type Row = Pick<CommonPace, 'ceiling' | 'rate' | 'raisedAt' | 'epoch' | 'notBefore'> &
  Pick<Breaker, 'state' | 'openedAt' | 'probeAt'> & {
    readonly trouble: unknown
    readonly lease: string | null
    readonly now: number
  }

/** Microseconds since 1970: a lease is known by it. */
export const LEASE = `(extract(epoch FROM probe_until) * 1000000)::bigint::text`

const READ = `
SELECT ceiling, rate, ${ms('raised_at')} AS "raisedAt", epoch::float8 AS epoch, ${ms('not_before')} AS "notBefore",
  breaker AS state, ${ms('opened_at')} AS "openedAt", ${ms('probe_at')} AS "probeAt", trouble,
  ${LEASE} AS lease, ${ms('clock_timestamp()')} AS now
FROM rollcall.pace WHERE id = 1 FOR UPDATE`

const WRITE = `
UPDATE rollcall.pace SET rate = $1, raised_at = to_timestamp($2::float8 / 1000), epoch = $3::float8::bigint,
  not_before = to_timestamp($4::float8 / 1000), breaker = $5, opened_at = to_timestamp($6::float8 / 1000),
  probe_at = to_timestamp($7::float8 / 1000), trouble = $8::jsonb,
  probe_until = CASE WHEN $9 THEN NULL ELSE probe_until END
WHERE id = 1`

/** A value of an unknown form is worth nothing, and must not stop any process. */
const id = z.string().regex(/^\d{1,19}$/)
const tally = z.record(id, z.int().positive()).catch({})
const times = z.record(id, z.number()).catch({})
const count = z.int().nonnegative().catch(0)
const TROUBLE = z
  .object({
    troubles: tally,
    forgiven: tally,
    successes: count,
    failed: count,
    from: count,
    busy: times,
    held: times,
  })
  .catch(() => ({ troubles: {}, forgiven: {}, successes: 0, failed: 0, from: 0, busy: {}, held: {} }))

type Troubled = Pick<CommonPace, 'breaker' | 'busy' | 'held'>

export function readTrouble(row: Pick<Row, 'state' | 'openedAt' | 'probeAt' | 'trouble'>): Troubled {
  const { state, openedAt, probeAt, trouble } = row
  const { busy, held, ...counts } = TROUBLE.parse(trouble)
  return { breaker: { state, openedAt, probeAt, ...counts }, busy, held }
}

/** Nothing that is empty or 0, so that SQL can ask what there is; see row.ts. */
export function writeTrouble({ breaker, busy, held }: Troubled): Record<string, unknown> {
  const { troubles, forgiven, successes, failed, from } = breaker
  return Object.fromEntries(
    Object.entries({ troubles, forgiven, successes, failed, from, busy, held }).filter(([, part]) =>
      typeof part === 'object' ? Object.keys(part).length > 0 : part !== 0,
    ),
  )
}

type StoredPace = { readonly pace: CommonPace; readonly now: number; readonly lease: string | null }
/** `ended`: the probe that is under way, if any, is over. */
type PaceChange = Pick<Changed, 'pace'> & Partial<Changed> & { readonly ended?: boolean }

/** The process was suspended in between: the server has ended the transaction. */
const SUSPENDED = ['25P03']

/**
 * Reads the row, locks it, and writes what the decision makes of it; attempts go back in the same transaction, so that
 * no crash can come between. A decision that changes nothing returns what it got, and nothing is written.
 */
export async function changePace(
  pool: Pool,
  decide: (found: StoredPace) => PaceChange,
): Promise<{ readonly before: CommonPace; readonly after: CommonPace; readonly now: number }> {
  const change = async (client: ClientBase) => {
    const found = await readLocked(client)
    const { pace: after, giveBack = {}, ended = false } = decide(found)
    const { pace: before, now } = found
    if (after !== before || ended) await write(client, after, ended)
    await giveBackAttempts(client, giveBack)
    return { before, after, now }
  }
  return await retried(() => inTransaction(pool, 0, change), SUSPENDED)
}

async function readLocked(client: ClientBase): Promise<StoredPace> {
  const row = await oneRow<Row>(client, READ)
  const { ceiling, rate, raisedAt, epoch, notBefore, now, lease } = row
  return { pace: { ceiling, rate, raisedAt, epoch, notBefore, ...readTrouble(row) }, now, lease }
}

async function write(client: ClientBase, pace: CommonPace, ended: boolean): Promise<void> {
  const { breaker } = pace
  await client.query(WRITE, [
    pace.rate,
    pace.raisedAt,
    pace.epoch,
    pace.notBefore,
    breaker.state,
    breaker.openedAt,
    breaker.probeAt,
    writeTrouble(pace),
    ended,
  ])
}

/**
 * A waiting customer has fewer attempts behind it. It is due as soon as `not_before` allows, which protects a request
 * that may still arrive. Settled customers and those under way are left alone. Locked in key order, as everywhere.
 */
const GIVE_BACK = `
WITH lost AS (SELECT key::bigint AS id, value::int AS calls FROM jsonb_each_text($1::jsonb)),
locked AS MATERIALIZED (
  SELECT o.id, lost.calls FROM rollcall.owed o JOIN lost USING (id)
  WHERE o.token IS NULL AND o.due_at IS NOT NULL ORDER BY o.key FOR UPDATE OF o)
UPDATE rollcall.owed o SET attempts = greatest(0, o.attempts - locked.calls),
  due_at = least(o.due_at, greatest(now(), o.not_before))
FROM locked WHERE o.id = locked.id AND o.token IS NULL AND o.due_at IS NOT NULL`

async function giveBackAttempts(client: Client, lost: TroubleTally): Promise<void> {
  if (Object.keys(lost).length > 0) await client.query(GIVE_BACK, [lost])
}
