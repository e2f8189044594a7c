import {
  type Failing,
  type Failures,
  type IssueGroup,
  REQUIRED,
  type ReasonGroup,
} from '../ledger/failures.ts'
import type { History } from '../ledger/history.ts'
import type { Retried } from '../ledger/retry.ts'
import type { Selector } from '../ledger/selector.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type NamedService, sayService } from '../model/service.ts'
import { counted } from '../report/figures.ts'
import { columns, few, shown, span, wrapped } from './render.ts'
import { renderStored } from './render-history.ts'
import { type Advice, type StoredReason, sayIssue, sayReason } from './say-reason.ts'

const NOBODY = 'nobody is rejected, nobody fails, and no field is left out'

/** By reason, each with what it takes; the totals come last, where the eye of whoever scrolls ends. */
export function sayFailures(
  { origin, customers, reasons, issues }: Failures,
  target: NamedService | null,
): string[] {
  const named = target ? sayService(target) : origin
  const about = named === null ? [] : [`customers at ${shown(named)}`]
  if (reasons.length === 0 && issues.length === 0) return [...about, NOBODY]
  const { rejected, failing, leftOut } = customers
  return [
    ...about,
    '',
    ...reasons.flatMap((group) => [...sayReasonGroup(group), '']),
    ...issues.flatMap((group) => [...sayIssueGroup(group), '']),
    `${rejected} rejected, ${failing} failing, ${leftOut} with a field left out`,
    ...MORE,
  ]
}

const MORE = [
  '`rollcall failures --reason REASON` lists who it is, `rollcall failures KEY`',
  'shows one with its history, and with --retry either is tried again now',
]

function sayReasonGroup(group: ReasonGroup): string[] {
  const { what, toDo } = sayGroup(group)
  return [
    `${group.state}: ${counted(group.customers, 'customer')}, reason ${failureName(group)}`,
    ...wrapped('why', what),
    ...wrapped('since', `${sinceOf(group)}; ${nextOf(group)}`),
    ...wrapped(group.customers === 1 ? 'customer' : 'example', group.example),
    ...wrapped('to do', toDo),
  ]
}

/** The words for a group, from what all of it has in common. */
export function sayGroup(group: ReasonGroup): Advice {
  const { code, status, error, fields, named, keys, misfits } = group
  const reason: StoredReason = {
    code,
    ...(status === null ? {} : { status }),
    ...(error === null ? {} : { error }),
    ...(fields === null ? {} : { fields }),
    ...(named === null ? {} : { named }),
    ...(keys === null ? {} : { keys }),
    ...(misfits === null ? {} : { misfits }),
  }
  return sayReason(reason, group)
}

function sayIssueGroup(group: IssueGroup): string[] {
  const { what, toDo } = sayIssue(group)
  return [
    `${group.blocks ? 'rejected for it' : 'left out'}: ${counted(group.customers, 'customer')}, reason ${issueName(group)}`,
    ...wrapped('why', what),
    ...wrapped(group.customers === 1 ? 'customer' : 'example', group.example),
    ...wrapped('to do', toDo),
  ]
}

/** As `--reason` takes it. */
export function failureName({ code, status, error }: Pick<ReasonGroup, 'code' | 'status' | 'error'>): string {
  const detail = status ?? error
  return shown(detail === null ? code : `${code}:${detail}`)
}

/** The same for an issue. */
export function issueName({ field, code }: Pick<IssueGroup, 'field' | 'code'>): string {
  return shown(`issue:${field}:${code}`)
}

export function sayList(
  { customers, total }: { readonly customers: readonly Failing[]; readonly total: number },
  selector: Selector,
): string[] {
  if (total === 0) return ['nobody']
  const rows = customers.map((each) => [
    each.key,
    each.state === 'idle' ? 'left out' : each.state,
    each.sinceMs === null || each.state === 'idle' ? '' : span(each.sinceMs),
    String(each.attempts),
    shortNext(each),
    fieldsOf(each, selector),
  ])
  const left = total - customers.length
  return [
    ...columns([['CUSTOMER', 'STATE', 'FOR', 'ATTEMPTS', 'NEXT', 'FIELDS'], ...rows]),
    ...(left > 0 ? [`and ${left} more; --limit ${total} shows all of them`] : []),
  ]
}

function fieldsOf({ reason, issues }: Failing, { kind }: Selector): string {
  const ofReason = reason?.named ?? reason?.fields ?? []
  const keys = reason?.keys ?? []
  const ofIssues = issues.map(({ field }) => field)
  return few([...new Set<string>(kind === 'issue' ? ofIssues : [...ofReason, ...keys])])
}

/** Everything of one customer; its history says what to do about its reason, so what is left is its issues. */
export function sayOne(history: History, key: CustomerKey): string[] {
  const advice = history === null ? [] : adviceFor(history)
  return [...renderStored(history, key), ...(advice.length > 0 ? ['', ...advice] : [])]
}

function adviceFor(history: NonNullable<History>): string[] {
  const { reason } = history
  const others = reason && failureName({ status: null, error: null, ...reason })
  return [
    ...sayIssues(history).flatMap(({ toDo }) => wrapped('to do', toDo)),
    ...(others ? wrapped('others', `\`rollcall failures --reason ${others}\``) : []),
  ]
}

function sayIssues({ state, reason, issues }: NonNullable<History>): Advice[] {
  const mapping = state === 'rejected' && reason?.code === 'mapping'
  const required = issues.some(({ field }) => REQUIRED.includes(field))
  return issues.map((issue) =>
    sayIssue({ ...issue, blocks: mapping && (!required || REQUIRED.includes(issue.field)) }),
  )
}

/** Why a customer is not as it should be, and what to do: its reason first, then its issues. */
export function saidOf(history: NonNullable<History>): Advice[] {
  const { state, reason } = history
  return [...(reason === null ? [] : [sayReason(reason, { state })]), ...sayIssues(history)]
}

export function sayRetried({ customers, underWay, waiting, unheardOf }: Retried): string[] {
  const many = customers === 1 ? '1 customer is' : `${customers} customers are`
  return [
    customers === 0 ? 'there is nobody to try again' : `${many} tried again now, as the pace allows`,
    ...(waiting > 0
      ? [`${waiting} of them a little later: an earlier call was a moment ago, or may still arrive`]
      : []),
    ...(underWay > 0
      ? [`${underWay} of them under way already: if a field stays left out there, --retry once more`]
      : []),
    ...unheardOf.map((key) => `nothing is known of customer ${shown(key)}`),
  ]
}

function sinceOf({ sinceMs, customers }: ReasonGroup): string {
  if (sinceMs === null) return 'not known'
  return customers === 1 ? `${span(sinceMs)} ago` : `${span(sinceMs)} ago (the oldest)`
}

function nextOf({ nextInMs, underWay, state }: ReasonGroup): string {
  if (underWay) return 'an attempt is under way'
  if (nextInMs === null)
    return state === 'rejected' ? 'tried again when row or mapping change' : 'no attempt is planned'
  return nextInMs > 0 ? `next attempt in ${span(nextInMs)}` : 'next attempt now'
}

function shortNext({ nextInMs, underWay }: Failing): string {
  if (underWay) return 'under way'
  if (nextInMs === null) return '-'
  return nextInMs > 0 ? `in ${span(nextInMs)}` : 'now'
}
