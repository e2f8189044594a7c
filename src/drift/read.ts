// Reads a page of customers as a check begins with them, and who of them cannot be checked now.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { readWork, type Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { readSnapshots, type Snapshot, type SnapshotReading } from '../sync/snapshot.ts'
import { isFresh, reasonToSkip } from './compare.ts'
import type { Skipped } from './words.ts'

/** `skip`: why it cannot be verified now. */
export type ReadSubject = { readonly subject: Snapshot; readonly skip: Skipped | null }

export async function readSubjects(
  reading: SnapshotReading,
  keys: readonly CustomerKey[],
): Promise<readonly ReadSubject[]> {
  const { pool, config } = reading
  const snapshots = await readSnapshots(reading, keys)
  const others = await readClaimantsWork(pool, snapshots)
  return snapshots.map((subject) => {
    if (subject.unreadable) return { subject, skip: 'unreadable-row' }
    const same = subject.claimants.flatMap((key) => others.get(key) ?? [])
    return { subject, skip: reasonToSkip(subject, config.timing) ?? afterOthers(same, config) }
  })
}

/** Of all who were ever settled under the same users: what is done for them is seen there too. */
async function readClaimantsWork(
  pool: Pool,
  snapshots: readonly Snapshot[],
): Promise<ReadonlyMap<CustomerKey, Work>> {
  const keys = [...new Set(snapshots.flatMap(({ claimants }) => claimants))]
  if (keys.length === 0) return new Map()
  return new Map((await readWork(pool, keys)).work.map((work) => [work.key, work]))
}

function afterOthers(others: readonly Work[], { timing }: Config): Skipped | null {
  if (others.some(({ owed, claimed, unknown }) => owed || claimed || unknown)) return 'owed'
  const written = others.some(({ record }) => isFresh(record.writtenAgoMs, timing))
  return written ? 'just-settled' : null
}
