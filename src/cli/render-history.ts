import type { DriftCause } from '../drift/words.ts'
import { isOverdue } from '../explain/records.ts'
import { CHECK_WORKER } from '../explain/verdicts.ts'
import { REQUIRED } from '../ledger/failures.ts'
import type { History, LoggedCall } from '../ledger/history.ts'
import type { CustomerKey } from '../model/customer.ts'
import { counted, minute } from '../report/figures.ts'
import { CAUSE } from '../report/words.ts'
import { noRecord } from './named.ts'
import {
  applying,
  columns,
  details,
  hanging,
  type Labelled,
  second,
  shellQuoted,
  shown,
  span,
  TERMINAL_COLUMNS,
} from './render.ts'
import { renderIssue, renderReason, together, WAIT } from './render-reason.ts'

type Known = NonNullable<History>

/** As many calls as `failures` shows, and `explain` by default. */
export const CALLS = 10

/** A remedy for one customer, with its key in the commands. */
export function withKey(text: string, key: CustomerKey): string {
  return text.replaceAll(' KEY', () => ` ${shellQuoted(key)}`)
}

/** All that is stored of a customer, for a person: codes, times and names of fields, never a field's value. */
export function renderStored(history: History, key: CustomerKey): string[] {
  if (history === null)
    return hanging('', `${noRecord(key)}; if it is right, run ${withKey('`rollcall sync KEY`', key)}`)
  const issues = adviseIssues(history)
  const named = (text: string | false | undefined) => text && withKey(text, key)
  const isRejected = history.state === 'rejected'
  const toDos = isRejected && history.owed ? [] : issues.map(({ toDo }) => toDo)
  // To do nothing and to correct a value would contradict each other. If a field is why, its advice says more.
  const toDo =
    toDos.length > 0 ? !isRejected && toDoOf(history)?.replace(/^nothing[:;] /, '') : toDoOf(history)
  return [
    `customer ${shown(key)}`,
    ...details({
      user: `${history.userId ?? 'no user_id yet'} (${REMOTE[history.remote]})`,
      ...renderStanding(history),
      'to do': [toDo, ...toDos].map(named),
      [isRejected ? 'problem' : 'left out']: issues.map(({ what }) => what),
    }),
    ...renderHistory(history, key),
  ]
}

/** The lines on an owed sync and on the stored state, the same in every command. */
export function renderStanding(history: Known): Labelled {
  return { sync: renderOwed(history), state: renderState(history) }
}

/** Waiting alone does not help then. */
export function whenOverdue(toDo: string): string {
  const rest = toDo.replace(/^nothing[^.]*(\. )?/, '')
  return rest === '' ? CHECK_WORKER : `${CHECK_WORKER}. ${rest.charAt(0).toUpperCase()}${rest.slice(1)}`
}

export function toDoOf(history: Known): string | undefined {
  const { reason, state, released, owed } = history
  const isOld = owed && !released && state !== 'failing'
  const toDo = reason && (isOld ? WAIT : renderReason(reason, { state: released ? 'released' : state }).toDo)
  return toDo && isOverdue(history) ? whenOverdue(toDo) : (toDo ?? undefined)
}

/** An issue blocks where the mapping rejects the customer for it. No field is left out then, since nothing is sent. */
export function adviseIssues({ state, reason, issues }: Known) {
  const mapping = state === 'rejected' && reason?.code === 'mapping'
  const required = issues.some(({ field }) => REQUIRED.includes(field))
  return together(issues).flatMap((issue) => {
    const blocks = mapping && (!required || REQUIRED.includes(issue.field))
    return blocks || state !== 'rejected' ? renderIssue({ ...issue, blocks }) : []
  })
}

function renderState({ released, since, reason, discard, owed, ...rest }: Known): false | readonly string[] {
  const state = released ? 'released' : rest.state
  const { changedAt, acknowledgedAt, verifiedAt } = rest
  if (state === 'idle')
    return !owed && (changedAt ?? acknowledgedAt ?? verifiedAt) !== null && renderSettled(rest)
  const started = since === null || released ? '' : ` since ${minute(since)}`
  return applying([
    `${state}${started}${reason ? `: ${renderReason(reason, { state }).what}` : ''}`,
    discard !== null &&
      state !== 'discarded' &&
      `a person has discarded another part of the change (${discard.kinds.join(', ')})`,
    owed && !released && state !== 'failing' && 'another sync is owed, which may end this state',
  ])
}

function renderSettled({ unverified, finding }: Pick<Known, 'unverified' | 'finding'>): string[] {
  const differs = finding && finding.kind !== 'trial-ended'
  return applying([
    differs && 'settled, but a check has found a difference',
    !differs && `settled${unverified ? '; later a worker verifies that by another GET' : ''}`,
  ])
}

