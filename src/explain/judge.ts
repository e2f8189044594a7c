// What is to be said and done about one customer: decisions over typed facts alone.
import type { History } from '../ledger/history.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { entitled, STATUSES, type Status } from '../model/user.ts'
import type { Plan } from '../sync/plan.ts'
import type { Chat, ChatSays } from './chat.ts'
import type { Comparison } from './fields.ts'
import { isOverdue, isOwed, type Records, wasCustomer } from './records.ts'
import type { RemoteView } from './remote.ts'

/** What the customer should have. `unreadable`: the row could not be read; Postgres' error code, or in words why. */
export type Desired =
  | { readonly kind: 'user'; readonly status: Status }
  | { readonly kind: 'removed' | 'out-of-scope' }
  | { readonly kind: 'rejected'; readonly issues: readonly FieldIssue[] }
  | { readonly kind: 'unreadable'; readonly code: string; readonly misfits: readonly string[] }

/**
 * `left-alone`: nothing is asked for, whatever the service has. `blocked`: the customer cannot be sent as it is.
 * `unknown`: it could not be found out.
 */
export type Result = 'same' | 'differs' | 'left-alone' | 'blocked' | 'unknown'

type Compared = {
  readonly desired: Desired
  readonly remote: RemoteView
  /** By what is remembered, and once the service was looked at. */
  readonly plan: Plan
  readonly planAfterLookup: Plan | null
  readonly comparison: Comparison | null
}

export function resultOf({ desired, remote, plan, planAfterLookup, comparison }: Compared): Result {
  if (desired.kind === 'unreadable') return 'unknown'
  if (plan.kind === 'reject') return remote.kind === 'no-answer' ? 'unknown' : 'blocked'
  if (comparison === null) return isLeftAlone(plan) && remote.kind === 'not-asked' ? 'left-alone' : 'unknown'
  if (isLeftAlone(plan) || (planAfterLookup && isLeftAlone(planAfterLookup))) return 'left-alone'
  return comparison.drift === null || comparison.drift.kind === 'trial-ended' ? 'same' : 'differs'
}

/** Nothing is asked for, whatever the service has. */
export function isLeftAlone(plan: Plan): boolean {
  if (plan.kind !== 'none') return false
  return plan.why !== 'right' && plan.why !== 'no-access-left' && plan.why !== 'erased'
}

/** Whether the customer can use the service now, and why. */
export type AccessVerdict =
  | { readonly can: 'yes'; readonly why: 'full' | 'trial' }
  | {
      readonly can: 'no'
      readonly why:
        | 'no-such-customer'
        | 'not-registered'
        | 'no-access'
        | 'trial-ended'
        | 'no-user-id'
        | 'chat-shut'
        | 'nobody-visible'
    }
  | { readonly can: 'unknown'; readonly why: 'no-answer' | 'strange-status' | 'chat-silent' }

type Facts = {
  readonly desired: Desired
  readonly remote: RemoteView
  readonly records: Records
  readonly chat: ChatSays
}

/**
 * What the service says decides, whatever the customer should have: that is what the customer on the phone meets.
 * A GET that was not answered is no "no". The chat has the last word where it speaks about this very user, since a
 * service may go on showing a trial that is over; a token of which it is not known whose it is makes no certain "no".
 */
export function accessOf({ desired, remote, records, chat }: Facts): AccessVerdict {
  switch (remote.kind) {
    case 'present':
      return byStatus(remote.status, { desired, records, chat })
    case 'absent': {
      const known = desired.kind !== 'removed' || wasCustomer(historyOf(records))
      return { can: 'no', why: known ? 'not-registered' : 'no-such-customer' }
    }
    case 'not-asked':
      return remote.why === 'no-user-id'
        ? { can: 'no', why: 'no-user-id' }
        : { can: 'unknown', why: 'no-answer' }
    case 'no-answer':
      return { can: 'unknown', why: 'no-answer' }
    default:
      return remote satisfies never
  }
}

/** Section 2.6: 0 no access, 2 full access, 4 a trial. */
function byStatus(status: number, { desired, records, chat }: Omit<Facts, 'remote'>): AccessVerdict {
  if (status === 0) {
    // A customer who should have no access has lost no trial, even if it once had one.
    const wanted = desired.kind === 'user' && entitled(desired.status)
    const trial = wanted && historyOf(records)?.agreedStatus === 4
    return { can: 'no', why: trial ? 'trial-ended' : 'no-access' }
  }
  if (!isStatus(status)) return { can: 'unknown', why: 'strange-status' }
  switch (chat) {
    case 'shut':
      return { can: 'no', why: 'chat-shut' }
    case 'nobody':
      return { can: 'no', why: 'nobody-visible' }
    case 'shuts-somebody':
    case 'unreadable':
    case 'failed':
      return { can: 'unknown', why: 'chat-silent' }
    case 'silent':
    case 'answered':
      return { can: 'yes', why: status === 2 ? 'full' : 'trial' }
    default:
      return chat satisfies never
  }
}

function isStatus(status: number): boolean {
  return (STATUSES as readonly number[]).includes(status)
}

export function historyOf(records: Records): History {
  return records.kind === 'known' ? records.history : null
}

/** `waitMs`: before that there is no use in it; null when nobody said how long. */
export type Remedy = { readonly do: Deed; readonly waitMs: number | null }

