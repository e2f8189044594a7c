import type { CustomerAccess } from '../access/customer.ts'
import type { Next } from '../access/next.ts'
import type { Look, Verdict } from '../access/verdict.ts'
import { CallError, type CallErrorKind } from '../service/errors.ts'
import { sayCure } from './say-cure.ts'
import { sayKnowledge } from './say-knowledge.ts'
import { line } from './say-step.ts'
import { wrapped } from './say-wrapped.ts'
import { shown } from './shown.ts'

/** What is known of one customer's access, as lines for a person; the chat's line comes after it. */
export function sayFacts(access: CustomerAccess): string[] {
  const { userId, leftOut, look, knowledge } = access
  const left = leftOut.map(({ field, code }) => `${field} (${code})`).join(', ')
  return [
    line('user', userId === null ? 'none: it cannot be told from this key' : shown(userId)),
    ...wrapped('should', sayShould(access)),
    ...(left === '' ? [] : wrapped('left out', left)),
    ...wrapped('service', sayLook(look)),
    ...wrapped('rollcall', sayKnowledge(knowledge)),
    ...sayNext(access),
  ]
}

/** What to do, and whether the customer can use the service. */
export function sayEnd(access: CustomerAccess): string[] {
  const { cures } = access
  return [
    ...cures.flatMap((cure) => wrapped('to do', sayCure(cure, access))),
    ...wrapped('verdict', sayVerdict(access)),
  ]
}

type Judged = Pick<CustomerAccess, 'verdict' | 'look' | 'rivals' | 'chatSays'>

export function sayVerdict({ verdict: { can, why }, look, rivals, chatSays }: Judged): string {
  const one = rivals.length === 1 ? 'customer' : 'customers'
  const shared =
    look.kind === 'present' && rivals.length > 0
      ? `; this may be the access of the other ${one} with this user_id: ${rivals.join(', ')}`
      : ''
  if (why === 'trial') {
    return chatSays === 'answered'
      ? `yes, trial: the chat lets it in; when it ends is not shown${shared}`
      : `yes, trial: only the chat, asked with its own token, shows whether it still runs${shared}`
  }
  if (why === 'unreadable' && look.kind === 'unreadable') return `unknown: the service ${sayLook(look)}`
  return `${can}: ${VERDICT[why]}${shared}`
}

const VERDICT: Readonly<Record<Exclude<Verdict['why'], 'trial'>, string>> = {
  full: 'full access',
  'no-such-customer':
    'no such customer (neither the customer data nor the service knows it; a mistyped key?)',
  'not-registered': 'not registered at the service',
  'no-access': 'registered, but without access',
  'trial-ended': 'the trial has ended; it is not granted again by itself',
  'trial-ended-or-never-given': 'the trial has ended, or was never given',
  'no-user-id': 'without a user_id it cannot be registered',
  'chat-shut': 'access by its status, but the chat does not let it in (403)',
  'nobody-visible':
    'access by its status, but it sees none of the professionals (ml_group_name decides who is seen)',
  'no-answer': 'the service did not answer',
  denied: 'the service refused to say',
  later: 'the service asks to be called later',
  unreadable: 'the service did not say',
  'no-permit': 'the service was not asked',
  'not-asked': 'the service was not asked, since it does not answer',
  'strange-status': 'the service shows a status that the interface does not have',
  'chat-failed': 'access by its status, but the chat could not be asked',
  'chat-unreadable': 'access by its status, but none of the professionals in the list could be read',
  'chat-shuts-somebody':
    'access by its status; the chat does not let the user of the token in (403), and it is not known whose token this is',
}

const STATUS: Readonly<Record<number, string>> = { 0: 'no access', 2: 'full access', 4: 'trial' }

function sayStatus(status: number): string {
  return `${status} (${STATUS[status] ?? 'not a status of the interface'})`
}

