import type { Config } from '../config/config.ts'
import type { Claim } from '../ledger/claim.ts'
import type { Ending } from '../ledger/ending.ts'
import { type Digests, existedBefore, type KnownRecord, type LedgerRecord } from '../ledger/record.ts'
import type { FieldIssue } from '../model/customer.ts'
import { type OptionalField, USER_FIELDS, type UserField } from '../model/user.ts'
import { backoffMs } from '../pace/pace.ts'
import type { Called } from './call.ts'
import { conflictDueAt, issuesOf, withoutConflict } from './conflict.ts'
import type { SyncContext } from './context.ts'
import { discardAfter } from './discard.ts'
import { forClaimants, forLookups } from './effects.ts'
import { isOutOfScope, type Mapped, userIdOf, validUntilOf } from './map.ts'
import { type Memory, toRecord } from './memory.ts'
import { type CallsResult, type ClaimEnd, resultOfCalls } from './next-plan.ts'
import { isToErase } from './plan.ts'
import type { ClaimedCustomer } from './read-customer.ts'

/** The result of a claim: its memory at the end, its last call, and the end that was decided on. */
export type ClaimResult = { readonly memory: Memory; readonly last: Called | null; readonly end: ClaimEnd }

type Finished = Omit<ClaimedCustomer, 'end' | 'memory'> &
  ClaimResult & {
    readonly context: Pick<SyncContext, 'config' | 'random'>
    readonly claim: Claim
  }

/** The result of a claim as it is stored. `plain`: the value after one PATCH of the status that was answered with 200. */
export function toEnding(finished: Finished): Ending {
  const { context, claim, mapped, record, digests, desiredDigest, memory, last, end } = finished
  const { config, random } = context
  const calls = resultOfCalls(memory)
  // An answer that is neither yes nor no was taken for a yes: before a retry it is looked up.
  const unclearYes = end.kind !== 'unknown' && calls.takenForYes // plain: false
  const staysAsItWas = stays(finished) // plain: false
  return {
    claim,
    kind: end.kind === 'retry' && unclearYes ? 'unknown' : end.kind, // plain: settle
    writes: calls.writes, // plain: accepted
    acknowledged: [...calls.acknowledged, ...notCompared(mapped, config)], // plain: status
    // plain: PATCH, 200
    lastAnswer: last && {
      method: last.method,
      status: last.outcome.kind === 'reply' ? last.outcome.status : null,
      error: last.outcome.kind === 'error' ? last.outcome.error : null,
    },
    desiredDigest: staysAsItWas ? comparableDesired(record, digests.keyId) : desiredDigest, // plain: desiredDigest
    record: recordAfter(finished, calls.acknowledged, staysAsItWas), // plain: status 2 is acknowledged

    // The next attempt, or the next plan without a change.
    next: {
      failed: end.kind !== 'settle' && (end.kind === 'unknown' || end.failed), // plain: false
      backoffMs: waitOf(end, () => backoffMs(claim.attempts, config.timing, random)), // plain: not used
      replanAtMs: replanAt(finished), // plain: null
    },
    // When a GET shows what the claim did. Plain: all false, and `lateMs` is the service's lag.
    lookups: forLookups({ ...finished, calls }, { unclearYes, config }),
    erasure: memory.erasure, // plain: null, null
    // For other customers with the user, of whom there are none. Plain: effect known, noteKeys none, isNewUser false; mayEndTrial has no effect.
    others: forClaimants({ ...finished, calls }, userIdAfter(finished)),
  }
}

function userIdAfter({ mapped, record }: Pick<Finished, 'mapped' | 'record'>): string | null {
  return userIdOf(mapped) ?? record.userId
}

function recordAfter(
  finished: Finished,
  acknowledged: CallsResult['acknowledged'],
  staysAsItWas: boolean,
): LedgerRecord {
  const { mapped, record, digests, memory, end } = finished
  // plain: the memory as it is, without fields that the mapping has ceased to set
  return toRecord(memoryAfter(finished), digests.keyId, {
    userId: userIdAfter(finished),
    ...(staysAsItWas ? { state: record.state, reason: record.reason } : stateOf(end)), // plain: idle, null
    discard: discardAfter(finished), // plain: null
    existed: existsAfter(finished, acknowledged), // plain: true
    issues: issuesFor(mapped, memory), // plain: none
  })
}

