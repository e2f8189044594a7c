// Judges a page of customers as a claim would begin with them.
import { setImmediate } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import type { KnownRecord } from '../ledger/record.ts'
import type { Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Mapped } from '../model/mapped.ts'
import { type Digester, forCustomer } from '../sync/digest.ts'
import { mapFound } from '../sync/map.ts'
import { type Memory, rememberFor, startMemory } from '../sync/memory.ts'
import { makePlan, type Policy } from '../sync/plan.ts'
import { policyOf } from '../sync/policy.ts'
import { findRivals } from '../sync/rivals.ts'
import { type Found, foundOf, type Selection, type Verdict, verdictOn } from './differs.ts'
import type { Read } from './read-page.ts'

/** Other work of this process gets its turn after so many customers. */
const BREATH = 100

export type Judging = {
  readonly config: Config
  readonly digester: Digester
  /** Whom this sweep is for. */
  readonly select: Selection
}

/** What a sweep makes of one customer; `made` is null where its row cannot be read. */
export type Judged = { readonly key: CustomerKey; readonly verdict: Verdict; readonly owed: boolean } & {
  readonly made: Made | null
}

export type Made = {
  readonly found: Found
  readonly memory: Memory
  readonly mapped: Mapped
  /** There is no row of it. */
  readonly gone: boolean
  readonly record: KnownRecord
  /** Other customers in scope that claim its user. */
  readonly rivals: readonly CustomerKey[]
}

export function makeJudge({ config, digester, select }: Judging) {
  const policy = policyOf(config)

  return async ({ rows, unreadable, work, now, rivals }: Read): Promise<Judged[]> => {
    const judged: Judged[] = []
    for (const [at, each] of work.entries()) {
      if (at % BREATH === BREATH - 1) await setImmediate()
      const { key, owed } = each
      const row = rows.get(key)
      if (row === undefined || unreadable.has(key)) {
        judged.push({ key, owed, verdict: 'unreadable', made: null })
        continue
      }
      const mapped = mapFound(config, key, row, now)
      const others = await findRivals(rivals, key, mapped)
      const planned = plannedFor({ work: each, mapped, rivals: others, policy, digester, select, now })
      const made = { ...planned, mapped, gone: row === null, record: each.record, rivals: others }
      judged.push({ key, owed, verdict: verdictOn(planned.found, select), made })
    }
    return judged
  }
}

type Planning = {
  readonly work: Work
  readonly mapped: Mapped
  readonly rivals: readonly CustomerKey[]
  readonly policy: Policy
  readonly digester: Digester
  readonly select: Selection
  readonly now: Date
}

/** As a claim begins; see sync/run.ts. Where a look is wanted first, somebody of whom nothing is known is unknown. */
function plannedFor({ work, mapped, rivals, policy, digester, select, now }: Planning): {
  readonly found: Found
  readonly memory: Memory
} {
  const { key, record, replanAtMs } = work
  const digests = forCustomer(digester, key)
  const unknown = work.unknown || (select.lookup && !work.known)
  const replanInMs = replanAtMs === null ? null : replanAtMs - now.getTime()
  const start = startMemory({ ...work, unknown, replanInMs, digestKey: digester.id })
  const memory = rememberFor(start, { mapped, record, digests })
  const plan = makePlan({ mapped, memory, rivals, policy, digests })
  const digest = digester.whole(key, mapped, policy.clearWith)
  return { found: foundOf(work, { mapped, digest, plan, digestKey: digester.id }), memory }
}
