// Verdicts and remedies for one customer: decisions over typed facts alone.
import type { Reason } from '../ledger/reason.ts'
import { isJustWritten } from '../ledger/record.ts'
import type { FieldIssue } from '../model/customer.ts'
import { entitled, STATUSES, type Status } from '../model/user.ts'
import type { Plan } from '../sync/plan.ts'
import type { Chat, ChatSays } from './chat.ts'
import type { Comparison } from './fields.ts'
import { isTimeout } from './in-time.ts'
import { historyOf, isOverdue, type Records, wasCustomer } from './records.ts'
import type { RemoteView } from './remote.ts'
import { type AccessReason, type AccessVerdict, type Remedy, type RemedyName, VERDICTS } from './verdicts.ts'

/** The desired access. `unreadable`: the row could not be read, for the reason of a sync. */
export type Desired =
  | { readonly kind: 'user'; readonly status: Status }
  | { readonly kind: 'removed' | 'out-of-scope' }
  | { readonly kind: 'rejected'; readonly issues: readonly FieldIssue[] }
  | { readonly kind: 'unreadable'; readonly reason: Reason }

/**
 * `left-alone`: nothing is asked for, whatever the service has. `blocked`: the customer cannot be sent as it is.
 * `unknown`: it could not be found out.
 */
export type Result = 'same' | 'differs' | 'left-alone' | 'blocked' | 'unknown'

type Compared = {
  readonly desired: Desired
  readonly service: RemoteView
  /** By what is remembered, and after a lookup. */
  readonly plan: Plan
  readonly planAfterLookup: Plan | null
  readonly comparison: Comparison | null
}

export function resultOf({ desired, service, plan, planAfterLookup, comparison }: Compared): Result {
  if (desired.kind === 'unreadable') return 'unknown'
  if (plan.kind === 'reject') return service.kind === 'no-answer' ? 'unknown' : 'blocked'
  if (comparison === null) return isLeftAlone(plan) && service.kind === 'not-asked' ? 'left-alone' : 'unknown'
  if (isLeftAlone(plan) || (planAfterLookup && isLeftAlone(planAfterLookup))) return 'left-alone'
  return comparison.drift === null || comparison.drift.kind === 'trial-ended' ? 'same' : 'differs'
}

const LEFT_ALONE: ReadonlySet<string> = new Set(['never-ours', 'ignored', 'user-of-another-customer'])

export function isLeftAlone(plan: Plan): boolean {
  return plan.kind === 'none' && LEFT_ALONE.has(plan.why)
}

type AccessFacts = {
  readonly desired: Desired
  readonly service: RemoteView
  readonly rollcall: Records
  readonly chat: ChatSays
}

/**
 * The service's answer decides, whatever the customer should have: the customer on the phone meets just that.
 * A GET that was not answered is no "no". The chat has the last word where it speaks about this very user, since a
 * service may go on showing a trial that is over; a token of which it is not known whose it is makes no certain "no".
 */
export function accessOf(facts: AccessFacts): AccessVerdict {
  const why = accessReason(facts)
  return { can: VERDICTS[why].can, why }
}

const BY_CHAT: Readonly<Record<ChatSays, AccessReason | null>> = {
  nothing: null,
  shut: 'chat-shut',
  'none-visible': 'none-visible',
  unclear: 'chat-silent',
}

/** Section 2.6: 0 no access, 2 full access, 4 a trial. */
function accessReason({ desired, service, rollcall, chat }: AccessFacts): AccessReason {
  const history = historyOf(rollcall)
  if (service.kind === 'no-answer') return 'no-answer'
  if (service.kind === 'not-asked') return service.why === 'no-user-id' ? 'no-user-id' : 'no-answer'
  if (service.kind === 'absent')
    return desired.kind !== 'removed' || wasCustomer(history) ? 'not-registered' : 'no-such-customer'
  if (service.status === 0) {
    // A customer who should have no access has lost no trial, even if it once had one.
    const wanted = desired.kind === 'user' && entitled(desired.status)
    return wanted && history?.acknowledgedStatus === 4 ? 'trial-ended' : 'no-access'
  }
  if (!isStatus(service.status)) return 'strange-status'
  return BY_CHAT[chat] ?? (service.status === 2 ? 'full' : 'trial')
}

function isStatus(status: number): status is Status {
  return (STATUSES as readonly number[]).includes(status)
}

type Found = AccessFacts & {
  readonly result: Result
  /** A sync by this configuration would make a call. */
  readonly calls: boolean
  readonly unwatched: readonly string[]
  readonly leftOut: readonly FieldIssue[]
  /** The answer that `chat` was made of. */
  readonly answer: Chat
  readonly consistencyDelayMs: number
}