export type Deed =
  /** It differs, and what rollcall remembers may say that nothing does: so a sync has to look. */
  | 'sync'
  /** It is owed, and the next attempt comes by itself. */
  | 'wait'
  /** It is owed and due, and nobody takes it. */
  | 'start-worker'
  /** The row or the mapping is wrong. */
  | 'correct'
  /** A person has to release or discard it. */
  | 'decide'
  /** A watched table has no triggers. */
  | 'install-capture'
  | 'migrate'
  | 'name-target'
  | 'check-keys'
  /** No answer came, or what answers is perhaps not the service. */
  | 'check-address'
  | 'try-later'
  /** The service shows a status that the interface does not have, or shuts out a user whose status gives access. */
  | 'ask-provider'
  /** The chat refused the token. */
  | 'check-token'

type Found = {
  readonly desired: Desired
  readonly remote: RemoteView
  readonly records: Records
  readonly result: Result
  readonly leftOut: readonly FieldIssue[]
  readonly chat: Chat
  readonly chatSays: ChatSays
  readonly consistencyDelayMs: number
}

/** None when there is nothing to do; each deed once, with the longest wait. */
export function remediesFor(found: Found): readonly Remedy[] {
  const { desired, records, remote } = found
  const strange = remote.kind === 'present' && !isStatus(remote.status)
  const all = [
    ...(records.kind === 'other-target' ? [remedy('name-target')] : []),
    ...(desired.kind === 'unreadable' && desired.code === 'TABLES_UNWATCHED'
      ? [remedy('install-capture')]
      : []),
    ...forRemote(remote),
    ...forResult(found),
    ...(strange && found.result !== 'differs' ? [remedy('ask-provider')] : []),
    ...forChat(found),
  ]
  const waits = Map.groupBy(all, (each) => each.do)
  return [...waits].map(([deed, same]) =>
    remedy(deed, Math.max(...same.map(({ waitMs }) => waitMs ?? 0)) || null),
  )
}

function remedy(deed: Deed, waitMs: number | null = null): Remedy {
  return { do: deed, waitMs }
}

function forResult({ result, records, leftOut, consistencyDelayMs }: Found): Remedy[] {
  const refused = leftOut.some(({ code }) => code === 'refused')
  if (result === 'blocked') return [remedy('correct')]
  if (result !== 'differs') return refused ? [remedy('correct')] : []
  switch (records.kind) {
    case 'not-migrated':
      return [remedy('migrate')]
    case 'other-target':
      return [] // named whether anything differs or not
    case 'no-right':
    case 'locked':
      return [remedy('sync')]
    case 'known':
      return [forHistory(records.history, consistencyDelayMs)]
    default:
      return records satisfies never
  }
}

function forHistory(history: History, consistencyDelayMs: number): Remedy {
  if (history === null) return remedy('sync')
  const { writtenAgoMs, state } = history
  if (isOwed(history)) return remedy(isOverdue(history) ? 'start-worker' : 'wait')
  // The service may show a write late.
  if (writtenAgoMs !== null && writtenAgoMs < consistencyDelayMs)
    return remedy('try-later', consistencyDelayMs - writtenAgoMs)
  if (state === 'rejected') return remedy('correct')
  return remedy(state === 'held' || state === 'discarded' ? 'decide' : 'sync')
}

function forRemote(remote: RemoteView): Remedy[] {
  switch (remote.kind) {
    case 'present':
    case 'absent':
      return []
    case 'not-asked':
      if (remote.why === 'no-permit') return [remedy('try-later', remote.waitMs)]
      return remote.why === 'gave-up' ? [remedy('check-address')] : []
    case 'no-answer':
      return [forSilence(remote)]
    default:
      return remote satisfies never
  }
}

/** A service that fails may be well again soon; what redirects, or knows no such path, is somebody else. */
function forSilence({ why, error, waitMs }: Extract<RemoteView, { kind: 'no-answer' }>): Remedy {
  if (error === 'bad-user-id') return remedy('correct')
  switch (why) {
    case 'denied':
      return remedy('check-keys')
    case 'busy':
    case 'trouble':
    case 'error':
      return remedy('try-later', waitMs)
    case 'unreached':
    case 'refused':
    case 'unreadable':
      return waitMs === null ? remedy('check-address') : remedy('try-later', waitMs)
    default:
      return why satisfies never
  }
}

function forChat({ chat, chatSays: says, remote }: Found): Remedy[] {
  const lets = remote.kind === 'present' && isStatus(remote.status) && entitled(remote.status as Status)
  switch (chat.kind) {
    case 'not-asked':
      if (chat.why === 'gave-up') return [remedy('check-address')]
      return chat.why === 'no-permit' ? [remedy('try-later', chat.waitMs ?? null)] : []
    case 'answered':
      if (!lets || (says !== 'nobody' && says !== 'unreadable')) return []
      return [remedy(says === 'nobody' ? 'ask-provider' : 'check-address')]
    case 'shut':
      return lets && says !== 'silent' ? [remedy('ask-provider')] : []
    case 'refused':
      return [remedy('check-token')]
    case 'no-answer': {
      const { http, waitMs } = chat
      const passes = waitMs !== null || (http !== null && (http >= 500 || http === 429))
      return [remedy(passes ? 'try-later' : 'check-address', waitMs)]
    }
    default:
      return chat satisfies never
  }
}
