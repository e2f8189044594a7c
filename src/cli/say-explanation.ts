// An explanation in words: codes, statuses, names and times, never a field's value.

import type { DriftVerdict } from '../drift/words.ts'
import type { Explanation } from '../explain/explain.ts'
import type { FieldRow } from '../explain/fields.ts'
import type { AccessVerdict, Desired, Remedy } from '../explain/judge.ts'
import { isOverdue, type Records } from '../explain/records.ts'
import type { RemoteView } from '../explain/remote.ts'
import type { History } from '../ledger/history.ts'
import type { Reason } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Plan } from '../sync/plan.ts'
import { span, wrapped } from './render.ts'
import { sayCallError, sayPlan } from './say-step.ts'

const STATUS: Readonly<Record<number, string>> = { 0: 'no access', 2: 'full access', 4: 'trial' }

function sayStatus(status: number): string {
  return `${status} (${STATUS[status] ?? 'not a status of the interface'})`
}

/** Whom a sync leaves alone, nothing is asked for: then "no access" would contradict a verdict of yes. */
export function sayDesired(desired: Desired, leftAlone: boolean): string {
  const wish = leftAlone ? 'left as it is' : 'no access'
  switch (desired.kind) {
    case 'user':
      return sayStatus(desired.status)
    case 'removed':
      return `${wish}: there is no such row`
    case 'out-of-scope':
      return `${wish}: out of scope`
    case 'rejected':
      return `cannot be mapped: ${desired.issues
        .map(({ field, code, expected }) => `${field} (${code}), expected ${expected}`)
        .join('; ')}`
    case 'unreadable':
      if (desired.misfits.length > 0) return `not known: ${desired.misfits.join('; ')}`
      return desired.code === '57014' || desired.code === '55P03'
        ? 'not known: the row could not be read within ten seconds (a lock?)'
        : `not known: Postgres refuses to read the row (${desired.code})`
    default:
      return desired satisfies never
  }
}

export function sayRemote(remote: RemoteView): string {
  switch (remote.kind) {
    case 'present':
      return sayStatus(remote.status)
    case 'absent':
      return remote.http === 200
        ? 'knows no such user (200, null)'
        : `knows no such user (${remote.http}${remote.json ? '' : ', no JSON: is SERVICE_URL right?'})`
    case 'not-asked':
      return NOT_ASKED[remote.why]
    case 'no-answer':
      return saySilence(remote)
    default:
      return remote satisfies never
  }
}

const NOT_ASKED: Readonly<Record<Extract<RemoteView, { kind: 'not-asked' }>['why'], string>> = {
  'no-user-id': 'not asked: there is no user_id to ask for',
  'no-permit': 'not asked: the common pace gave no permit within ten seconds',
  'gave-up': 'not asked: the service does not answer',
  'not-wanted': 'not asked (--no-call)',
}

function saySilence({ why, http, error }: Extract<RemoteView, { kind: 'no-answer' }>): string {
  if (error !== null) return sayCallError(error)
  if (why === 'denied')
    return http === 401
      ? 'refused the credentials (401)'
      : `refused (${http}): these credentials may not see this user, or no user at all`
  if (why === 'busy') return `asks to be called later (${http})`
  const instead =
    why === 'error' ? ' with an error' : why === 'unreadable' ? ' with something else than this user' : ''
  return `answered ${http}${instead}, which says nothing about the user`
}

const WITHOUT: Readonly<Record<Exclude<Records['kind'], 'known' | 'other-target'>, string>> = {
  'not-migrated': 'its tables are not there, or of another version: what is owed is not known',
  'no-right': 'this role may not read its tables: what is owed is not known',
  locked: 'its tables gave no answer within ten seconds (a lock?): what is owed is not known',
}

/** What rollcall's own tables say, in one line. */
export function sayRecords(records: Records): string {
  if (records.kind === 'other-target')
    return `its records are about another target: ${records.differences.join('; ')}`
  if (records.kind !== 'known') return WITHOUT[records.kind]
  const { history } = records
  if (history === null) return 'has no record of this customer, and owes nothing'
  const { state, reason, unknown, outboxSearched } = history
  return [
    sayOwed(history),
    ...(state === 'idle' ? [] : [`${state}${sayReason(reason)}`]),
    ...(unknown ? ['the state at the service counts as unknown'] : []),
    ...(outboxSearched ? [] : ['the outbox is too large to look for newer changes']),
  ].join('; ')
}

