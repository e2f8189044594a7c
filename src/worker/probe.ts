// One call that asks nothing of the service but an answer: a GET of a user who is known to be good.
import type { Pool } from 'pg'
import type { CallEntry } from '../ledger/calls.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { ProbeService } from '../pace/probing.ts'
import type { UsersClient } from '../service/users.ts'
import { callEntry, getUser } from '../sync/call.ts'
import { healthOf } from '../sync/classify.ts'

type Options = {
  readonly pool: Pool
  readonly users: UsersClient
  readonly signal: AbortSignal
  readonly log: (entry: CallEntry) => void
  readonly random?: () => number
}

type Known = { readonly key: CustomerKey; readonly userId: string; readonly good: boolean }

/**
 * Another one each time, since what is wrong may be that one user: one whose customer is up to date and whose calls are
 * not among those that failed or were denied; else any.
 */
const KNOWN_USER = `
WITH middle AS (SELECT (random() * max(id))::bigint AS id FROM rollcall.owed),
failed AS MATERIALIZED (
  SELECT jsonb_object_keys(trouble->'forgiven') AS id FROM rollcall.pace WHERE jsonb_typeof(trouble->'forgiven') = 'object'
  UNION ALL SELECT unnest($1::text[])),
known AS NOT MATERIALIZED (
  SELECT o.id, l.key, l.user_id, l.remote = 'present' AND l.state = 'idle'
    AND o.id::text NOT IN (SELECT id FROM failed) AS good
  FROM rollcall.owed o JOIN rollcall.ledger l USING (key) WHERE l.user_id IS NOT NULL)
SELECT key, user_id AS "userId", good FROM (
  (SELECT * FROM known WHERE good AND id >= (SELECT id FROM middle) ORDER BY id LIMIT 1) UNION ALL
  (SELECT * FROM known WHERE good AND id < (SELECT id FROM middle) ORDER BY id LIMIT 1) UNION ALL
  (SELECT * FROM known WHERE id >= (SELECT id FROM middle) ORDER BY id LIMIT 1)) u
ORDER BY good DESC LIMIT 1`

/** A service that takes our keys says that there is no such user. */
const NONE = 'rollcall-probe'

/** Outside the pace, since it is made while no other call is. Null: it was broken off. */
export function makeProbe({ pool, users, signal, log, random = Math.random }: Options): ProbeService {
  return async (denied) => {
    const { rows } = await pool.query<Known>(KNOWN_USER, [denied])
    // Where no user is known to be up to date, the one that is asked for may be what is wrong.
    const known = rows[0]?.good || random() < 0.5 ? rows[0] : undefined
    const called = await getUser(users, { userId: known?.userId ?? NONE, signal })
    const { outcome } = called
    if (known) log(callEntry({ key: known.key, plan: 'probe', called }))
    const brokenOff = outcome.kind === 'error' && outcome.error === 'aborted'
    return brokenOff ? null : healthOf(called)
  }
}
