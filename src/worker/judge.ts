// Judges a page of customers as a claim would begin with them, in a handful of statements.
import { setImmediate } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { CustomersShape } from '../customers/describe.ts'
import { makeReading } from '../customers/reading.ts'
import { readWork, type Work } from '../ledger/sweep.ts'
import type { CustomerKey } from '../model/customer.ts'
import {
  addTo,
  addUnreadable,
  type Found,
  foundOf,
  howToNote,
  type Tally,
  verdictOn,
} from '../sync/differs.ts'
import { type Digester, forCustomer } from '../sync/digest.ts'
import { mapFound } from '../sync/map.ts'
import { type Memory, rememberFor, startMemory } from '../sync/memory.ts'
import { readRivals, readRows } from '../sync/page.ts'
import { makePlan, type Policy } from '../sync/plan.ts'
import { policyOf } from '../sync/policy.ts'
import { findRivals } from '../sync/rivals.ts'

/** Other work of this process gets its turn after so many customers. */
const BREATH = 100

type Judging = { readonly pool: Pool; readonly config: Config; readonly digester: Digester }

/** What a page adds to the tally, and who is to be noted; see `howToNote`. */
export type Judged = {
  readonly tally: Tally
  readonly now: readonly CustomerKey[]
  readonly gently: readonly CustomerKey[]
}

/** Judges a page; with `onlyGone` only those who have no row, since the others were in an earlier page. */
export function makeJudge({ pool, config, digester }: Judging, shape: CustomersShape) {
  const read = makeReading(pool, config, shape)
  const policy = policyOf(config)

  return async (keys: readonly CustomerKey[], onlyGone: boolean, before: Tally): Promise<Judged> => {
    const { rows, unreadable } = await readRows(read, keys)
    const asked = onlyGone ? keys.filter((key) => rows.get(key) === null) : keys
    const { work, nowMs } = await readWork(pool, asked)
    const now = new Date(nowMs)
    const rivals = await readRivals({ pool, config, read, rows, asked, now })
    const noted = { now: [] as CustomerKey[], gently: [] as CustomerKey[] }
    let tally = before
    for (const [at, each] of work.entries()) {
      if (at % BREATH === BREATH - 1) await setImmediate()
      const row = rows.get(each.key)
      if (row === undefined || unreadable.has(each.key)) {
        tally = addUnreadable(tally)
        if (!each.owed) noted.gently.push(each.key)
        continue
      }
      const mapped = mapFound(config, each.key, row, now)
      const others = await findRivals(rivals, each.key, mapped)
      const { found, memory } = plannedFor({ work: each, mapped, rivals: others, policy, digester })
      const verdict = verdictOn(found)
      tally = addTo(tally, verdict, found, memory)
      const how = howToNote(verdict, found)
      if (how) noted[how].push(each.key)
    }
    return { tally, ...noted }
  }
}

type Planning = {
  readonly work: Work
  readonly mapped: ReturnType<typeof mapFound>
  readonly rivals: readonly CustomerKey[]
  readonly policy: Policy
  readonly digester: Digester
}

/** As a claim begins; see sync/run.ts. */
function plannedFor({ work, mapped, rivals, policy, digester }: Planning): { found: Found; memory: Memory } {
  const { key, record } = work
  const digests = forCustomer(digester, key)
  const start = startMemory({ ...work, digestKey: digester.id })
  const memory = rememberFor(start, { mapped, record, digests })
  const plan = makePlan({ mapped, memory, rivals, policy, digests })
  const digest = digester.whole(key, mapped, policy.clearWith)
  return { found: foundOf(work, { mapped, digest, plan }), memory }
}
