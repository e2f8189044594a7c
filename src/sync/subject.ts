import type { Claim } from '../ledger/claim.ts'
import type { Kept, KnownRecord, Reason } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { RollcallError } from '../model/errors.ts'
import { type Mapped, userIdOf } from '../model/mapped.ts'
import type { SyncContext } from './context.ts'
import { mapFound } from './map.ts'
import { meetOthers } from './others.ts'
import { givenUp, type TurnEnd } from './turn.ts'
import { lookedAtAgain, seemsLost } from './unwatched.ts'

/** A customer as a claim finds it, and the customers that share its user. */
export type Subject = {
  readonly mapped: Mapped
  readonly rivals: readonly CustomerKey[]
  /** All customers with a record under this `user_id`, as of one moment. */
  readonly kept: readonly Kept[]
}

/**
 * The customer as it stands now, and by the database's clock: the time at which it is looked at again is compared with
 * that. A row that Postgres refuses to read is no reason to leave the claim hanging.
 */
export async function readSubject(
  context: SyncContext,
  { key, nowMs }: Claim,
  record: KnownRecord,
): Promise<Subject & { readonly end?: TurnEnd }> {
  try {
    const { config, readRow, readOther } = context
    const now = new Date(nowMs)
    const look = async () => mapFound(config, key, await readRow(key), now)
    const seen = await look()
    // The customer that takes this user over may be captured and not noted yet; or this one may be back.
    const loses = seen.kind === 'removed' || (seen.kind === 'out-of-scope' && record.remote !== 'unasked')
    if (loses && !(await context.whenNoted()))
      return { mapped: seen, rivals: [], kept: [], end: givenUp('not-noted', NOT_NOTED_MS) }
    const mapped = seemsLost(seen) ? await lookedAtAgain(context.unwatched, look) : seen
    const kept = await context.readKept(userIdOf(mapped) ?? '')
    const claimants = kept.flatMap((other) => (other.key === key ? [] : { ...other.record, key: other.key }))
    const met = await meetOthers({ config, readOther, now }, claimants, { mapped, record })
    return { ...met, kept }
  } catch (error) {
    const reason = unreadable(error)
    if (!reason) throw error
    const own = record.issues.filter((issue) => issue.code !== 'refused')
    const mapped: Mapped = { kind: 'rejected', userId: record.userId, issues: own }
    return { mapped, rivals: [], kept: [], end: { kind: 'retry', reason, failed: true } }
  }
}

/** Null for an error that is not about the customers' rows. */
function unreadable(error: unknown): Reason | null {
  if (error instanceof RollcallError && error.code === 'TABLES_UNWATCHED')
    return { code: 'unwatched', misfits: error.details }
  const told = error instanceof RollcallError && error.code === 'CUSTOMERS_UNREADABLE' ? error : null
  const code = ((told ? told.cause : error) as { code?: unknown } | null | undefined)?.code
  if (!told && typeof code !== 'string') return null
  return {
    code: 'customer-unreadable',
    ...(typeof code === 'string' ? { error: code } : {}),
    ...(told ? { misfits: told.details } : {}),
  }
}

/** How long a customer who is gone waits for changes that are captured and not noted yet. */
const NOT_NOTED_MS = 1000