/** Whom a sync leaves alone, nothing is asked for: then "no access" would contradict a verdict of yes. */
export function sayShould({ should, next }: Pick<CustomerAccess, 'should' | 'next'>): string {
  const wish = next.kind === 'left-alone' ? 'left as it is' : 'no access'
  switch (should.kind) {
    case 'user':
      return sayStatus(should.status)
    case 'removed':
      return `${wish}: there is no such row`
    case 'out-of-scope':
      return `${wish}: out of scope`
    case 'unmappable':
      return `cannot be mapped: ${should.issues
        .map(({ field, code, expected }) => `${field} (${code}), expected ${expected}`)
        .join('; ')}`
    case 'unreadable':
      return should.code === '57014' || should.code === '55P03'
        ? 'not known: the row could not be read within ten seconds (a lock?)'
        : `not known: Postgres refuses to read the row (${should.code})`
    default:
      return should satisfies never
  }
}

export function sayLook(look: Look): string {
  switch (look.kind) {
    case 'present':
      return sayStatus(look.status)
    case 'absent':
      return look.answer === 200
        ? 'knows no such user (200, null)'
        : `knows no such user (${look.answer}${look.json ? '' : ', no JSON: is SERVICE_URL right?'})`
    case 'denied':
      return look.answer === 401
        ? 'refused the credentials (401)'
        : 'refused (403): these credentials may not see this user, or nobody'
    case 'later':
      return `asks to be called later (${look.answer})`
    case 'unreadable':
      return `answered ${look.answer}${INSTEAD[look.why]}, which says nothing about the user`
    case 'no-answer':
      return sayCallError(look.error)
    case 'no-permit':
      return 'not asked: the common pace gave no permit within ten seconds'
    case 'not-asked':
      return 'not asked: the service does not answer'
    case 'none':
      return 'not asked'
    default:
      return look satisfies never
  }
}

const INSTEAD: Readonly<Record<Extract<Look, { kind: 'unreadable' }>['why'], string>> = {
  status: '',
  error: ' with an error',
  'no-user': ' with something else than this user',
}

/** In the middle of a line, and without the code that Node has for it. */
export function sayCallError(kind: CallErrorKind): string {
  const { message } = new CallError(kind, 'no')
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`
}

export function sayNext({
  next,
  look,
  knowledge,
}: Pick<CustomerAccess, 'next' | 'look' | 'knowledge'>): string[] {
  switch (next.kind) {
    case 'right':
    case 'unsaid':
      return []
    case 'left-alone':
      return wrapped('note', sayLeftAlone(next.why, knowledge.kind === 'known'))
    case 'blocked':
      return next.why === 'mapping'
        ? []
        : wrapped('note', `nothing is sent: other customers are the same user: ${next.keys.join(', ')}`)
    case 'differs':
      return wrapped('differs', sayDifference(next, look))
    default:
      return next satisfies never
  }
}

/** Whether a customer ever was in scope, only rollcall's own records tell. */
function sayLeftAlone(why: Extract<Next, { kind: 'left-alone' }>['why'], recorded: boolean): string {
  switch (why) {
    case 'never-ours':
      return `rollcall leaves this user alone: the customer was never in scope${recorded ? '' : ', as far as is known'}`
    case 'ignored':
      return 'rollcall leaves this user alone: onRemove is "ignore"'
    case 'user-of-another-customer':
      return 'rollcall leaves this user alone: another customer in scope is this user'
    case 'without-access':
      return 'nobody is registered without access: createWithoutAccess is false'
    default:
      return why satisfies never
  }
}

function sayDifference(next: Extract<Next, { kind: 'differs' }>, look: Look): string {
  const { act, status, fields } = next
  if (act === 'create') return 'it should be registered'
  if (act === 'revoke') return 'it has access and should have none'
  if (act === 'erase') return 'it has no access, and its personal fields are not erased yet'
  const shown = look.kind === 'present' ? look.status : ''
  const groups = fields.includes('ml_group_name')
    ? ' (ml_group_name decides which professionals are seen)'
    : ''
  return [
    ...(status === null ? [] : [`status is ${shown}, should be ${status}`]),
    ...(fields.length === 0 ? [] : [`not as in the customer data: ${fields.join(', ')}${groups}`]),
  ].join('; ')
}
