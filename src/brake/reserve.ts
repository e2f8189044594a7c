import type { ClientBase, Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { makeBatch } from '../database/batch.ts'
import { inTransaction } from '../database/transaction.ts'
import { type Bases, baseIsOld, baseOf, countBases } from './base.ts'
import { type Brake, type BrakeKind, type BrakeRequest, type HeldKind, limitOf, ruleOf } from './brake.ts'
import { type Decision, decide, isNew, type WeighedRequest } from './decide.ts'
import { lockRows, look, makeRows, store } from './rows.ts'

/** How long to wait for the others who reserve; each does so for a moment only. */
const LOCK_TIMEOUT_MS = 2000

/**
 * Reserves before a call: who is let through is counted, in a transaction that locks the rows of the kinds. Many
 * workers would otherwise all read "one below the limit".
 *
 * Rejects where the lock cannot be had in two seconds, or Postgres is away: nothing is counted then.
 */
export function makeBrake(pool: Pool, rules: Config['brake']): Brake {
  const reserve = makeBatch<BrakeRequest, readonly HeldKind[]>((requests) =>
    reserveAll(pool, rules, requests),
  )
  return async (request) => (request.kinds.length === 0 ? [] : await reserve(request))
}

type Tried = { readonly decision: Decision } | { readonly missing: 'rows' | 'bases' }

async function reserveAll(pool: Pool, rules: Config['brake'], requests: readonly BrakeRequest[]) {
  const kinds = [...new Set(requests.flatMap((request) => request.kinds))].sort()
  let bases: Bases | null = null
  for (;;) {
    const counted = bases
    const tried = await inTransaction(pool, LOCK_TIMEOUT_MS, (client) =>
      attempt(client, { rules, requests, kinds, bases: counted }),
    )
    if ('decision' in tried) return tried.decision.answers
    if (tried.missing === 'rows') await makeRows(pool, kinds)
    else bases = await countBases(pool)
  }
}

type Attempt = {
  readonly rules: Config['brake']
  readonly requests: readonly BrakeRequest[]
  readonly kinds: readonly BrakeKind[]
  /** Counted just now, because an earlier attempt missed them. */
  readonly bases: Bases | null
}

/** The lock comes first and what is read second, in a snapshot of its own. */
async function attempt(client: ClientBase, { rules, requests, kinds, bases }: Attempt): Promise<Tried> {
  if (!(await lockRows(client, kinds))) return { missing: 'rows' }
  const found = await look(client, { windowHours: rules.windowHours, requests, kinds })
  const states = found.kinds.map(({ kind, taken, tripped, expected, base }) => {
    const known = bases ? baseOf(kind, bases) : base
    return { kind, taken, tripped, expected, limit: limitOf(ruleOf(kind, rules), known) }
  })
  const old = found.kinds.some((row) => baseIsOld(row, freshOf(row.kind, found.asked), rules))
  const decision = decide({ kinds: states, asked: found.asked, truncated: found.truncated })
  // Nobody is made to wait for a person because of a count that is some seconds old.
  const trips = decision.trips.some(({ kind }) => ruleOf(kind, rules).share > 0)
  if (!bases && (old || trips)) return { missing: 'bases' }
  await store(client, decision, { kinds, bases })
  return { decision }
}

function freshOf(kind: BrakeKind, asked: readonly WeighedRequest[]): number {
  return asked.filter((each) => each.kinds.includes(kind) && isNew(kind, each)).length
}
