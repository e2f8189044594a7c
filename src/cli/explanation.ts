// One customer for a person, in sections; every view is a choice of them. Codes, statuses, names and times; values of
// fields only where they were asked for.
import type { Chat } from '../explain/chat.ts'
import type { Explanation } from '../explain/explain.ts'
import type { FieldCause, FieldRow } from '../explain/fields.ts'
import { isTimeout } from '../explain/in-time.ts'
import { historyOf, type Records } from '../explain/records.ts'
import type { RemoteView } from '../explain/remote.ts'
import type { Result } from '../explain/result.ts'
import { MAPPING_INACTIVE, NO_DIGEST_KEY, REMEDIES, type Remedy, VERDICTS } from '../explain/verdicts.ts'
import { CAUSE } from '../report/words.ts'
import { renderMark } from './attention.ts'
import { byKind, columns, details, type Labelled, renderValue, shellQuoted, span } from './render.ts'
import { REMOTE, renderCause, renderHistory, renderStanding, toDoOf, withKey } from './render-history.ts'
import { renderNext, renderNextCalls, renderWaiting } from './render-next.ts'
import { type Advice, renderCallError, renderIssue, renderReason, together, WAIT } from './render-reason.ts'
import { NOTHING_TO_SEND, renderMapped } from './render-step.ts'

export type View = 'all' | 'access' | 'dry-run'

export function renderOne(one: Explanation, view: View, chat: readonly string[]): string[] {
  if (view === 'dry-run') return renderDryRun(one)
  const result = (view !== 'access' || one.result === 'differs') && renderResult(one)
  const can = { access: renderAccess(one) }
  // The first line answers the question of the command.
  const answers = view === 'access' ? { ...can, result } : { result, ...can }
  const verdict = details({ ...answers, 'to do': renderToDo(one) })
  const access = [...verdict, '', ...details(renderFacts(one)), ...chat]
  if (view === 'access') return access
  const history = historyOf(one.rollcall)
  return [
    ...access,
    ...details({ next: renderNext(one) }),
    ...renderFields(one),
    ...(history ? renderHistory(history, one.key) : []),
  ]
}

function renderFacts(one: Explanation): Labelled {
  const { userId, leftOut, claimants, service, rollcall, plan } = one
  const history = historyOf(rollcall)
  // Then the result or another note says so.
  const isSharing =
    (plan?.kind === 'reject' && plan.code === 'shared-user-id') ||
    (plan?.kind === 'none' && plan.why === 'user-of-another-customer')
  return {
    user: userId ?? 'none: the mapping gives no valid user_id',
    desired: renderDesired(one),
    'left out': renderLeftOut(leftOut),
    service: `${renderRemote(service)}${history && service.kind === 'not-asked' ? `; ${REMOTE[history.remote]}` : ''}`,
    ...(history ? renderStanding(history) : { sync: renderRecords(rollcall) }),
    note: [
      claimants.length > 0 && !isSharing && `customer ${claimants.join(', customer ')} has the same user_id`,
      renderLeftAlone(one),
    ],
  }
}

function renderToDo(one: Explanation) {
  const history = historyOf(one.rollcall)
  // The GET shows all desired values: advice on how to end the refusal would be too late.
  if (one.access.why === 'no-such-customer' && one.remedies.length === 0) return []
  const isOver = one.result === 'same' && history?.state === 'failing' && history.reason?.code === 'refused'
  if (one.remedies.length === 0 && history) return [isOver ? WAIT : withKey(toDoOf(history) ?? '', one.key)]
  return one.remedies.map((remedy) => renderRemedy(remedy, one))
}

const AS_IF_NEW = 'planned as if nothing had been sent before'

