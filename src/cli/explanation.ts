// One customer for a person; a field's value only where values are handed in.

import type { DriftCause } from '../drift/words.ts'
import { type Chat, inOrder, totalsOf } from '../explain/chat.ts'
import type { Explanation, Values } from '../explain/explain.ts'
import type { FieldRow } from '../explain/fields.ts'
import type { Records } from '../explain/records.ts'
import { type Professional, SPECIALITIES } from '../service/chat.ts'
import { asJson, columns, labelled, shown, wrapped } from './render.ts'
import { renderHistory } from './render-history.ts'
import {
  sayAccess,
  sayDesired,
  sayLeftAlone,
  sayPlans,
  sayRecords,
  sayRemedy,
  sayRemote,
  sayResult,
  sayWhatDiffers,
} from './say-explanation.ts'
import { redacted } from './sync-json.ts'

/** Which part of an explanation is wanted. */
export type View = 'all' | 'access' | 'diff'

/** What your data, the service and rollcall's tables say. */
export function renderFacts(explanation: Explanation, view: View): string[] {
  const { userId, leftOut, remote, records, claimants, plan, planAfterLookup, desired } = explanation
  const left = leftOut.map(({ field, code }) => `${field} (${code})`).join(', ')
  return [
    labelled('user', userId === null ? 'none: the key makes no user_id' : shown(userId)),
    ...wrapped('desired', sayDesired(desired, explanation.result === 'left-alone')),
    ...(left === '' ? [] : wrapped('left out', left)),
    ...wrapped('service', sayRemote(remote)),
    ...wrapped('rollcall', sayRecords(records)),
    ...(claimants.length > 0
      ? wrapped('note', `other customers have the same user_id: ${claimants.join(', ')}`)
      : []),
    ...sayLeftAlone(explanation.result === 'left-alone' ? (plan ?? planAfterLookup) : null, records),
    ...(view === 'access' ? sayWhatDiffers(explanation) : []),
  ]
}

const STATE: Readonly<Record<FieldRow['state'], string>> = {
  same: 'same',
  spelling: 'spelling',
  differs: 'differs',
  'trial-ended': 'trial ended',
  'left-out': 'left out',
  unmanaged: 'unmanaged',
  'not-shown': 'not shown',
}

const CAUSE: Readonly<Record<DriftCause, string>> = {
  'never-delivered': 'not delivered yet',
  'unknown-outcome': 'outcome unknown',
  'edited-at-service': 'edited at the service',
  'mapping-changed': 'mapping changed',
  normalised: "the service's own form",
}

/** Desired and at the service, field by field. */
export function renderFields({ comparison }: Explanation, values: Values | null): string[] {
  const { fields = [], drift = null } = comparison ?? {}
  const missing = drift?.kind === 'missing' && drift.cause ? wrapped('why', CAUSE[drift.cause]) : []
  if (fields.length === 0) return missing
  const cells = fields.map(({ field, here, service, state, cause, issue }) => [
    `  ${field}`,
    here === 'unmanaged' ? '–' : here,
    service === 'not-shown' ? '–' : service,
    STATE[state],
    cause ? CAUSE[cause] : (issue ?? ''),
  ])
  return ['', ...columns([HEAD, ...cells]), ...(values ? renderValues(fields, values) : []), '']
}

const HEAD = ['  field', 'here', 'service', 'state', 'why']

function renderValues(fields: readonly FieldRow[], values: Values): string[] {
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  const said = fields.flatMap(({ field, service: shows }) => {
    const { here = null, service = null } = values.get(field) ?? {}
    if (here === null && service === null) return []
    const seen = shows === 'not-shown' ? 'not shown' : sayValue(service)
    const name = `  ${field.padEnd(width)}  `
    if (sayValue(here) === seen) return [`${name}both     ${seen}`]
    return [`${name}here     ${sayValue(here)}`, `${' '.repeat(name.length)}service  ${seen}`]
  })
  return said.length === 0 ? [] : ['', ...said]
}

/** In one line, quoted, so that blanks at its ends are seen; what a terminal would obey is escaped. */
function sayValue(value: unknown): string {
  if (value === null) return '–'
  return typeof value === 'object' ? shown(JSON.stringify(value)) : asJson(value)
}

/** What is stored of the customer, with the open finding and the last calls. */
export function renderRecords(records: Records): string[] {
  if (records.kind !== 'known' || records.history === null) return []
  return renderHistory(records.history)
}

/** What a sync would send. */
export function renderNext(explanation: Explanation): string[] {
  return wrapped('next', sayPlans(explanation))
}

/** What to do, and the verdict. */
export function renderEnd(explanation: Explanation, view: View): string[] {
  const { remedies } = explanation
  return [
    ...remedies.flatMap((remedy) => wrapped('to do', sayRemedy(remedy, explanation))),
    ...(view === 'access' ? [] : wrapped('result', sayResult(explanation))),
    ...(view === 'diff' ? [] : wrapped(view === 'all' ? 'access' : 'verdict', sayAccess(explanation))),
  ]
}

/** One customer for a program: codes in place of words, and no value of a field unless it is handed in. */
export function explanationJson(explanation: Explanation, values: Values | null): object {
  const { remote, records, comparison, plan, planAfterLookup, remedies, bearer, ...rest } = explanation
  const { key, userId, result, access, desired, leftOut, claimants } = rest
  return {
    ...{ key, userId, result, access, desired, leftOut },
    service: 'waitMs' in remote ? { ...remote, waitMs: whole(remote.waitMs) } : remote,
    rollcall: recordsJson(records),
    drift: comparison?.drift ?? null,
    fields: (comparison?.fields ?? []).map((row) => ({
      ...row,
      ...(values ? { values: values.get(row.field) ?? { here: null, service: null } } : {}),
    })),
    plan: plan && redacted(plan),
    planAfterLookup: planAfterLookup && redacted(planAfterLookup),
    claimants,
    remedies: remedies.map(({ do: deed, waitMs }) => ({ do: deed, waitMs: whole(waitMs) })),
    token: bearer,
  }
}

function recordsJson(records: Records): object {
  if (records.kind !== 'known' || records.history === null) return records
  const { owedSinceMs, overdueMs, capturedMs, writtenAgoMs, nextInMs, ...history } = records.history
  const ages = { owedSinceMs, overdueMs, capturedMs, writtenAgoMs, nextInMs }
  const rounded = Object.entries(ages).map(([name, ms]) => [name, whole(ms)])
  return { kind: 'known', history: { ...history, ...Object.fromEntries(rounded) } }
}

/** Times as they are, UTC; no message and no word of one. */
export function chatJson(chat: Chat): object {
  const about = { existsOn: 'production' }
  if (chat.kind !== 'answered')
    return { ...about, ...chat, ...('waitMs' in chat ? { waitMs: whole(chat.waitMs ?? null) } : {}) }
  const { kind, professionals, unreadable } = chat
  const listed = inOrder(professionals).map(professionalJson)
  return { ...about, kind, totals: totalsOf(professionals), unreadable, professionals: listed }
}

function professionalJson(each: Professional): object {
  const { professionalId, name, status, specialityId, nextConnectionAt, nextDisconnectionAt, room } = each
  return {
    professionalId,
    name,
    status,
    specialityId,
    speciality: specialityId === null ? null : (SPECIALITIES.get(specialityId) ?? null),
    nextConnectionAt,
    nextDisconnectionAt,
    room: room?.id ?? null,
    unreadMessages: room?.unreadMessages ?? null,
  }
}

function whole(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms)
}
