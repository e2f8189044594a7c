import { type Chat, inOrder, totalsOf } from '../explain/chat.ts'
import type { Explanation, Values } from '../explain/explain.ts'
import type { Records } from '../explain/records.ts'
import { type Professional, SPECIALITIES } from '../service/chat.ts'
import { redacted } from './sync-json.ts'

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
