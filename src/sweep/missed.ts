// Whom capture has missed: a customer whose row is another than the one that was last looked at, and nobody was told.
import type { Pool } from 'pg'
import { marksArePending } from '../capture/marks.ts'
import type { Config } from '../config/config.ts'
import { type CustomersShape, describeCustomers } from '../customers/describe.ts'
import { makeReading } from '../customers/read.ts'
import { type Missed, truncateWasDismissed } from '../ledger/runs.ts'
import { capturedOf, readWork, type Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Digester } from '../sync/digest.ts'
import { mapFound } from '../sync/map.ts'
import { policyOf } from '../sync/policy.ts'
import type { Judged } from './judge.ts'

type Options = { readonly pool: Pool; readonly config: Config; readonly digester: Digester }

/**
 * Makes sure of those who may have been missed. A captured change is in the outbox until it is noted, in one transaction.
 * So where a customer is owed nothing before its row is read, has nothing in the outbox after, and is owed nothing then at
 * the same version, every change that the row shows was settled: if the mapping makes something else of this row than at
 * the last ending, capture missed the change. While a mark is pending (a TRUNCATE, a full outbox) nobody counts.
 */
export function makeFindMissed({ pool, config, digester }: Options) {
  const { clearWith } = policyOf(config)
  let shape: Promise<CustomersShape> | null = null

  return async (judged: readonly Judged[]): Promise<readonly FoundMissed[]> => {
    const keys = judged.filter(mayBeMissed).map(({ key }) => key)
    if (keys.length === 0) return []
    shape ??= describeCustomers(pool, config)
    const read = makeReading(pool, config, await shape)
    const before = new Map((await readWork(pool, keys)).work.map((each) => [each.key, each]))
    const { rows } = await read(keys)
    const captured = await capturedOf(pool, keys)
    if (await marksArePending(pool)) return []
    // Whoever is gone then may be one of those: that was told, and is no miss. It may be dismissed at any page.
    const mayBeTruncated = await truncateWasDismissed(pool)
    const { work, nowMs } = await readWork(pool, keys)
    const now = new Date(nowMs)
    const missed = work.filter((after) => {
      const row = rows.get(after.key)
      if (row === undefined || captured.has(after.key)) return false
      if (row === null && mayBeTruncated) return false
      if (!untouched(before.get(after.key), after) || !holds(after, nowMs)) return false
      const mapped = mapFound(config, after.key, row, now)
      if (!after.known) return row !== null && mapped.kind !== 'out-of-scope'
      return after.desired !== null && digester.whole(after.key, mapped, clearWith) !== after.desired
    })
    return missed.map(({ key, known }): FoundMissed => {
      return { key, how: known ? (rows.get(key) === null ? 'deleted' : 'changed') : 'inserted' }
    })
  }
}

type FoundMissed = { readonly key: CustomerKey; readonly how: keyof Missed }

/**
 * Who differs in its row, as far as a first look tells. What differs by a key of the digests that was changed, or at the
 * service alone, says nothing of capture.
 */
function mayBeMissed({ verdict, made }: Judged): boolean {
  if (verdict !== 'differs' || !made) return false
  const { known, asItWas, comparable, owed } = made.found
  return !known || (!asItWas && comparable && !owed)
}

/** A claim between the two looks, also one that nothing was noted for, may have read a later row than was read here. */
function untouched(before: Work | undefined, after: Work): boolean {
  if (!before || before.owed || after.owed) return false
  return before.version === after.version && before.desired === after.desired
}

/** Noted a little after the answer has ceased to hold; see SHORTEST_REPLAN in ledger/ending.ts. */
const REPLAN_MARGIN_MS = 5000

/** What was made of it at its last ending holds for a while yet, unless its row has changed. */
function holds({ replanAtMs }: Work, nowMs: number): boolean {
  return replanAtMs === null || replanAtMs > nowMs + REPLAN_MARGIN_MS
}
