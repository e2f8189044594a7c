// What to do about what was found: about a difference, about records of another target, and about every question that
// was not answered. Pure, over typed facts alone.
import { entitled } from '../model/user.ts'
import type { Chat } from './chat.ts'
import { isOverdue, isOwed, type Knowledge, type Known } from './knowledge.ts'
import type { Next } from './next.ts'
import type { Bearer } from './token.ts'
import type { Look, Unreadable } from './verdict.ts'

/** `waitMs`: before that there is no use in it; null when nobody said how long. */
export type Cure = { readonly do: Deed; readonly waitMs: number | null }

export type Deed =
  /** It differs, and what rollcall remembers may say that nothing does: so a sync has to look. */
  | 'sync-look'
  /** It is owed, and the next attempt comes by itself. */
  | 'wait'
  /** It is owed and due, and nobody takes it. */
  | 'start-a-worker'
  /** It was written a moment ago, and the service may show it late. */
  | 'ask-again'
  /** Nothing is tried until the row or the mapping changes. */
  | 'correct'
  /** A person has to release it. */
  | 'release'
  | 'migrate'
  | 'name-the-target'
  /** The service refused our keys. */
  | 'check-keys'
  /** No answer came. */
  | 'check-service'
  /** What answers is perhaps not the service. */
  | 'check-address'
  | 'ask-later'
  /** The common pace gave no permit. */
  | 'see-status'
  /** The service shows a status that the interface does not have. */
  | 'ask-the-service'
  /** The chat refused the token. */
  | 'check-token'
  /** The chat shuts out somebody whose status gives access. */
  | 'check-trial'
  /** The chat shows nobody to somebody whose status gives access. */
  | 'check-group'

type Found = {
  readonly next: Next
  readonly look: Look
  readonly chat: Chat
  readonly bearer: Bearer | null
  readonly knowledge: Knowledge
  readonly consistencyDelayMs: number
}

/** None when there is nothing to do; each deed once, with the longest wait. */
export function curesFor(found: Found): readonly Cure[] {
  const { knowledge, next, look } = found
  const ofLook = forLook(look)
  const ofNext = forNext(found)
  const all = [
    ...(knowledge.kind === 'other-target' ? [cure('name-the-target')] : []),
    ...ofLook,
    ...ofNext,
    ...(isStrange(look) && next.kind !== 'differs' ? [cure('ask-the-service')] : []),
    ...forChat(found),
  ]
  const waits = Map.groupBy(all, (each) => each.do)
  return [...waits].map(([deed, same]) =>
    cure(deed, Math.max(...same.map(({ waitMs }) => waitMs ?? 0)) || null),
  )
}

function cure(deed: Deed, waitMs: number | null = null): Cure {
  return { do: deed, waitMs }
}

function forNext({ next, knowledge, consistencyDelayMs }: Found): Cure[] {
  if (next.kind === 'blocked') return [cure('correct')]
  if (next.kind !== 'differs') return []
  switch (knowledge.kind) {
    case 'not-installed':
    case 'not-migrated':
      return [cure('migrate')]
    case 'other-target':
      return [] // named whether anything differs or not
    case 'not-readable':
    case 'locked':
      return [cure('sync-look')]
    case 'known':
      return [cure(ofKnown(knowledge, consistencyDelayMs))]
    default:
      return knowledge satisfies never
  }
}

function ofKnown(known: Known, consistencyDelayMs: number): Deed {
  const { record, owed } = known
  if (isOwed(known)) return isOverdue(known) ? 'start-a-worker' : 'wait'
  if (record.writtenAgoMs !== null && record.writtenAgoMs < consistencyDelayMs) return 'ask-again'
  if (owed !== null && record.state === 'rejected') return 'correct'
  const stopped = record.state === 'held' || record.state === 'discarded'
  return owed !== null && stopped ? 'release' : 'sync-look'
}

function forLook(look: Look): Cure[] {
  switch (look.kind) {
    case 'present':
    case 'absent':
    case 'none':
      return []
    case 'denied':
      return [cure('check-keys')]
    case 'later':
      return [cure('ask-later', look.waitMs)]
    case 'unreadable':
      return [cure(mayPass(look) ? 'ask-later' : 'check-address', look.waitMs)]
    case 'not-asked':
      return [cure('check-service')]
    case 'no-answer':
      return [cure(look.error === 'bad-user-id' ? 'correct' : 'check-service')]
    case 'no-permit':
      return [cure('see-status', look.waitMs)]
    default:
      return look satisfies never
  }
}

/** A service that fails may be well again soon; what redirects, or knows no such path, is somebody else. */
function mayPass({ answer, why, waitMs }: Unreadable): boolean {
  return answer >= 500 || answer === 408 || why === 'error' || waitMs !== null
}

function isStrange(look: Look): boolean {
  return look.kind === 'present' && ![0, 2, 4].includes(look.status)
}

function forChat({ chat, look, bearer }: Found): Cure[] {
  const lets = look.kind === 'present' && entitled(look.status)
  switch (chat.kind) {
    case 'not-asked':
      return []
    case 'answered':
      if (!lets || bearer !== 'this-user' || chat.professionals.length > 0) return []
      return [cure(chat.unreadable > 0 ? 'check-address' : 'check-group')]
    case 'shut':
      return lets && bearer !== 'another-user' ? [cure('check-trial')] : []
    case 'refused':
      return [cure('check-token')]
    case 'failed':
      return [
        cure(
          chat.status >= 500 || chat.status === 429 || chat.waitMs !== null ? 'ask-later' : 'check-address',
          chat.waitMs,
        ),
      ]
    case 'no-answer':
    case 'given-up':
      return [cure('check-service')]
    case 'no-permit':
      return [cure('see-status', chat.waitMs)]
    default:
      return chat satisfies never
  }
}
