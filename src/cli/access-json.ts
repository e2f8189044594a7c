import { type Chat, inOrder, totalsOf } from '../access/chat.ts'
import type { Cure } from '../access/cure.ts'
import type { CustomerAccess } from '../access/customer.ts'
import { isOwed, type Knowledge } from '../access/knowledge.ts'
import type { Look } from '../access/verdict.ts'
import { type Professional, SPECIALITIES } from '../service/chat.ts'

/** One customer for a program: codes in place of words, and nothing of the ledger but codes, statuses and times. */
export function customerJson({ look, knowledge, bearer, ...access }: CustomerAccess): object {
  const { key, userId, should, leftOut, next, rivals, cures, verdict } = access
  return {
    key,
    userId,
    verdict,
    should,
    leftOut,
    service: lookJson(look),
    rollcall: knowledgeJson(knowledge),
    next,
    rivals,
    cures: curesJson(cures),
    token: bearer,
  }
}

export function lookJson(look: Look): object {
  return 'waitMs' in look ? { ...look, waitMs: whole(look.waitMs) } : look
}

export function curesJson(cures: readonly Cure[]): readonly object[] {
  return cures.map(({ do: deed, waitMs }) => ({ do: deed, waitMs: whole(waitMs) }))
}

export function knowledgeJson(knowledge: Knowledge): object {
  if (knowledge.kind !== 'known') return knowledge
  const { kind, record, owed, capturedMs, searched, recorded } = knowledge
  return {
    kind,
    recorded,
    state: record.state,
    reason: record.reason,
    agreedStatus: record.sentStatus,
    writtenAgoMs: whole(record.writtenAgoMs),
    unknown: owed?.unknown ?? false,
    owed: isOwed(knowledge),
    owedSinceMs: whole(owed?.sinceMs ?? null),
    dueInMs: whole(owed?.dueInMs ?? null),
    underWay: owed?.underWay ?? false,
    capturedMs: whole(capturedMs),
    outboxSearched: searched,
  }
}

/** Times as they are, UTC; no message and no word of one. */
export function chatJson(chat: Chat): object {
  const about = { existsOn: 'production' }
  if (chat.kind !== 'answered')
    return { ...about, ...chat, ...('waitMs' in chat ? { waitMs: whole(chat.waitMs) } : {}) }
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