function renderDryRun(one: Explanation): string[] {
  const { mapped, plan, leftOut, withoutLedger } = one
  if (mapped === null || plan === null) return details({ row: renderDesired(one), 'to do': renderToDo(one) })
  const planned = renderWaiting(one, plan, renderNextCalls(plan, one))
  const inactive = plan.kind === 'none' && one.rollcall.kind === 'known' && !one.rollcall.applied
  const why = one.rollcall.kind === 'known' ? NO_DIGEST_KEY : renderRecords(one.rollcall)
  const notes = [
    withoutLedger && `${AS_IF_NEW}: ${why.replace('not known: ', '')}`,
    inactive && MAPPING_INACTIVE,
  ]
  const byService = leftOut.filter(({ code }) => code === 'refused' || code === 'taken')
  return [
    ...renderMapped(mapped),
    ...details({ 'left out': renderLeftOut(byService), plan: planned, note: notes }),
  ]
}

function renderLeftOut(issues: Explanation['leftOut']): string[] {
  return together(issues).map((issue) => renderIssue({ ...issue, blocks: false }).what)
}

const WHY: Record<string, string> = { spelling: 'in another form', 'trial-ended': 'not restarted' }
const HEAD = ['  field', 'desired', 'service', 'state', 'why']

export function renderFields({ drift, fields, remedies }: Explanation): string[] {
  const isLate = remedies.some((each) => each.do === 'shown-late')
  const missing = drift?.kind === 'missing' && !isLate && drift.cause
  if (fields.length === 0)
    return details({ cause: missing && `${renderCause(missing)}: ${CAUSE[missing].means}` })
  const cells = fields.map(({ field, here, service, state, cause, issue }) => [
    `  ${field}`,
    here === 'unmanaged' ? '–' : here,
    service === 'not-shown' ? '–' : service,
    state === 'spelling' ? 'same' : state.replace('-', ' '),
    issue ?? (cause ? renderFieldCause(cause) : (WHY[state] ?? '')),
  ])
  const values = renderValues(fields)
  return ['', ...columns([HEAD, ...cells]), ...(values.length > 0 ? ['', ...values] : []), '']
}

function renderFieldCause(cause: FieldCause): string {
  if (cause === 'changed-here') return 'row or mapping changed'
  if (cause === 'just-written') return 'written a moment ago'
  return renderCause(cause)
}

function renderValues(fields: readonly FieldRow[]): string[] {
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  return fields.flatMap(({ field, service: shows, state, values }) => {
    const { here = null, service = null } = values ?? {}
    if (here === null && service === null) return []
    const value =
      state === 'spelling' ? `${renderValue(service)} (the same in another form)` : renderValue(service)
    const seen = shows === 'not-shown' ? 'not shown' : value
    const name = `  ${field.padEnd(width)}  `
    if (renderValue(here) === seen) return [`${name}both     ${seen}`]
    return [`${name}desired  ${renderValue(here)}`, `${' '.repeat(name.length)}service  ${seen}`]
  })
}

const STATUS: Readonly<Record<number, string>> = { 0: 'no access', 2: 'full access', 4: 'trial' }

function renderUserStatus(status: number): string {
  return `${status} (${STATUS[status] ?? 'not a known status'})`
}

/** Where a sync leaves the customer alone, nothing is asked for: "no access" would contradict a verdict of yes. */
function renderDesired({ desired, result }: Pick<Explanation, 'desired' | 'result'>): string {
  const wish = result === 'left-alone' ? 'the user is left as it is' : 'no access'
  return byKind(desired, {
    user: ({ status }) => renderUserStatus(status),
    removed: () => `${wish}: your data has no row with this key`,
    'out-of-scope': () => `${wish}: out of scope`,
    rejected: ({ issues }) =>
      `cannot be mapped: ${issues
        .map(({ field, code, expected }) => `${field} (${code}), expected ${expected}`)
        .join('; ')}`,
    unreadable: ({ reason }) =>
      `not known: ${isTimeout(reason.error) ? 'the row could not be read within ten seconds (a lock?)' : renderReason(reason).what}`,
  })
}