function sayOwed(history: NonNullable<History>): string {
  const { capturedMs, overdueMs, owedSinceMs, writtenAgoMs, underWay } = history
  if (capturedMs !== null)
    return `owed: a change was captured ${span(capturedMs)} ago, and no worker has noted it`
  if (overdueMs === null)
    return `nothing owed${writtenAgoMs === null ? '' : `, last written ${span(writtenAgoMs)} ago`}`
  const since = owedSinceMs === null ? 'owed' : `owed for ${span(owedSinceMs)}`
  if (isOverdue(history)) return `${since}, due for ${span(overdueMs)} and not taken`
  if (underWay) return `${since}, under way`
  return overdueMs < 0 ? `${since}, next attempt in ${span(-overdueMs)}` : `${since}, due now`
}

function sayReason(reason: Reason | null): string {
  if (reason === null) return ''
  const { code, status, error, fields = [], keys = [] } = reason
  const about = [...fields, ...keys].join(', ')
  return ` (${[code, status, error].filter(Boolean).join(' ')}${about === '' ? '' : `: ${about}`})`
}

/** Whether a customer ever was in scope, only rollcall's own records tell. */
export function sayLeftAlone(plan: Plan | null, records: Records): string[] {
  if (plan?.kind !== 'none') return []
  switch (plan.why) {
    case 'never-ours': {
      const known = records.kind === 'known' ? '' : ', as far as is known'
      return wrapped('note', `rollcall leaves this user alone: the customer was never in scope${known}`)
    }
    case 'ignored':
      return wrapped('note', 'rollcall leaves this user alone: onRemove is "ignore"')
    case 'user-of-another-customer':
      return wrapped('note', 'rollcall leaves this user alone: another customer in scope is this user')
    case 'without-access':
      return wrapped('note', 'no user is registered without access: createWithoutAccess is false')
    case 'right':
    case 'no-access-left':
    case 'erased':
      return []
    default:
      return plan satisfies never
  }
}

export function sayWhatDiffers({ comparison, remote, desired, result }: Explanation): string[] {
  if (result !== 'differs' || !comparison?.drift) return []
  return wrapped('differs', sayDifference(comparison.drift, { remote, desired }))
}

function sayDifference(
  { kind, fields }: DriftVerdict,
  { remote, desired }: Pick<Explanation, 'remote' | 'desired'>,
): string {
  if (kind === 'missing') return 'it should be registered'
  if (kind === 'unexpected-access') return 'it has access and should have none'
  if (desired.kind !== 'user')
    return `it has no access, and these fields are not erased: ${fields.join(', ')}`
  const is = remote.kind === 'present' ? remote.status : ''
  const others = fields.filter((field) => field !== 'status')
  const groups = others.includes('ml_group_name')
    ? ' (ml_group_name decides which professionals are seen)'
    : ''
  return [
    ...(fields.includes('status') ? [`status is ${is}, should be ${desired.status}`] : []),
    ...(others.length > 0 ? [`not as in the customer data: ${others.join(', ')}${groups}`] : []),
  ].join('; ')
}

/** What a sync would do by what is remembered, and what it would once it has looked, where that is another thing. */
export function sayPlans({ desired, plan, planAfterLookup: after, records, result }: Explanation): string {
  if (result === 'blocked') return 'nothing is sent as long as the customer is so'
  if (desired.kind === 'unreadable') return 'nothing is sent as long as the row cannot be read'
  if (plan === null)
    return records.kind === 'known'
      ? 'not known: the records were made with another ROLLCALL_DIGEST_KEY than this one, or none is set here'
      : 'not known: no records of this target can be read'
  const now = sayPlan(plan)
  if (after === null || sayPlan(after) === now) return now
  if (plan.kind === 'lookup') return `${now}; then: ${sayPlan(after)}`
  const said = plan.kind === 'none' ? 'nothing to send, as far as rollcall remembers' : now
  return `${said}; with --look: ${sayPlan(after)}`
}

export function sayResult({ result, desired, remote, comparison }: Explanation): string {
  switch (result) {
    case 'unknown':
      if (desired.kind === 'unreadable') return 'unknown: the row could not be read'
      return remote.kind === 'not-asked'
        ? 'unknown: the service was not asked'
        : 'unknown: the service did not say'
    case 'left-alone':
      return 'same: nothing is asked for'
    case 'blocked':
      return 'blocked: the customer cannot be sent as it is'
    case 'same':
      return `same: ${remote.kind === 'absent' ? 'no such user, and none is wanted' : sayNothingDiffers(comparison?.fields ?? [])}`
    case 'differs': {
      const { drift = null } = comparison ?? {}
      if (drift?.kind === 'missing') return 'differs: not registered at the service'
      if (drift?.kind === 'unexpected-access') return 'differs: status'
      return `differs: ${drift?.fields.join(', ') ?? ''}`
    }
    default:
      return result satisfies never
  }
}

