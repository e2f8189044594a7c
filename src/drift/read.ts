// Reads customers as a check begins with them, and which of them cannot be checked now.
import type { Pool } from 'pg'
import type { KnownRecord } from '../ledger/record.ts'
import { readWork, type Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import { planNow, readSnapshots, type Snapshot, type SnapshotReading } from '../sync/snapshot.ts'
import { recordOfUser } from './compare.ts'
import type { Lag } from './findings.ts'
import type { Skipped } from './words.ts'

/** `skip`: why it cannot be checked now. */
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
    return { subject, skip: reasonToSkip(subject, config.timing) ?? afterOthers(same, config.timing) }
  })
}

/** Of all who were ever settled under the same users: what is done for them shows there too. */
async function readClaimantsWork(
  pool: Pool,
  snapshots: readonly Snapshot[],
): Promise<ReadonlyMap<CustomerKey, Work>> {
  const keys = [...new Set(snapshots.flatMap(({ claimants }) => claimants))]
  if (keys.length === 0) return new Map()
  return new Map((await readWork(pool, keys)).work.map((work) => [work.key, work]))
}

function afterOthers(others: readonly Work[], lag: Lag): Skipped | null {
  if (others.some(({ owed, claimed, unknown }) => owed || claimed || unknown)) return 'owed'
  return others.some(({ record }) => isFresh(record, lag)) ? 'just-settled' : null
}

/**
 * Why a customer cannot be checked now; null where it can. A difference means something only while nothing is owed and
 * nothing was written a moment ago, and only for a user who is ours.
 */
export function reasonToSkip(snapshot: Snapshot, lag: Lag): Skipped | null {
  const { work, mapped, nowMs } = snapshot
  const { owed, claimed, unknown, replanAtMs } = work
  const due = replanAtMs !== null && replanAtMs <= nowMs
  if (owed || claimed || unknown || due) return 'owed'
  if (userIdOf(mapped) === null || mapped.kind === 'rejected') return 'rejected'
  const record = recordOfUser(snapshot)
  if (record.state === 'failing') return 'owed'
  if (record.state !== 'idle') return record.state
  return isFresh(record, lag) ? 'just-settled' : notOurs(snapshot)
}

/** A database whose clock was set back tells a negative age: one far below zero is old, and not young for ever. */
function isFresh({ writtenAgoMs }: Pick<KnownRecord, 'writtenAgoMs'>, { consistencyDelayMs }: Lag): boolean {
  return writtenAgoMs !== null && Math.abs(writtenAgoMs) < consistencyDelayMs
}

const NOT_OURS: readonly string[] = ['never-ours', 'ignored', 'user-of-another-customer']

function notOurs(snapshot: Snapshot): Skipped | null {
  const { plan } = planNow(snapshot)
  if (plan.kind === 'reject') return 'rejected'
  return plan.kind === 'none' && NOT_OURS.includes(plan.why) ? 'not-ours' : null
}
