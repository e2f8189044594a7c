import type { CustomerAccess } from '../access/access.ts'
import type { Cure, Next } from '../access/next.ts'
import type { Should } from '../access/should.ts'
import type { Look, Verdict } from '../access/verdict.ts'
import type { CustomerKey } from '../model/customer.ts'
import { CallError } from '../service/errors.ts'
import { sayKnowledge } from './say-knowledge.ts'
import { line, sayPlan } from './say-step.ts'
import { span } from './say-time.ts'

/** What is known of one customer's access, as lines for a person; the chat's line comes between the two parts. */
export function sayFacts(access: CustomerAccess): string[] {
  const { userId, should, look, knowledge, next, cure } = access
  return [
    line('user', userId ?? 'none: it cannot be told from this key'),
    line('should', sayShould(should)),
    line('service', sayLook(look)),
    line('rollcall', sayKnowledge(knowledge)),
    ...sayNext(next, access),
    ...(cure === null ? [] : [line('to do', sayCure(cure, access))]),
  ]
}

export function sayVerdict({ can, why }: Verdict): string {
  return line('verdict', `${can}${VERDICT[why]}`)
}

const VERDICT: Readonly<Record<Verdict['why'], string>> = {
  full: ': full access',
  trial: ', trial: when it ends is not shown by the service',
  'no-such-customer':
    ': no such customer (neither the customer data nor the service knows it; a mistyped key?)',
  'not-registered': ': not registered at the service',
  'no-access': ': registered, but without access',
  'trial-ended': ': the trial has ended; it is not granted again by itself',
  'trial-ended-or-never-given': ': the trial has ended, or was never given',
  'no-user-id': ': without a user_id it cannot be registered',
  'chat-shut': ': access by its status, but the chat does not let it in (403)',
  'no-answer': ': the service did not answer',
  denied: ': the service refused to say',
  later: ': the service asks to be called later',
  unreadable: ': the answer of the service cannot be read',
  'no-permit': ': the service was not asked',
  'strange-status': ': the service shows a status that the interface does not have',
  'chat-failed': ': access by its status, but the chat could not be asked',
}

const STATUS: Readonly<Record<number, string>> = { 0: 'no access', 2: 'full access', 4: 'trial' }

function sayStatus(status: number): string {
  return `${status} (${STATUS[status] ?? 'not a status of the interface'})`
}

function sayShould(should: Should): string {
  switch (should.kind) {
    case 'user':
      return sayStatus(should.status)
    case 'removed':
      return 'no access: there is no such row'
    case 'out-of-scope':
      return 'no access: out of scope'
    case 'unmappable':
      return `cannot be mapped: ${should.issues
        .map(({ field, code, expected }) => `${field} (${code}), expected ${expected}`)
        .join('; ')}`
    case 'unreadable':
      return `not known: Postgres refuses to read the row (${should.code})`
    default:
      return should satisfies never
  }
}

function sayLook(look: Look): string {
  switch (look.kind) {
    case 'present':
      return sayStatus(look.status)
    case 'absent':
      return `knows no such user (${look.answer})`
    case 'denied':
      return look.answer === 401
        ? 'refused the credentials (401): SERVICE_API_KEY and SERVICE_SECRET_KEY, or the environment, are wrong'
        : 'refused (403): these credentials may not see this user, or nobody'
    case 'later':
      return `asks to be called later (${look.answer})`
    case 'unreadable':
      return look.answer === 200
        ? 'answered 200, but with no user of this user_id'
        : `answered ${look.answer}, which says nothing about the user`
    case 'no-answer':
      return new CallError(look.error, 'no').message
    case 'no-permit':
      return 'not asked: the common pace gave no permit within ten seconds (`rollcall status` shows it)'
    case 'none':
      return 'not asked'
    default:
      return look satisfies never
  }
}

function sayNext(next: Next, { look }: CustomerAccess): string[] {
  switch (next.kind) {
    case 'right':
    case 'unsaid':
      return []
    case 'left-alone':
      return [line('note', sayPlan({ kind: 'none', why: next.why }))]
    case 'blocked':
      return next.why === 'mapping'
        ? []
        : [line('note', `nothing is sent: other customers are the same user: ${next.keys.join(', ')}`)]
    case 'differs':
      return [line('differs', sayDifference(next, look))]
    default:
      return next satisfies never
  }
}

function sayDifference(next: Extract<Next, { kind: 'differs' }>, look: Look): string {
  const { act, status, fields } = next
  if (act === 'create') return 'it should be registered'
  if (act === 'revoke') return 'it has access and should have none'
  const shown = look.kind === 'present' ? look.status : ''
  const groups = fields.includes('ml_group_name')
    ? ' (ml_group_name decides which professionals are seen)'
    : ''
  return [
    ...(status === null ? [] : [`status is ${shown}, should be ${status}`]),
    ...(fields.length === 0 ? [] : [`not as in the customer data: ${fields.join(', ')}${groups}`]),
  ].join('; ')
}

function sayCure(cure: Cure, { key, knowledge }: CustomerAccess): string {
  const sync = `\`rollcall sync ${quoted(key)}\``
  const written = knowledge.kind === 'known' ? (knowledge.record.writtenAgoMs ?? 0) : 0
  switch (cure) {
    case 'sync':
      return sync
    case 'wait':
      return `wait, it is owed; ${sync} tries at once`
    case 'start-a-worker':
      return `does \`rollcall worker\` run? ${sync} does this customer`
    case 'ask-again':
      return `ask again in a moment: it was written ${span(written)} ago, and the service may show it late`
    case 'correct':
      return `correct the row or the mapping, then ${sync}`
    case 'release':
      return 'it is held: a person has to decide'
    case 'migrate':
      return `\`rollcall migrate\`, then ${sync}`
    case 'name-the-target':
      return `\`rollcall migrate --target same\` or \`new\` says what the target is; then ${sync}`
    default:
      return cure satisfies never
  }
}

/** As a shell takes it. */
function quoted(key: CustomerKey): string {
  return /^[\w.@:+-]+$/.test(key) && !key.startsWith('-') ? key : `'${key.replaceAll("'", `'\\''`)}'`
}