/** An absence is accepted where it was settled, or a create has followed; the unknown changes nothing. */
function existsAfter(finished: Finished, acknowledged: CallsResult['acknowledged']): boolean {
  const { latestRecord, memory, end } = finished
  const { remote, lookedUp } = memory
  if (remote === 'present') return true
  const before = existedBefore(latestRecord) && latestRecord.userId === userIdAfter(finished)
  const accepted = remote === 'absent' && end.kind === 'settle' && end.state === 'idle'
  // This claim was shown the user, or got a clear yes: not one that may be wrong.
  return (before || lookedUp || acknowledged.length > 0) && !accepted
}

/** Fields that no check compares: all but the status of a customer that is to have no access. */
function notCompared(mapped: Mapped, { onRemove }: Config): readonly UserField[] {
  const gone = isOutOfScope(mapped) || (mapped.kind === 'removed' && onRemove !== 'erase')
  return gone ? USER_FIELDS.filter((field) => field !== 'status') : []
}

/** A wait of our own is kept. Retry-After can only lengthen the back-off: a zero would have us ask without a pause. */
function waitOf(end: ClaimEnd, backoff: () => number): number {
  const named = end.kind === 'retry' ? end.waitMs : undefined
  if (end.kind === 'retry' && !end.failed && named !== undefined) return named
  return Math.max(named ?? 0, backoff())
}

/**
 * A claim that could not go on changes no state. A failed lookup must not undo `held` and `discarded`. But failed calls for a
 * released change or for another desired user must be seen, and a failed write.
 */
function stays({ end, record, memory, digests, desiredDigest }: Finished): boolean {
  if (end.kind === 'settle') return false
  if (end.kind === 'retry' && !end.failed) return true
  const before = comparableDesired(record, digests.keyId)
  const isOther = before !== null && before !== desiredDigest && memory.made.length > 0
  if (isOther || resultOfCalls(memory).writes !== 'none') return false
  return record.state === 'discarded' || (record.state === 'held' && !record.released)
}

/** A digest of another key tells nothing any more. */
function comparableDesired({ desiredDigest, digestKeyId }: KnownRecord, present: string): string | null {
  return digestKeyId === null || digestKeyId === present ? desiredDigest : null
}

function stateOf(end: ClaimEnd): Pick<LedgerRecord, 'state' | 'reason'> {
  return { state: end.kind === 'settle' ? end.state : 'failing', reason: end.reason }
}

/** Nothing is sent for a customer who is gone, so nothing is left out either. */
function issuesFor(mapped: Mapped, memory: Memory): readonly FieldIssue[] {
  const sendable = withoutConflict(mapped, memory)
  return sendable.kind === 'user' || sendable.kind === 'rejected' ? issuesOf(sendable.issues, memory) : []
}

/** A conflict waits also where the claim is tried again: the next attempt would begin with the refused value. */
function replanAt({ claim, mapped, memory, end }: Finished): number | null {
  const until = end.kind === 'settle' ? validUntilOf(mapped) : null
  const again = conflictDueAt(memory.conflict, claim)
  return again === null ? until : Math.min(again, until ?? again)
}

/**
 * Under `unmanaged: "clear"` what was sent once is needed to know that there is something to clear. For a customer who is
 * to be erased and is not there at all no digest is kept either; the marks of an erasure are about all fields.
 */
function memoryAfter({ context: { config }, end, mapped, claimants, ...finished }: Finished): Memory {
  // A conflict that was due and has not come again is over.
  const isOver = end.kind === 'settle' && finished.memory.conflict?.phase === 'due'
  const memory = isOver ? { ...finished.memory, conflict: null } : finished.memory
  if (isToErase({ mapped, claimants, policy: config }) && memory.remote === 'absent')
    return { ...memory, sent: {}, seen: {}, refused: {} }
  if (config.unmanaged === 'clear' || memory.erased !== null) return memory
  // Fields that the mapping has ceased to set belong to other systems.
  const isManaged = ([field]: [string, string]) => config.mapping[field as OptionalField] !== undefined
  const managed = (digests: Digests): Digests => Object.fromEntries(Object.entries(digests).filter(isManaged))
  return { ...memory, sent: managed(memory.sent), seen: managed(memory.seen) }
}
