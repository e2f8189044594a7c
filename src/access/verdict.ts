// Whether a customer can use the service now: the decision, over typed facts alone.
import type { CallErrorKind } from '../service/errors.ts'
import type { Should } from './should.ts'

/**
 * What a GET of the user came to (section 4.4). `none`: the customer has no user_id to ask for. `not-asked`: the
 * service had not answered for others.
 */
export type Look =
  | { readonly kind: 'present'; readonly status: number }
  /** `json`: false when the body is none or something else, as of a server that is not the service. */
  | { readonly kind: 'absent'; readonly answer: number; readonly json: boolean }
  | { readonly kind: 'denied'; readonly answer: number }
  | { readonly kind: 'later'; readonly answer: number; readonly waitMs: number | null }
  | Unreadable
  | { readonly kind: 'no-answer'; readonly error: CallErrorKind }
  | { readonly kind: 'no-permit'; readonly waitMs: number | null }
  | { readonly kind: 'none' | 'not-asked' }

/**
 * An answer that says nothing about the user: a status other than 200, a 200 that reports an error, or a 200 without
 * this user in it. `waitMs` here and in the others: for how long it is said that nobody is to call; null when it is not.
 */
export type Unreadable = {
  readonly kind: 'unreadable'
  readonly answer: number
  readonly why: 'status' | 'error' | 'no-user'
  readonly waitMs: number | null
}

/**
 * How the chat bears on this customer. `nobody`: it lists no professional for this very user; `unreadable`: none that
 * can be read. `shuts-somebody`: 403 to a token of which it is not known whose it is. `elsewhere`: it was not asked,
 * or what it says may be about another user.
 */
export type ChatSays =
  | 'elsewhere'
  | 'answered'
  | 'nobody'
  | 'unreadable'
  | 'shut'
  | 'shuts-somebody'
  | 'failed'

export type Facts = {
  readonly should: Should
  readonly look: Look
  /** rollcall can tell that there once was such a customer. */
  readonly met: boolean
  /** The status that rollcall and the service last agreed on; null when none is known. */
  readonly agreed: number | null
  readonly chat: ChatSays
}

export const YES = ['full', 'trial'] as const
export const NO = [
  'no-such-customer',
  'not-registered',
  'no-access',
  'trial-ended',
  'trial-ended-or-never-given',
  'no-user-id',
  'chat-shut',
  'nobody-visible',
] as const
export const UNKNOWN = [
  'no-answer',
  'denied',
  'later',
  'unreadable',
  'no-permit',
  'not-asked',
  'strange-status',
  'chat-failed',
  'chat-unreadable',
  'chat-shuts-somebody',
] as const

export type Verdict =
  | { readonly can: 'yes'; readonly why: (typeof YES)[number] }
  | { readonly can: 'no'; readonly why: (typeof NO)[number] }
  | { readonly can: 'unknown'; readonly why: (typeof UNKNOWN)[number] }

/**
 * What the service says decides, whatever the customer should have: that is what the customer on the phone meets.
 * A GET that was not answered is no "no". The chat has the last word where it speaks about this very user, since a
 * service may go on showing a trial that is over; a token of which it is not known whose it is makes no certain "no".
 */
export function judge(facts: Facts): Verdict {
  const { look, should, met } = facts
  switch (look.kind) {
    case 'present':
      return byStatus(look.status, facts)
    case 'absent':
      return should.kind === 'removed' && !met ? no('no-such-customer') : no('not-registered')
    case 'none':
      return no('no-user-id')
    case 'denied':
    case 'later':
    case 'unreadable':
    case 'no-answer':
    case 'no-permit':
    case 'not-asked':
      return { can: 'unknown', why: look.kind }
    default:
      return look satisfies never
  }
}

/** Section 2.6: 0 no access, 2 full access, 4 a trial. */
function byStatus(status: number, facts: Facts): Verdict {
  if (status === 0) return no(withoutAccess(facts))
  if (status !== 2 && status !== 4) return { can: 'unknown', why: 'strange-status' }
  switch (facts.chat) {
    case 'shut':
      return no('chat-shut')
    case 'nobody':
      return no('nobody-visible')
    case 'shuts-somebody':
      return { can: 'unknown', why: 'chat-shuts-somebody' }
    case 'unreadable':
      return { can: 'unknown', why: 'chat-unreadable' }
    case 'failed':
      return { can: 'unknown', why: 'chat-failed' }
    case 'elsewhere':
    case 'answered':
      return { can: 'yes', why: status === 2 ? 'full' : 'trial' }
    default:
      return facts.chat satisfies never
  }
}

/**
 * Status 0 is a trial that ended only where 4 was agreed on; where nothing is known it may as well be one that was
 * never given. A customer who should have no access has lost no trial, even if it once had one.
 */
function withoutAccess({ should, agreed }: Facts): (typeof NO)[number] {
  if (should.kind !== 'user' || should.status === 0) return 'no-access'
  if (agreed === 4) return 'trial-ended'
  return agreed === null && should.status === 4 ? 'trial-ended-or-never-given' : 'no-access'
}

function no(why: (typeof NO)[number]): Verdict {
  return { can: 'no', why }
}

/** How the chat call itself went, for the exit code. */
export type ChatWent = 'not-asked' | 'answered' | 'shut' | 'failed'

/**
 * 0 everybody can, 3 somebody cannot, 1 of somebody it could not be found out. 1 goes before 3, as in `rollcall
 * sync`: an answer with a hole in it must not pass for a whole one.
 */
export function exitFor(verdicts: readonly Verdict[], chat: ChatWent): 0 | 1 | 3 {
  if (chat === 'failed' || verdicts.some(({ can }) => can === 'unknown')) return 1
  return chat === 'shut' || verdicts.some(({ can }) => can === 'no') ? 3 : 0
}