export const NOT_ASKED: Readonly<Record<Extract<RemoteView | Chat, { kind: 'not-asked' }>['why'], string>> = {
  'no-user-id': 'there is no user_id to ask for',
  'no-permit': 'this command waited ten seconds, but no call was allowed (rate limit, or Retry-After)',
  outage: 'all calls are stopped, because the service fails',
  credentials: 'the service refuses the credentials of the workers',
  'gave-up': 'the service did not answer the calls before this one',
  'not-wanted': '--no-call',
  'no-token': 'that needs an access token of the user (--token-file)',
  demo: 'a token is not sent to the demo service',
}

function renderRemote(service: RemoteView): string {
  return byKind(service, {
    present: ({ status }) => renderUserStatus(status),
    absent: ({ http, json }) => {
      const hint = json ? '' : ', no JSON: is SERVICE_URL correct?'
      return `knows no such user (${http}${http === 200 ? ', null' : hint})`
    },
    'not-asked': ({ why }) => `not asked: ${NOT_ASKED[why]}`,
    'no-answer': renderSilence,
  })
}

function renderSilence({ why, http, error }: Extract<RemoteView, { kind: 'no-answer' }>): string {
  if (error !== null) return renderCallError(error)
  if (why === 'denied' && http === 401) return 'refused the credentials (401)'
  if (why === 'denied')
    return `refused SERVICE_API_KEY and SERVICE_SECRET_KEY (${http}), perhaps only for this user`
  const how = {
    error: ' with an error',
    unreadable: ', but not with this user',
    busy: ' and asks to call later',
  }
  return `answered ${http}${how[why as keyof typeof how] ?? ''}, so it is not known whether the user exists`
}

const WITHOUT: Readonly<Record<Exclude<Records['kind'], 'known' | 'other-target'>, string>> = {
  'not-migrated': "rollcall's tables are missing or of another version",
  'no-right': "the role of DATABASE_URL may not read rollcall's tables",
  locked: "rollcall's tables gave no answer within ten seconds (a lock?)",
}

function renderRecords(records: Records): string {
  if (records.kind === 'other-target')
    return `not known: rollcall's records are about another target (${records.differences.join('; ')})`
  if (records.kind === 'known') return 'not owed: rollcall has no record of this customer'
  return `not known: ${WITHOUT[records.kind]}`
}

/** Why rollcall sends nothing whatever the service has; null where it does. Only its records tell who was ever in scope. */
function renderLeftAlone({ result, plan, planAfterLookup, rollcall }: Explanation): string | null {
  const left = plan ?? planAfterLookup
  if (result !== 'left-alone' || left?.kind !== 'none' || left.why === 'right') return null
  const known = left.why === 'never-ours' && rollcall.kind !== 'known' ? ', as far as is known' : ''
  return `rollcall leaves this user alone: ${NOTHING_TO_SEND[left.why]}${known}`
}

function renderResult(one: Explanation): string | false {
  const { result, desired, drift } = one
  const said: Readonly<Record<Result, () => string | false>> = {
    unknown: () => {
      // Otherwise the service did not answer, which the line on access says.
      if (desired.kind !== 'unreadable') return false
      return `unknown: ${desired.reason.code === 'unwatched' ? 'the row is missing or gives no access, but a watched table lacks active triggers' : 'the row could not be read'}`
    },
    'left-alone': () => 'not compared: rollcall manages no user for this customer',
    blocked: () => `cannot be sent: ${renderBlocked(one).what}`,
    same: () => renderSame(one),
    differs: () => {
      if (drift?.kind === 'missing') return 'differs: not registered at the service'
      return `differs: ${drift?.kind === 'unexpected-access' ? 'status' : (drift?.fields.join(', ') ?? '')}`
    },
  }
  return said[result]()
}

