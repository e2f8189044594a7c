import type { ClientBase, Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { makeBatch } from '../database/batch.ts'
import { inTransaction } from '../database/transaction.ts'
import {
  type Bases,
  type Brake,
  type BrakeRequest,
  baseIsOld,
  baseOf,
  type HeldKind,
  limitOf,
  ruleOf,
} from './brake.ts'
import { type Decision, decide, isNew } from './decide.ts'
import { countBases, lockRows, makeRows, readUsage, store } from './rows.ts'

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

async function reserveAll(pool: Pool, rules: Config['brake'], requests: readonly BrakeRequest[]) {
  const kinds = [...new Set(requests.flatMap((request) => request.kinds))].sort()
  /** Counted just now, because an earlier attempt missed them. */
  let bases: Bases | null = null
  for (;;) {
    const counted: Bases | null = bases
    const tried = await inTransaction(pool, LOCK_TIMEOUT_MS, (client) => attempt(client, counted))
    if (typeof tried === 'object') return tried.answers
    if (tried === 'no-rows') await makeRows(pool, kinds)
    else bases = await countBases(pool)
  }

  /** The lock comes first and what is read second, in a snapshot of its own. */
  async function attempt(
    client: ClientBase,
    bases: Bases | null,
  ): Promise<Decision | 'no-rows' | 'no-bases'> {
    if (!(await lockRows(client, kinds))) return 'no-rows'
    const found = await readUsage(client, { windowHours: rules.windowHours, requests, kinds })
    const states = found.kinds.map(({ base, ...row }) => {
      const known = bases ? baseOf(row.kind, bases) : base
      return { ...row, limit: limitOf(ruleOf(row.kind, rules), known) }
    })
    const old = found.kinds.some((row) => {
      const fresh = found.asked.filter((each) => each.kinds.includes(row.kind) && isNew(row.kind, each))
      return baseIsOld(row, fresh.length, rules)
    })
    const decision = decide({ kinds: states, asked: found.asked, truncated: found.truncated })
    // No customer waits for a person because of a count that is some seconds old.
    const trips = decision.trips.some(({ kind }) => ruleOf(kind, rules).share > 0)
    if (!bases && (old || trips)) return 'no-bases'
    await store(client, decision, kinds, bases)
    return decision
  }
}