/** None when there is nothing to do; each name once, with the longest wait. */
export function remediesFor(found: Found): readonly Remedy[] {
  const { desired, rollcall } = found
  // Where a variable is wrong, the rest follows from it.
  if (rollcall.kind === 'other-target') return [remedy('name-target')]
  const all = [
    ...(desired.kind === 'unreadable' ? [remedy(forRow(desired.reason))] : []),
    ...forService(found),
    ...forResult(found),
    ...forChat(found),
  ]
  const waits = Map.groupBy(all, (each) => each.do)
  return [...waits].map(([name, same]) =>
    remedy(name, Math.max(...same.map(({ waitMs }) => waitMs ?? 0)) || null),
  )
}

function remedy(name: RemedyName, waitMs: number | null = null): Remedy {
  return { do: name, waitMs }
}

function forRow({ code, error }: Reason): RemedyName {
  if (code === 'unwatched') return 'install-capture'
  return isTimeout(error) ? 'try-later' : 'make-readable'
}

function forResult(found: Found): Remedy[] {
  const { result, rollcall, leftOut, desired, calls, service, unwatched } = found
  const known = rollcall.kind === 'known'
  const capture = known && unwatched.length > 0 ? [remedy('install-capture')] : []
  if (result === 'blocked') {
    // Where nothing captures the corrected row, or no worker has this mapping, that alone would not do.
    const mapping = known && !rollcall.applied ? [remedy('apply-mapping')] : []
    return [remedy('correct'), ...mapping, ...capture]
  }
  if (rollcall.kind === 'not-migrated' && (result === 'differs' || result === 'unknown'))
    return [remedy('migrate')]
  if (known && (calls || result === 'differs')) {
    const isLost = desired.kind !== 'user' || !entitled(desired.status)
    if (rollcall.truncated && isLost) return [remedy('restore-rows')]
    if (!rollcall.applied) return [remedy('apply-mapping')]
  }
  // With --no-call the records alone tell of a difference.
  const differs = result === 'differs' || (calls && 'why' in service && service.why === 'not-wanted')
  if (!differs) return leftOut.some(({ code }) => code !== 'taken') ? [remedy('correct')] : []
  return [forRecord(found), ...capture]
}

function forRecord({ rollcall, service, consistencyDelayMs }: Found): Remedy {
  const history = historyOf(rollcall)
  if (history === null) return remedy('sync')
  const { state, owed } = history
  if (owed) return remedy(isOverdue(history) ? 'start-worker' : 'wait')
  if (service.kind !== 'not-asked' && isJustWritten(history, consistencyDelayMs))
    return remedy('shown-late', consistencyDelayMs - Math.abs(history.writtenAgoMs ?? 0))
  if (state === 'rejected') return remedy('correct')
  return remedy(state === 'held' || state === 'discarded' ? 'decide' : 'sync')
}

type Silence = Extract<RemoteView | Chat, { readonly why: string }>['why']

/** A service that fails may be well again soon; what redirects, or knows no such path, is another server. */
const AFTER_SILENCE: Readonly<Record<Silence, RemedyName | null>> = {
  'no-user-id': null,
  'not-wanted': null,
  'no-token': null,
  demo: null,
  'no-permit': 'try-later',
  outage: 'try-later',
  credentials: 'check-keys',
  'gave-up': 'check-address',
  denied: 'check-keys',
  busy: 'try-later',
  trouble: 'try-later',
  error: 'try-later',
  unreached: 'check-address',
  refused: 'check-address',
  unreadable: 'check-address',
}

/** A server that says when to come again is the service. */
function afterSilence(name: RemedyName | null, waitMs: number | null = null): Remedy[] {
  if (name === null) return []
  if (name === 'try-later' || (name === 'check-address' && waitMs !== null))
    return [remedy('try-later', waitMs)]
  return [remedy(name)]
}

function forService({ service, result }: Found): Remedy[] {
  if (service.kind === 'absent') return []
  if (service.kind === 'present')
    return isStatus(service.status) || result === 'differs' ? [] : [remedy('ask-provider')]
  if (service.kind === 'no-answer' && service.error === 'bad-user-id') return [remedy('correct')]
  return afterSilence(AFTER_SILENCE[service.why], service.waitMs)
}

function forChat({ answer, chat, service }: Found): Remedy[] {
  const lets = service.kind === 'present' && entitled(service.status)
  switch (answer.kind) {
    case 'not-asked':
      return afterSilence(AFTER_SILENCE[answer.why], answer.waitMs)
    case 'answered':
    case 'shut':
      if (!lets || chat === 'nothing') return []
      if (chat === 'none-visible') return [remedy('ask-about-group')]
      return [remedy(answer.kind === 'answered' ? 'check-address' : 'ask-about-chat')]
    case 'refused':
      return [remedy('check-token')]
    case 'no-answer': {
      const passes = answer.http !== null && (answer.http >= 500 || answer.http === 429)
      return afterSilence(passes ? 'try-later' : 'check-address', answer.waitMs)
    }
    default:
      return answer satisfies never
  }
}
