import { isOverdue } from '../explain/records.ts'
import type { Failing, Failures, IssueGroup, ReasonGroup, Selector, Waiting } from '../ledger/failures.ts'
import type { History } from '../ledger/history.ts'
import type { Overview } from '../ledger/overview.ts'
import type { Retried } from '../ledger/retry.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type NamedService, renderService } from '../model/service.ts'
import { counted, figure } from '../report/figures.ts'
import { noRecord } from './named.ts'
import {
  applying,
  columns,
  details,
  few,
  hanging,
  type Labelled,
  more,
  renderCounts,
  renderIn,
  shown,
  span,
} from './render.ts'
import { adviseIssues, renderStored, toDoOf, whenOverdue } from './render-history.ts'
import { type Advice, issueName, reasonName, renderIssue, renderReason, together } from './render-reason.ts'

export function adviseGroups({ reasons, issues, ...found }: Failures, target: NamedService | null) {
  return {
    ...found,
    target,
    reasons: reasons.map((group) => ({ reason: reasonName(group), ...group, ...renderReason(group, group) })),
    issues: together(issues).map((group) => ({ reason: issueName(group), ...group, ...renderIssue(group) })),
  }
}

export function renderReasons(reasons: Overview['reasons']): Labelled {
  const render = (one: Overview['reasons'][number]) =>
    `${figure(one.customers)} × ${reasonName(one)}: ${renderReason(one, one).what}`
  const stopped = reasons.filter(({ code }) => code !== 'held')
  const byState = Object.entries(Object.groupBy(stopped, ({ state }) => state)).toSorted()
  return Object.fromEntries(byState.map(([state, all]) => [state, all.map(render)]))
}

const MORE = [
  '`rollcall failures --reason REASON` lists the customers with this reason.',
  '`rollcall failures KEY` shows one customer with its history.',
  'With --retry, each of these commands retries its customers now.',
]

/** By reason, each with what it takes; the totals come last, where the eye of a person who scrolls ends. */
export function renderGroups(groups: ReturnType<typeof adviseGroups>): string[] {
  const { origin, target, customers, reasons, issues } = groups
  const named = target ? renderService(target) : origin
  const about = named === null ? [] : [`customers at ${shown(named)}`]
  if (reasons.length === 0 && issues.length === 0)
    return [...about, 'no customer is rejected or failing, and no field is left out']
  // The issues that block are the mapping's reasons, in detail: each customer is listed once.
  const explained = issues.some(({ blocks }) => blocks)
  const others = reasons.filter(({ code }) => !explained || code !== 'mapping')
  const { rejected, failing, leftOut } = customers
  const totals = renderCounts({ rejected, failing, 'with a field left out': leftOut })
  return [
    ...about,
    '',
    ...others.flatMap((group) => renderGroup(group.state, withWorker(group), renderWaiting(group))),
    ...issues.flatMap((group) => {
      const several =
        group.fields.length > 1 ? ` (and ${counted(group.fields.length - 1, 'more field')})` : ''
      if (!group.blocks) return renderGroup('left out', { ...group, reason: `${group.reason}${several}` }, {})
      const reason = `mapping (detail: ${group.reason})`
      const waiting = renderWaiting({ ...group, state: 'rejected' })
      return renderGroup('rejected', withWorker({ ...group, reason }), waiting)
    }),
    `total (each customer once): ${totals}`,
    ...MORE,
  ]
}

type Group = Advice & Pick<IssueGroup, 'customers' | 'example'> & { readonly reason: string }

function renderGroup(head: string, { customers, reason, example, what, toDo }: Group, waiting: Labelled) {
  return [
    ...hanging('', `${head}: ${counted(customers, 'customer')}, reason ${reason}`),
    ...details({
      why: what,
      ...waiting,
      [customers === 1 ? 'customer' : 'example']: example,
      'to do': toDo,
    }),
    '',
  ]
}

function renderWaiting(
  group: Waiting & Pick<ReasonGroup, 'customers' | 'state'> & { readonly code?: string },
): Labelled {
  const { sinceMs, customers, nextInMs, underWay, state, code } = group
  const since = sinceMs !== null && `${span(sinceMs)}${customers === 1 ? '' : ' (the longest)'}`
  const row = code === 'shared-user-id' ? 'one of the rows' : 'the row'
  const retried =
    state === 'rejected' ? `an attempt when ${row} or the mapping changes` : 'no attempt is planned'
  const next = nextInMs === null ? retried : renderDue(nextInMs)
  return { for: since, next: underWay ? 'an attempt is under way' : next }
}

