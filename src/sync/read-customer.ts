import type { FoundRow } from '../customers/read.ts'
import type { Claim } from '../ledger/claim.ts'
import type { Reason } from '../ledger/reason.ts'
import { existedBefore, type KnownRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { entitled } from '../model/user.ts'
import type { SyncContext } from './context.ts'
import { type CustomerDigests, forCustomer } from './digest.ts'
import { type Mapped, mapFound } from './map.ts'
import { type Memory, startMemory } from './memory.ts'
import { type ClaimEnd, retry } from './next-plan.ts'
import { resolveSharing } from './sharing.ts'

/** A customer as a claim finds it. */
export type ClaimedCustomer = {
  /** The customer's own. */
  readonly record: KnownRecord
  readonly mapped: Mapped
  readonly claimants: readonly CustomerKey[]
  /** The record to plan from: the customer's own, or that of the one that wrote to this user last. */
  readonly latestRecord: KnownRecord
  readonly memory: Memory
  readonly digests: CustomerDigests
  /** It stands for the desired user: what the mapping made of the customer. */
  readonly desiredDigest: string
  /** Not null: the claim ends with it, before any call. */
  readonly end: ClaimEnd | null
}

/**
 * The customer as it is now. Row and record are read after the claim was committed, each in a new snapshot: read before it, a
 * change between the two would be settled without having been seen.
 */
export async function readCustomer(context: SyncContext, claim: Claim): Promise<ClaimedCustomer> {
  const row = context.readRow(claim.key)
  row.catch(() => undefined) // mapCustomerRow awaits it, and meets the error
  const record = await context.readRecord(claim.key)
  const found = await mapCustomerRow(context, claim, { record, row })
  const digests = forCustomer(context.digester, claim.key)
  const desiredDigest = context.digester.ofCustomer(claim.key, found.mapped, context.config.clearWith)
  return { ...found, record, digests, desiredDigest, memory: recall(claim, found, digests) }
}

/** `plain`: the latest record is the customer's own. */
function recall(claim: Claim, { latestRecord, mapped }: Found, digests: CustomerDigests): Memory {
  // A 404 may be a gateway's, until a settle has accepted it: access is not known to be gone.
  const { remote, state } = latestRecord
  const unaccepted = remote === 'absent' && (state !== 'idle' || existedBefore(latestRecord)) // plain: false
  const unknown = claim.unknown || (isWithoutAccess(mapped) && unaccepted)
  return startMemory({ ...claim, unknown, record: latestRecord, mapped, digests })
}

type Found = Omit<ClaimedCustomer, 'record' | 'memory' | 'digests' | 'desiredDigest'>

/** Maps the row by the database's time, like `replan_at`. A row that cannot be read must not leave the claim hanging. */
async function mapCustomerRow(
  context: SyncContext,
  claim: Claim,
  { record, row }: { readonly record: KnownRecord; readonly row: Promise<FoundRow> },
): Promise<Found> {
  const { config, readRow, unwatched } = context
  const { key, nowMs } = claim
  const mapRow = async (found: Promise<FoundRow>) => mapFound(config, key, await found, new Date(nowMs))
  try {
    const first = await mapRow(row)
    // The customer that takes this user over may be captured and not noted yet; or this one may be back.
    const loses = first.kind === 'removed' || (first.kind === 'out-of-scope' && record.remote !== 'unasked') // plain: false
    if (loses && !(await context.whenNoted()))
      return { mapped: first, claimants: [], latestRecord: record, end: NOT_NOTED }
    // plain: first
    const mapped = seemsLost(first) ? await readAgainWatched(unwatched, () => mapRow(readRow(key))) : first
    // plain: as mapped, no claimants, the own record
    return { ...(await resolveSharing(context, claim, { mapped, record })), end: null }
  } catch (error) {
    const reason = whyRowUnreadable(error)
    if (!reason) throw error
    const issues = record.issues.filter((issue) => issue.code !== 'refused')
    const mapped: Mapped = { kind: 'rejected', userId: record.userId, issues }
    return { mapped, claimants: [], latestRecord: record, end: retry(reason) }
  }
}

/** Null for an error that is not about the customers' rows. */
export function whyRowUnreadable(error: unknown): Reason | null {
  if (error instanceof RollcallError && error.code === 'TABLES_UNWATCHED')
    return { code: 'unwatched', misfits: error.details }
  const wrapped = error instanceof RollcallError && error.code === 'CUSTOMERS_UNREADABLE' ? error : null
  const code = ((wrapped ? wrapped.cause : error) as { code?: unknown } | null | undefined)?.code
  if (!wrapped && typeof code !== 'string') return null
  return {
    code: 'customer-unreadable',
    ...(typeof code === 'string' ? { error: code } : {}),
    ...(wrapped ? { misfits: wrapped.details } : {}),
  }
}

/** A customer who is gone waits for changes that are captured and not noted yet. */
const NOT_NOTED = retry({ code: 'not-noted' }, { failed: false, waitMs: 1000 })

/** Whether its row gives the customer no access. A row that cannot be mapped says nothing. */
export function seemsLost(mapped: Mapped): boolean {
  return mapped.kind !== 'rejected' && isWithoutAccess(mapped)
}

function isWithoutAccess(mapped: Mapped): boolean {
  return mapped.kind !== 'user' || !entitled(mapped.user.status)
}

/**
 * Reads customers a second time, once every table is known to be watched. A table without triggers may be new after a
 * restore, and not filled yet: no customer loses access because of it.
 *
 * @throws RollcallError TABLES_UNWATCHED where one is not
 */
export async function readAgainWatched<T>(
  unwatched: SyncContext['unwatched'],
  read: () => Promise<T>,
): Promise<T> {
  const tables = await unwatched()
  if (tables.length === 0) return await read()
  throw new RollcallError('TABLES_UNWATCHED', [tables.join(', ')])
}
