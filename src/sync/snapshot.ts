// Reads many customers with their records, and plans as a sync would: for sweeps, checks, dry runs and `explain`.
import { setImmediate } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { Reading, ReadRows } from '../customers/read.ts'
import { type KnownRecord, NO_RECORD, readUserRecords, type UserRecord } from '../ledger/record.ts'
import { emptyWork, readWork, type Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import type { RemoteUser } from '../service/body.ts'
import type { SyncContext } from './context.ts'
import { type CustomerDigests, type Digester, forCustomer } from './digest.ts'
import { type Mapped, mapFound, userIdFor, userIdOf } from './map.ts'
import { type Memory, startMemory } from './memory.ts'
import { makePlan, type Plan } from './plan.ts'
import { readAgainWatched, seemsLost } from './read-customer.ts'
import { rememberAbsent, rememberSeen } from './remember.ts'
import { findClaimants } from './sharing.ts'
import type { Policy } from './write.ts'

/** One customer as it was read, its row of `rollcall.owed` first. */
export type Snapshot = {
  readonly key: CustomerKey
  readonly work: Work
  readonly mapped: Mapped
  /** Why the row could not be read: then `mapped` is rejected without an issue. */
  readonly unreadable: Error | null
  /** All other customers with a record under this user. */
  readonly sameUser: readonly CustomerKey[]
  /** Customers among them that claim the user now (sharing.ts). */
  readonly claimants: readonly CustomerKey[]
  readonly policy: Policy
  readonly digests: CustomerDigests
  readonly desiredDigest: string
  readonly nowMs: number
}

export type SnapshotReading = {
  readonly pool: Pool
  readonly config: Config
  readonly digester: Digester
  readonly readCustomers: Reading
  readonly unwatched: SyncContext['unwatched']
  /** Nothing is recorded yet, or it may not be read: all customers count as unknown. */
  readonly withoutLedger?: boolean
}

/** Other work of this process gets its turn after so many customers. */
const BREATH = 100

/** Work rows are read first: a later change raises the version, so no row is older than the version it goes with. */
export async function readSnapshots(
  reading: SnapshotReading,
  keys: readonly CustomerKey[],
): Promise<readonly Snapshot[]> {
  const { pool, config, digester, readCustomers, withoutLedger = false } = reading
  const { work, nowMs } = await (withoutLedger ? emptyWork : readWork)(pool, keys)
  const [{ rows, unreadable }, byUser] = await Promise.all([
    withoutLedger ? readCustomers(keys) : readWatched(reading, work, nowMs),
    sameUserOf(pool, config, withoutLedger ? [] : keys),
  ])
  // As a rule each customer has its row, and `others` is empty: no other customer has the user.
  const others = [...byUser.values()].flat().flatMap(({ key }) => (rows.has(key) ? [] : key))
  const none: ReadRows = { rows: new Map(), unreadable: new Map() }
  const other = others.length > 0 ? await readCustomers([...new Set(others)]) : none
  const now = new Date(nowMs)
  const reads = {
    ...{ config, now },
    readOther: async (key: CustomerKey) =>
      unreadable.has(key) || other.unreadable.has(key)
        ? 'ambiguous'
        : (rows.get(key) ?? other.rows.get(key) ?? null),
  }
  const snapshots: Snapshot[] = []
  for (const [at, each] of work.entries()) {
    if (at % BREATH === BREATH - 1) await setImmediate()
    const { key } = each
    const row = unreadable.has(key) ? undefined : rows.get(key)
    const mapped: Mapped =
      row === undefined
        ? { kind: 'rejected', userId: userIdFor(config, key), issues: [] }
        : mapFound(config, key, row, now)
    const sameUser = (byUser.get(userIdOf(mapped) ?? '') ?? []).filter((other) => other.key !== key)
    const alone = { mapped, claimants: [] } // as a rule the result of findClaimants too
    snapshots.push({
      ...{ key, work: each, policy: config, nowMs },
      ...(row === undefined ? alone : await findClaimants(reads, sameUser, { mapped, record: each.record })),
      unreadable: row === undefined ? (unreadable.get(key) ?? new Error('the row was not read')) : null,
      sameUser: sameUser.map((other) => other.key),
      digests: forCustomer(digester, key),
      desiredDigest: digester.ofCustomer(key, mapped, config.clearWith),
    })
  }
  return snapshots
}

/** The rows; of a customer that seems to lose something while a watched table has no triggers nothing can be read. */
async function readWatched(
  { config, digester, readCustomers, unwatched }: SnapshotReading,
  work: readonly Work[],
  nowMs: number,
): Promise<ReadRows> {
  const read = await readCustomers(work.map(({ key }) => key))
  const now = new Date(nowMs)
  const lost = work.flatMap(({ key, known, record }) => {
    const row = read.unreadable.has(key) ? undefined : read.rows.get(key)
    if (!known || row === undefined) return []
    const mapped = mapFound(config, key, row, now)
    // A difference seen at the last settle is no change that capture lost since.
    return seemsLost(mapped) && digester.ofCustomer(key, mapped, config.clearWith) !== record.desiredDigest
      ? key
      : []
  })
  if (lost.length === 0) return read
  const again = await readAgainWatched(unwatched, () => readCustomers(lost)).catch((error: unknown) => {
    if (!(error instanceof RollcallError)) throw error
    return { rows: new Map(), unreadable: new Map(lost.map((key) => [key, error])) }
  })
  return {
    rows: new Map([...read.rows, ...again.rows]),
    unreadable: new Map([...read.unreadable, ...again.unreadable]),
  }
}

/** All customers with a record under the users of these. */
async function sameUserOf(pool: Pool, config: Config, keys: readonly CustomerKey[]) {
  const userIds = keys.flatMap((key) => userIdFor(config, key) ?? [])
  // Where nothing is recorded there may be no table to ask.
  return userIds.length > 0 ? await readUserRecords(pool, userIds) : new Map<string, readonly UserRecord[]>()
}

/** The memory as a claim starts, or after a lookup, and the plan that the claim would make then. */
type Planned = { readonly memory: Memory; readonly plan: Plan }

function memoryNow({ work, mapped, digests, nowMs }: Snapshot, unknown = work.unknown): Memory {
  const replanInMs = work.replanAtMs === null ? null : work.replanAtMs - nowMs
  return startMemory({ ...work, unknown, replanInMs, mapped, digests })
}

function planned(snapshot: Snapshot, memory: Memory): Planned {
  return { memory, plan: makePlan({ ...snapshot, memory }) }
}

/** `unknown`: whether the claim has to look up first, whatever is remembered. */
export function planNow(snapshot: Snapshot, { unknown }: { readonly unknown?: boolean } = {}): Planned {
  return planned(snapshot, memoryNow(snapshot, unknown))
}

/** Nothing is remembered of a user with another `user_id` than the record was made under. */
export function recordOfUser({ work: { record }, mapped }: Pick<Snapshot, 'work' | 'mapped'>): KnownRecord {
  const userId = userIdOf(mapped)
  const another = userId !== null && record.userId !== null && record.userId !== userId
  return another ? NO_RECORD : record
}

/** The plan of `planNow` once a GET has shown this. Nothing is stored, and the service's own forms are not learnt from it. */
export function planAfter(snapshot: Snapshot, observed: RemoteUser | 'absent'): Planned {
  const { mapped, digests } = snapshot
  const before = memoryNow(snapshot)
  const desired = mapped.kind === 'user' ? mapped.user : null
  const memory =
    observed === 'absent'
      ? rememberAbsent(before)
      : rememberSeen(before, observed, desired, digests, { learns: false })
  return planned(snapshot, memory)
}
