// One call that asks nothing of the service but an answer: a GET of a user who is known to be good.
import type { Pool } from 'pg'
import type { CallEntry } from '../ledger/calls.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Sign } from '../pace/pace.ts'
import type { UsersClient } from '../service/client.ts'
import { callService } from '../sync/call.ts'
import { classifyRead } from '../sync/classify.ts'
import { signOf } from '../sync/sign.ts'

type Options = {
  readonly pool: Pool
  readonly users: UsersClient
  /** Breaks the call off. */
  readonly signal: AbortSignal
  /** Takes the call down. */
  readonly log: (entry: CallEntry) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

type Known = { readonly key: CustomerKey; readonly userId: string }

/** Somebody for whom all is right; else anybody; where no user is known at all, a name that nobody has. */
const KNOWN_USER = `
SELECT key, user_id AS "userId" FROM (
  (SELECT key, user_id, 0 AS doubt FROM rollcall.ledger
    WHERE remote = 'present' AND state = 'idle' AND user_id IS NOT NULL LIMIT 1)
  UNION ALL
  (SELECT key, user_id, 1 FROM rollcall.ledger WHERE user_id IS NOT NULL LIMIT 1)) u
ORDER BY doubt LIMIT 1`
const NOBODY = 'rollcall-probe'

/** Outside the pace, since it is made while nobody else calls. Null: it was broken off. */
export function makeProbe({ pool, users, signal, log, now }: Options): () => Promise<Sign | null> {
  return async () => {
    const { rows } = await pool.query<Known>(KNOWN_USER)
    const known = rows[0]
    const call = { method: 'GET' } as const
    const called = await callService(users, { call, userId: known?.userId ?? NOBODY, signal })
    const { outcome, shape, durationMs } = called
    const meaning = classifyRead(outcome)
    const answer =
      outcome.kind === 'reply'
        ? { status: outcome.status, error: null, body: outcome.body }
        : { status: null, error: outcome.error, body: null }
    const what = { plan: 'probe', method: 'GET', meaning, ms: durationMs, fields: [], shape }
    if (known) log({ key: known.key, atMs: now(), ...what, ...answer })
    const brokenOff = outcome.kind === 'error' && outcome.error === 'aborted'
    return brokenOff ? null : signOf(outcome, meaning)
  }
}
