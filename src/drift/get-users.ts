// The first half of a check: which customers can be checked now, one GET for each inside the pace that all calls share, and
// what its answer shows.
import type { CallEntry } from '../ledger/calls.ts'
import { isJustWritten } from '../ledger/record.ts'
import { readWork, type Work } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Permit } from '../pace/pace.ts'
import { type CalledGet, callEntry, getUser } from '../sync/call.ts'
import { aboutService } from '../sync/classify.ts'
import type { SyncContext } from '../sync/context.ts'
import { userIdOf } from '../sync/map.ts'
import {
  planNow,
  readSnapshots,
  recordOfUser,
  type Snapshot,
  type SnapshotReading,
} from '../sync/snapshot.ts'
import type { Observed } from './compare.ts'
import type { Lag } from './step.ts'
import type { NoAnswer, Skipped, Stopped } from './words.ts'

export type CheckAnswer = { readonly observed: Observed } | { readonly none: NoAnswer }

/** A run reads and stores one batch of customers while it makes the GETs of another one. */
export const BATCHES_AT_ONCE = 2

/** In place of the row id of a customer who has no work row. */
export const NO_ROW = '0'

type Calling = Pick<SyncContext, 'config' | 'users' | 'permits' | 'report'>

export type GetUsers = ReturnType<typeof makeGetUsers>

/**
 * Each answer counts for the pace and the breaker as every call does, and is taken down in the log of calls. A customer that
 * was not checked when it was stopped is not among the answers.
 */
export function makeGetUsers(context: Calling, log: (entry: CallEntry) => void) {
  const { config, users, permits, report } = context

  return async (snapshots: readonly Snapshot[], signal: AbortSignal) => {
    const answers = new Map<CustomerKey, CheckAnswer>()
    const left = [...snapshots]
    let stopped: Stopped | null = null
    const work = async () => {
      for (let snapshot = left.shift(); snapshot && !stopped; snapshot = left.shift()) {
        const answer = await getOne(snapshot, signal)
        if (typeof answer === 'string') stopped ??= answer
        else answers.set(snapshot.key, answer)
      }
    }
    const concurrency = Math.min(Math.ceil(config.pace.concurrency / BATCHES_AT_ONCE), snapshots.length)
    await Promise.all(Array.from({ length: concurrency }, work))
    return { answers, stopped }
  }

  async function getOne(snapshot: Snapshot, signal: AbortSignal): Promise<CheckAnswer | Stopped> {
    const permit = await currentPermit(signal)
    if (!permit) return signal.aborted ? 'asked' : 'pace'
    const userId = userIdOf(snapshot.mapped) ?? ''
    const called = await getUser(users, { userId, signal })
    log(callEntry({ key: snapshot.key, plan: 'check', called }))
    const id = snapshot.work.id ?? NO_ROW
    await report({ id, epoch: permit.epoch, ...aboutService(called) })
    const shown = shownBy(called)
    return shown === 'stopped' ? 'asked' : shown
  }

  /** A permit from before a stop or a slowdown of all processes goes back. Null: stopped. */
  async function currentPermit(signal: AbortSignal): Promise<Permit | null> {
    for (;;) {
      const permit = await permits.take(signal)
      if (!permit || permits.stands(permit)) return permit
      permits.giveBack(permit)
    }
  }
}

/**
 * The answers that are clear to a sync are clear here, and no others. A 2xx that is no user is a verdict of its own
 * (`unreadable`): the service would say it of that user again. A 2xx that reports an error is no answer: `error` tells it
 * from a 5xx, which the log of the service would show. `stopped`: we broke the call off ourselves.
 */
export function shownBy(
  called: Pick<CalledGet, 'outcome' | 'meaning' | 'observed'>,
): CheckAnswer | 'stopped' {
  const { outcome, meaning, observed } = called
  if (outcome.kind === 'error') {
    if (outcome.error === 'aborted') return 'stopped'
    return { none: outcome.error === 'bad-user-id' ? 'refused' : 'unreached' }
  }
  const { status, body } = outcome
  switch (meaning) {
    case 'present':
      return { observed: observed ?? 'unreadable' }
    case 'absent':
      return { observed: 'absent' }
    case 'later':
      return { none: 'busy' }
    case 'denied':
      return { none: 'denied' }
    case 'failed':
      if (status >= 200 && status < 300)
        return body === 'error' ? { none: 'error' } : { observed: 'unreadable' }
      return { none: status >= 500 || status === 408 ? 'trouble' : 'refused' }
    default:
      return meaning satisfies never
  }
}

export type Candidate = { readonly snapshot: Snapshot; readonly skip: Skipped | null }

export async function readCandidates(reading: SnapshotReading, keys: readonly CustomerKey[]) {
  const { pool, config } = reading
  const snapshots = await readSnapshots(reading, keys)
  // All customers with a record under the same users: calls for them change these users too.
  const sameUser = [...new Set(snapshots.flatMap(({ sameUser }) => sameUser))]
  const { work } = sameUser.length > 0 ? await readWork(pool, sameUser) : { work: [] }
  const others = new Map(work.map((each) => [each.key, each]))
  return snapshots.map((snapshot): Candidate => {
    if (snapshot.unreadable) return { snapshot, skip: 'unreadable-row' }
    const same = snapshot.sameUser.flatMap((key) => others.get(key) ?? [])
    return { snapshot, skip: reasonToSkip(snapshot, config.timing) ?? afterOthers(same, config.timing) }
  })
}

function afterOthers(others: readonly Work[], lag: Lag): Skipped | null {
  if (others.some(({ owed, claimed }) => owed || claimed)) return 'owed'
  return others.some(({ record }) => isJustWritten(record, lag.consistencyDelayMs)) ? 'just-written' : null
}

/**
 * Why a customer cannot be checked now; null where it can. A difference means something only while nothing is owed and
 * nothing was written a moment ago, and only for a user who is ours. In the example: null. Nothing is owed, the state is `idle`, and the last write is old.
 */
export function reasonToSkip(snapshot: Snapshot, lag: Lag): Skipped | null {
  const { work, mapped, nowMs } = snapshot
  const { owed, claimed, unknown, replanAtMs } = work
  const due = replanAtMs !== null && replanAtMs <= nowMs
  const record = recordOfUser(snapshot)
  if (owed || claimed || due) return 'owed'
  if (userIdOf(mapped) === null || mapped.kind === 'rejected') return 'rejected'
  if (record.state === 'failing') return 'owed'
  if (record.state !== 'idle') return record.state
  const { plan } = planNow(snapshot)
  // The customer that has the user now is looked up for what this one has left unknown.
  if (plan.kind === 'none' && NOT_OURS.includes(plan.why)) return 'not-ours'
  if (unknown) return 'owed'
  if (isJustWritten(record, lag.consistencyDelayMs)) return 'just-written'
  return plan.kind === 'reject' ? 'rejected' : null
}

const NOT_OURS: readonly string[] = ['never-ours', 'ignored', 'user-of-another-customer']
