// Reads a page of customers as verification begins with them, in a handful of statements.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { Reading as ReadCustomers } from '../customers/reading.ts'
import { readWork, type Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import { type Digester, forCustomer } from '../sync/digest.ts'
import { mapFound, userIdFor } from '../sync/map.ts'
import { claimantsOf, readRivals } from '../sync/page.ts'
import { policyOf } from '../sync/policy.ts'
import { findRivals } from '../sync/rivals.ts'
import { isFresh, reasonToSkip, type Subject } from './compare.ts'
import type { Skipped } from './words.ts'

export type Reading = {
  readonly pool: Pool
  readonly config: Config
  readonly digester: Digester
  readonly readCustomers: ReadCustomers
}

/** `skip`: why it cannot be verified now. */
export type ReadSubject = { readonly subject: Subject; readonly skip: Skipped | null }

/**
 * What is owed is read before the rows, so that a row is never older than the version it is compared under: a change in
 * between raises the version, and what a look then shows is not stored.
 */
export async function readSubjects(
  { pool, config, digester, readCustomers }: Reading,
  keys: readonly CustomerKey[],
): Promise<readonly ReadSubject[]> {
  const { work, nowMs } = await readWork(pool, keys)
  const { rows, unreadable } = await readCustomers(keys)
  const now = new Date(nowMs)
  const claimants = await claimantsOf(pool, config, keys)
  const rivals = await readRivals({ config, read: readCustomers, rows, claimants, now })
  const sharers = await readSharers(
    pool,
    rivals,
    work.map(({ key }) => [key, userIdFor(config, key)] as const),
  )
  const policy = policyOf(config)
  return await Promise.all(
    work.map(async (each): Promise<ReadSubject> => {
      const { key } = each
      const readable = !unreadable.has(key) && rows.has(key)
      const mapped = readable
        ? mapFound(config, key, rows.get(key) ?? null, now)
        : ({ kind: 'rejected', userId: userIdFor(config, key), issues: [] } as const)
      const subject: Subject = {
        ...{ key, work: each, mapped, policy, nowMs },
        rivals: readable ? await findRivals(rivals, key, mapped) : [],
        digests: forCustomer(digester, key),
        digestKey: digester.id,
        desired: digester.whole(key, mapped, policy.clearWith),
      }
      if (!readable) return { subject, skip: 'unreadable-row' }
      const others = sharers.filter(({ userId, of }) => of !== key && userId === userIdOf(mapped))
      return { subject, skip: reasonToSkip(subject, config.timing) ?? afterOthers(others, config) }
    }),
  )
}

type Sharer = { readonly of: CustomerKey; readonly userId: string; readonly work: Work }

/** Who else was ever settled under the same user: what is done for them is seen there too. */
async function readSharers(
  pool: Pool,
  { readClaimants }: Awaited<ReturnType<typeof readRivals>>,
  asked: readonly (readonly [CustomerKey, string | null])[],
): Promise<readonly Sharer[]> {
  const pairs: { of: CustomerKey; userId: string }[] = []
  for (const [key, userId] of asked) {
    if (userId === null) continue
    const others = (await readClaimants(userId)).filter((other) => other !== key)
    pairs.push(...others.map((of) => ({ of, userId })))
  }
  if (pairs.length === 0) return []
  const { work } = await readWork(pool, [...new Set(pairs.map(({ of }) => of))])
  const known = new Map(work.map((each) => [each.key, each]))
  return pairs.flatMap(({ of, userId }) => {
    const found = known.get(of)
    return found ? [{ of, userId, work: found }] : []
  })
}

function afterOthers(others: readonly Sharer[], { timing }: Config): Skipped | null {
  if (others.some(({ work }) => work.owed || work.claimed || work.unknown)) return 'owed'
  const written = others.some(({ work: { record } }) => isFresh(record.writtenAgoMs, timing))
  return written ? 'just-settled' : null
}
