import type { Claim } from '../ledger/claim.ts'
import type { Ending } from '../ledger/ending.ts'
import type { CustomerState, LedgerRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Mapped, userIdOf } from '../model/mapped.ts'
import { backoffMs } from '../pace/backoff.ts'
import type { Called } from './call.ts'
import { issuesOf, toRecord } from './memory.ts'
import type { SyncContext } from './run.ts'
import type { Turn, TurnEnd } from './turn.ts'

type Finished = {
  readonly context: Pick<SyncContext, 'config' | 'backoff' | 'random' | 'digester'>
  readonly claim: Claim
  readonly mapped: Mapped
  readonly record: LedgerRecord
  readonly rivals: readonly CustomerKey[]
  readonly turn: Turn
  readonly last: Called | null
  readonly end: TurnEnd
}

/** Puts the outcome of a claim into the form that is stored: what is owed next, and what is remembered. */
export function makeEnding({ context, claim, mapped, record, rivals, turn, last, end }: Finished): Ending {
  const userId = userIdOf(mapped) ?? record.userId
  const issues = mapped.kind === 'user' || mapped.kind === 'rejected' ? mapped.issues : []
  const kept = { userId, state: stateOf(end), reason: end.reason, issues: issuesOf(issues, turn.memory) }
  const waitMs = end.kind === 'retry' ? end.waitMs : undefined
  return {
    id: claim.id,
    token: claim.token,
    key: claim.key,
    version: claim.version,
    kind: end.kind,
    sure: turn.sure,
    wrote: turn.wrote,
    acknowledged: turn.acknowledged,
    failed: end.kind !== 'settle' && (end.kind === 'unknown' || end.failed),
    gapMs: context.config.timing.gapMs,
    backoffMs: waitMs ?? backoffMs(claim.attempts, context.backoff, context.random),
    clearedUnknown: end.kind === 'settle' && claim.unknown && turn.sure,
    noteKeys: mapped.kind === 'user' ? [] : rivals,
    newcomer: record.userId !== userId,
    record: toRecord(turn.memory, context.digester.id, kept),
    lastAnswer: last && {
      method: last.method,
      status: last.outcome.kind === 'reply' ? last.outcome.status : null,
      error: last.outcome.kind === 'error' ? last.outcome.error : null,
    },
  }
}

function stateOf(end: TurnEnd): CustomerState {
  if (end.kind === 'settle') return end.state
  return 'failing'
}