function renderDue(inMs: number): string {
  if (isLate({ nextInMs: inMs, underWay: false })) return `an attempt has been due for ${span(-inMs)}`
  return `an attempt ${inMs > 0 ? renderIn(inMs) : 'is due now'}`
}

function withWorker<G extends Group & Waiting>(group: G): G {
  return isLate(group) ? { ...group, toDo: whenOverdue(group.toDo) } : group
}

function isLate({ nextInMs, underWay }: Pick<Waiting, 'nextInMs' | 'underWay'>): boolean {
  return nextInMs !== null && !underWay && isOverdue({ overdueMs: -nextInMs, capturedMs: null })
}

export function renderFailing(
  { customers, total }: { customers: readonly Failing[]; total: number },
  selector: Selector,
): readonly string[] {
  if (total === 0) return ['no customer has this reason']
  const rows = customers.map((each) => [
    each.key,
    each.state === 'idle' ? 'left out' : each.state,
    each.sinceMs === null ? '' : span(each.sinceMs),
    each.state === 'rejected' ? '' : String(each.attempts),
    renderNextAttempt(each),
    few(namesOf(each, selector)),
  ])
  const last =
    selector.kind !== 'issue' && customers.some(({ reason }) => reason?.keys?.length) ? 'SAME USER' : 'FIELDS'
  return [
    ...columns([['CUSTOMER', 'STATE', 'FOR', 'ATTEMPTS', 'NEXT', last], ...rows]),
    ...more(customers.length, total),
  ]
}

function renderNextAttempt({ nextInMs, underWay }: Failing): string {
  if (underWay) return 'under way'
  return nextInMs === null ? '-' : renderIn(nextInMs)
}

/** Fields of the issues or of the reason, and customers with the same user_id. */
function namesOf({ reason, issues }: Failing, { kind }: Selector): readonly string[] {
  if (kind === 'issue') return [...new Set(issues.map(({ field }) => field))]
  return [...new Set<string>([...(reason?.named ?? reason?.fields ?? []), ...(reason?.keys ?? [])])]
}

/** Why a customer is not as it should be, and what to do: its reason first, then its issues. */
export function adviseOn(history: History): Advice[] {
  if (history === null) return []
  const { released, reason } = history
  const state = released ? 'released' : history.state
  const toDo = toDoOf(history)
  const why = reason && { ...renderReason(reason, { state }), ...(toDo === undefined ? {} : { toDo }) }
  return [...(why === null ? [] : [why]), ...adviseIssues(history)]
}

export type Advised = {
  readonly key: CustomerKey
  readonly history: History
  readonly advice: readonly Advice[]
}

export function renderHistories(found: readonly Pick<Advised, 'key' | 'history'>[]): string[] {
  return found.flatMap(({ key, history }, index) => {
    const reason = history?.reason
    const list = reason?.kinds?.[0]
      ? `held --kind ${reason.kinds[0]}`
      : reason && `failures --reason ${reasonName(reason)}`
    const others =
      list && `\`rollcall ${list}\` lists customers with this ${reason?.kinds?.[0] ? 'kind' : 'reason'}`
    return [
      ...(index > 0 ? [''] : []),
      ...renderStored(history, key),
      ...(others ? ['', ...details({ others })] : []),
    ]
  })
}

export function renderRetried({ customers, underWay, waiting, unheardOf }: Retried): string[] {
  return applying([
    customers === 0
      ? 'there is no customer to retry'
      : `${counted(customers, 'customer')} to retry: workers do this within the rate limit`,
    waiting > 0 &&
      `${waiting} of them after a short wait, because an earlier call may still arrive at the service`,
    underWay > 0 &&
      `${underWay} of them ${underWay === 1 ? 'is' : 'are'} being synced now. If that sync still leaves out a refused field, run --retry again`,
    ...unheardOf.map(noRecord),
  ]).flatMap((line) => hanging('', line))
}