function sayNothingDiffers(fields: readonly FieldRow[]): string {
  const ended = fields.some(({ state }) => state === 'trial-ended') ? '; the trial has ended' : ''
  const unseen = fields.filter(({ state }) => state === 'not-shown').map(({ field }) => field)
  return `nothing differs${ended}${unseen.length === 0 ? '' : `; no GET shows ${unseen.join(', ')}`}`
}

const ACCESS: Readonly<Record<AccessVerdict['why'], string>> = {
  full: 'full access',
  trial: 'trial',
  'no-such-customer': 'no such customer (neither your data nor the service knows it; a mistyped key?)',
  'not-registered': 'not registered at the service',
  'no-access': 'registered, but without access',
  'trial-ended': 'the trial has ended; it is not granted again by itself',
  'no-user-id': 'without a user_id it cannot be registered',
  'chat-shut': 'access by its status, but the chat does not let it in (403)',
  'nobody-visible':
    'access by its status, but it sees none of the professionals (ml_group_name decides who is seen)',
  'no-answer': 'the service did not say',
  'strange-status': 'the service shows a status that the interface does not have',
  'chat-silent': 'access by its status, but what the chat answers says nothing certain of this user',
}

export function sayAccess({ access, claimants, remote }: Explanation): string {
  const one = claimants.length === 1 ? 'customer' : 'customers'
  const shared =
    remote.kind === 'present' && claimants.length > 0
      ? `; this may be the access of the other ${one} with this user_id: ${claimants.join(', ')}`
      : ''
  if (access.why === 'trial')
    return `yes, trial: when it ends, the service does not show; the chat tells, asked with the user's token${shared}`
  if (access.why === 'no-answer') return `unknown: the service ${saySaidNothing(remote)}`
  return `${access.can}: ${ACCESS[access.why]}${shared}`
}

function saySaidNothing(remote: RemoteView): string {
  if (remote.kind === 'no-answer' && remote.error !== null) return 'did not answer'
  return remote.kind === 'not-asked' ? 'was not asked' : sayRemote(remote)
}

/** A sync that looks first puts right whatever differs, also what rollcall remembers wrongly. */
export function sayRemedy(
  { do: deed, waitMs }: Remedy,
  { key, desired, result, remote, leftOut }: Explanation,
): string {
  const sync = `\`rollcall sync ${quoted(key)} --look${desired.kind === 'removed' ? ' --removed' : ''}\``
  const later = waitMs === null ? 'try again later' : `try again in ${span(waitMs)}`
  switch (deed) {
    case 'sync':
      return sync
    case 'wait':
      return `wait, it is owed; ${sync} tries at once`
    case 'start-worker':
      return `does \`rollcall worker\` run? ${sync} does this customer`
    case 'correct': {
      const fields = leftOut.map(({ field }) => field).join(', ')
      return `correct ${fields === '' ? 'the row or the mapping' : `${fields} in the row, or the mapping`}, then ${sync}`
    }
    case 'decide':
      return `it is held: decide with \`rollcall held ${quoted(key)}\``
    case 'install-capture':
      return `\`rollcall capture install\` once the rows are back, then ${sync}`
    case 'migrate':
      return `\`rollcall migrate\`, then ${sync}`
    case 'name-target':
      return `correct the variable that is wrong; if none is, \`rollcall migrate --target same|new\` says what the target is${result === 'differs' ? `; then ${sync}` : ''}`
    case 'check-keys':
      return remote.kind === 'no-answer' && remote.http === 403
        ? 'check SERVICE_API_KEY and SERVICE_SECRET_KEY; if other customers are answered, ask the provider of the service about this user'
        : 'check SERVICE_API_KEY and SERVICE_SECRET_KEY, and that they belong to SERVICE_URL'
    case 'check-address':
      return 'check SERVICE_URL; if it is right, the service is away: try again later'
    case 'try-later':
      return remote.kind === 'not-asked' ? `${later}; \`rollcall pace\` tells why` : later
    case 'ask-provider':
      return 'ask the provider of the service why this user is shown or treated so (status, ml_group_name, end of a trial); check first that the token is of this customer'
    case 'check-token':
      return 'check that the token is not expired, and that it belongs to SERVICE_URL and SERVICE_API_KEY; a new log-in gives a new one'
    default:
      return deed satisfies never
  }
}

/** As a shell takes it. */
function quoted(key: CustomerKey): string {
  return /^[\w.@:+-]+$/.test(key) && !key.startsWith('-') ? key : `'${key.replaceAll("'", `'\\''`)}'`
}