export function renderHistory(history: Known, key: CustomerKey): string[] {
  const { calls, finding } = history
  const more = calls.length === CALLS && withKey('`rollcall explain KEY --calls 50` may show more calls', key)
  return [
    ...details(finding ? { [finding.checks < 2 ? 'suspicion' : 'finding']: renderFinding(finding) } : {}),
    ...renderProof(history),
    ...(calls.length === 0 ? details({ calls: 'none is recorded' }) : ['', ...renderCalls(calls)]),
    ...details({ more }),
  ]
}

export const REMOTE: Readonly<Record<Known['remote'], string>> = {
  unasked: 'no sync has found out whether the service has a user for this customer',
  unknown: 'a lookup (GET) must first find out what the service has',
  absent: 'at the last sync the service did not have this user',
  present: 'at the last sync the service had this user',
}

function renderOwed(history: Known): string | string[] {
  const { capturedMs, overdueMs, owedSinceMs, writtenAgoMs, underWay, attempts, unknown } = history
  const since = owedSinceMs === null ? 'owed' : `owed for ${span(owedSinceMs)}`
  const settled = overdueMs === null && !underWay
  if (capturedMs !== null)
    return `owed: no worker has taken the change from the outbox yet (captured ${span(capturedMs)} ago)`
  const next = () => {
    if (underWay) return `${since}; an attempt is under way`
    if (overdueMs === null)
      return `not owed${writtenAgoMs === null ? '' : `; the last accepted write was ${span(writtenAgoMs)} ago`}`
    if (isOverdue(history))
      return `${since}; it has been due for ${span(overdueMs)}, but no worker works on it`
    return overdueMs < 0 ? `${since}; next attempt in ${span(-overdueMs)}` : `${since}; due now`
  }
  return applying([
    next(),
    attempts > 0 && !settled && `${counted(attempts, 'attempt has', 'attempts have')} failed`,
    unknown && 'a lookup (GET) comes before the next write',
    !history.outboxSearched && 'the outbox is too large to look for newer changes',
  ])
}

function renderFinding(finding: NonNullable<Known['finding']>): string[] {
  const { kind, fields, cause, checks, repairs, firstSeen } = finding
  return applying([
    `${kind}${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`,
    `first seen ${minute(firstSeen)}, ${checks < 2 ? 'not confirmed yet' : 'confirmed by a second check'}`,
    cause !== null && `cause when first seen: ${renderCause(cause)}`,
    repairs > 0 && `repair requested ${repairs === 1 ? 'once' : `${repairs} times`}`,
  ])
}

/** A cause that is stored may be one of another version. */
export function renderCause(cause: string): string {
  return Object.hasOwn(CAUSE, cause) ? CAUSE[cause as DriftCause].name.toLowerCase() : cause
}

function renderProof({ changedAt, acknowledgedAt, verifiedAt }: Known): string[] {
  const proof = [
    ['changed', changedAt, 'the last change or requested sync that was processed'],
    ['acknowledged', acknowledgedAt, 'the last acknowledged write'],
    ['verified', verifiedAt, 'the last GET that agreed with your data at that time'],
  ] as const
  return proof.flatMap(([what, at, means], index) => {
    const value = at === null ? 'none is recorded' : `${second(at)} UTC (${means})`
    return hanging(`  ${(index === 0 ? 'times' : '').padEnd(9)} ${what.padEnd(13)}`, value)
  })
}

const HEAD = ['TIME (UTC)', 'CALL', 'ANSWER', 'TOOK', 'PLAN', 'MEANING', 'BY']

export function answerOf({ status, error }: Pick<LoggedCall, 'status' | 'error'>): string {
  return String(status ?? (error === 'refused' ? 'no connection' : (error ?? 'no answer')))
}

/** A table of calls, oldest first, every time in UTC; the fields that a call carried are on a line of their own. */
function renderCalls(calls: readonly LoggedCall[]): string[] {
  const rows = calls.map(({ at, method, status, error, ms, plan, meaning, by }) => {
    return [second(at), method, answerOf({ status, error }), `${ms} ms`, plan, meaning, by]
  })
  const table = [HEAD, ...rows]
  const fits = columns(table, { width: Infinity }).every(({ length }) => length <= TERMINAL_COLUMNS)
  const below = (row: number) =>
    details({ '  with': calls[row]?.fields.join(', '), '  by': !fits && calls[row]?.by })
  return columns(fits ? table : table.map((row) => row.slice(0, -1)), { below })
}
