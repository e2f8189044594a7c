import type { History, LoggedCall } from '../ledger/history.ts'
import type { CustomerKey } from '../model/customer.ts'
import { minute } from '../report/figures.ts'
import { columns, labelled, second, shown, span, wrapped } from './render.ts'
import { sayIssue, sayReason } from './say-reason.ts'

type Known = NonNullable<History>

/** All that is stored of a customer, for a person: codes, times and names of fields, never a field's value. */
export function renderStored(history: History, key: CustomerKey): string[] {
  if (history === null) return [`nothing is known of customer ${shown(key)}`]
  return [
    `customer ${shown(key)}`,
    ...wrapped('user', `${history.userId ?? 'no user_id yet'}, ${REMOTE[history.remote]}`),
    ...wrapped('owed', sayOwed(history)),
    ...renderHistory(history),
  ]
}

/** State with its reason, the times that prove that a change arrived, the open finding, and the last calls. */
export function renderHistory(history: Known): string[] {
  const { calls } = history
  return [
    ...sayState(history),
    ...sayFinding(history),
    ...sayProof(history),
    ...(calls.length === 0 ? wrapped('calls', 'none is recorded') : ['', ...sayCalls(calls)]),
  ]
}

const REMOTE: Readonly<Record<Known['remote'], string>> = {
  unasked: 'never asked about at the service',
  unknown: 'not known whether the service has it',
  absent: 'not there at the service',
  present: 'there at the service',
}

/** With what to do about it, where there is something. */
function sayState({ state, reason, since, issues }: Known): string[] {
  const started = since === null ? '' : `, since ${minute(since)}`
  const said = reason === null ? null : sayReason(reason, { state })
  return [
    ...wrapped('state', `${state}${started}${said ? `: ${said.what}` : ''}`),
    ...(said ? wrapped('to do', said.toDo) : []),
    ...issues.flatMap(({ field, code, expected }) =>
      wrapped('left out', sayIssue({ field, code, expected, blocks: state === 'rejected' }).what),
    ),
  ]
}

function sayFinding({ finding }: Known): string[] {
  if (finding === null) return []
  const { kind, fields, cause, looks, repairs, firstSeen } = finding
  const about = fields.length > 0 ? `${kind} (${fields.join(', ')})` : kind
  const seen = looks < 2 ? 'suspected' : 'found'
  const mended = repairs === 0 ? '' : `, repaired ${repairs} times`
  return wrapped(
    'finding',
    `${about}, ${seen} since ${minute(firstSeen)}${cause ? `: ${cause}` : ''}${mended}`,
  )
}

function sayOwed({ owed, underWay, capturedMs, nextInMs, attempts, unknown }: Known): string {
  const tried = attempts === 0 ? '' : `, ${attempts === 1 ? 'one attempt' : `${attempts} attempts`} so far`
  const look = unknown ? '; the state at the service counts as unknown and is looked at first' : ''
  if (underWay) return `under way${tried}${look}`
  if (nextInMs !== null) return `${nextInMs > 0 ? `in ${span(nextInMs)}` : 'now'}${tried}${look}`
  if (capturedMs !== null) return 'a change was captured, and no worker has noted it yet'
  return `${owed ? 'yes' : 'nothing'}${look}`
}

/** The times that prove that a change arrived. */
function sayProof({ changedAt, acknowledgedAt, verifiedAt }: Known): string[] {
  const proof = [
    ['committed', changedAt, 'captured; settled last'],
    ['acknowledged', acknowledgedAt, 'the last write that was taken'],
    ['verified', verifiedAt, 'a GET showed all of it'],
  ] as const
  return proof.map(([what, at, means], index) => {
    const told = at === null ? 'never' : `${second(at)} UTC (${means})`
    return labelled(index === 0 ? 'proof' : '', `${what.padEnd(13)}${told}`)
  })
}

/** A table of calls, oldest first, every time in UTC; the fields that a call carried are on a line of their own. */
export function sayCalls(calls: readonly LoggedCall[]): string[] {
  const rows = calls.map(({ at, method, status, error, ms, plan, meaning, by }) => [
    second(at),
    method,
    status === null ? (error ?? 'no answer') : String(status),
    `${ms} ms`,
    plan,
    meaning,
    by,
  ])
  const [head = '', ...told] = columns([HEAD, ...rows])
  return [head, ...told.flatMap((text, index) => [text, ...carried(calls[index])])]
}

const HEAD = ['TIME (UTC)', 'CALL', 'ANSWER', 'TOOK', 'PLAN', 'TAKEN AS', 'BY']

function carried(call: LoggedCall | undefined): string[] {
  return call && call.fields.length > 0 ? wrapped('  with', call.fields.join(', ')) : []
}