/** By what the row makes now: a stored reason may be an older one. */
function renderBlocked({ plan, desired }: Explanation): Advice {
  const issues = desired.kind === 'rejected' ? desired.issues : []
  const twice = issues.find(({ code }) => code === 'several-rows')
  if (twice) return renderIssue({ ...twice, blocks: true })
  const fields = issues.map(({ field }) => field)
  return renderReason({ ...(plan?.kind === 'reject' ? plan : { code: 'mapping' }), fields })
}

function renderSame({ service, fields, planAfterLookup }: Explanation): string {
  const named = (wanted: FieldRow['state']) =>
    fields.flatMap(({ field, state }) => (state === wanted ? field : [])).join(', ')
  const [leftOut, unseen] = [named('left-out'), named('not-shown')]
  const except = [named('trial-ended') && 'status (the trial has ended)', leftOut && `${leftOut} (left out)`]
  const absent = service.kind === 'absent' && 'same: no such user, as desired'
  const excepted = except.filter(Boolean).join(', ')
  const erases =
    planAfterLookup?.kind === 'erase' &&
    'access is revoked, as desired. The personal fields of the removed customer are still to be cleared'
  return [
    absent || (excepted ? `same, apart from ${excepted}` : erases || 'same: no mapped field differs'),
    unseen && `. Not compared: ${unseen} (no GET shows it)`,
  ]
    .filter(Boolean)
    .join('')
}

export function renderAccess({ access, claimants, service, token }: Explanation): string {
  if (access.why === 'no-answer') return `unknown: the service ${renderSaidNothing(service)}`
  const shared = service.kind === 'present' && claimants.length > 0
  const others = `; the status may be that of customer ${claimants.join(' or customer ')}, which has the same user_id`
  const ended =
    '. The trial may have ended although the status is still 4. To find out, use --token-file with an access token of this user. rollcall then asks the chat of the service whether it lets this user in. That works only on production, or with a sandbox on this machine'
  const unsure = access.why === 'trial' && token !== 'this-user'
  return `${access.can}: ${VERDICTS[access.why].says}${shared ? others : ''}${unsure ? ended : ''}`
}

function renderSaidNothing(service: RemoteView): string {
  if (service.kind === 'not-asked') return 'was not asked'
  return service.kind === 'no-answer' && service.error !== null ? 'did not answer' : renderRemote(service)
}

export function renderRemedy({ do: name, waitMs }: Remedy, one: Explanation): string {
  const { leftOut, service, result, desired, rollcall } = one
  const key = shellQuoted(one.key)
  const removed = desired.kind === 'removed'
  const sync = `\`rollcall sync ${key} --lookup${removed ? ' --removed' : ''}\``
  const later = waitMs === null ? 'try again later' : `try again in ${span(waitMs)}`
  const history = historyOf(rollcall)
  // The reason says more than the difference.
  const isRetried = name === 'start-worker' || (name === 'try-later' && waitMs === null)
  const ofFailure = isRetried && history?.state === 'failing'
  const ofReason = result !== 'same' && (name === 'correct' || name === 'wait' || ofFailure)
  const reason = ofReason && history ? toDoOf(history) : undefined
  const said = reason && withKey(reason, one.key)
  if (name === 'correct' && result === 'blocked') return renderBlocked(one).toDo
  const facts = { sync, key, later, leftOut, removed, service, known: renderKnown(one) }
  if (said === undefined || said === WAIT)
    return REMEDIES[name]({ ...facts, state: history?.state, discarded: history?.discard?.kinds ?? [] })
  return name === 'wait' || name === 'start-worker' ? `${said}. To sync now, run ${sync}` : said
}

/** The remedy of what stands in the way of all others, as other commands say it. */
function renderKnown({ rollcall, desired }: Explanation): string {
  if (rollcall.kind === 'other-target') return rollcall.todo
  if (desired.kind === 'unreadable') return renderReason(desired.reason).toDo
  return rollcall.kind === 'known' && rollcall.truncated ? renderMark(rollcall.truncated) : ''
}
