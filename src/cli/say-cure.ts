import type { Cure } from '../access/cure.ts'
import type { CustomerAccess } from '../access/customer.ts'
import type { CustomerKey } from '../model/customer.ts'
import { span } from './say-time.ts'

type Told = Pick<CustomerAccess, 'key' | 'should' | 'knowledge' | 'next' | 'look'>

/** What to do, in words; what looks first, also at what rollcall believes to know, is the one that cures them all. */
export function sayCure({ do: deed, waitMs }: Cure, { key, should, knowledge, next, look }: Told): string {
  const sync = `\`rollcall sync ${quoted(key)} --look${should.kind === 'removed' ? ' --removed' : ''}\``
  switch (deed) {
    case 'sync-look':
      return sync
    case 'wait':
      return `wait, it is owed; ${sync} tries at once`
    case 'start-a-worker':
      return `does \`rollcall worker\` run? ${sync} does this customer`
    case 'ask-again':
      return `ask again in a moment: it was written ${span(writtenAgo(knowledge))} ago, and the service may show it late`
    case 'correct':
      return `correct the row or the mapping, then ${sync}`
    case 'release':
      return `it is held: a person has to decide, see \`rollcall held ${quoted(key)}\``
    case 'migrate':
      return `\`rollcall migrate\`, then ${sync}`
    case 'name-the-target':
      return `correct the variable that is wrong; if none is, \`rollcall migrate --target same|new\` says what the target is${next.kind === 'differs' ? `; then ${sync}` : ''}`
    case 'check-keys':
      return look.kind === 'denied' && look.answer === 403
        ? 'check SERVICE_API_KEY and SERVICE_SECRET_KEY; if other customers are answered, ask whoever runs the service about this user'
        : 'check SERVICE_API_KEY and SERVICE_SECRET_KEY, and that they belong to SERVICE_URL'
    case 'check-service':
      return 'check SERVICE_URL; if it is right, the service is away: ask again later'
    case 'check-address':
      return 'check SERVICE_URL: what answers there may not be the service'
    case 'ask-later':
      return waitMs === null ? 'ask again later' : `ask again in ${span(waitMs)}: the service asked for that`
    case 'see-status':
      return waitMs === null
        ? '`rollcall status` shows the pace; ask again later'
        : `\`rollcall status\` shows the pace; it is held for ${span(waitMs)}, since the service asked for that`
    case 'ask-the-service':
      return 'ask whoever runs the service what this status means'
    case 'check-token':
      return 'check that the token is not expired, and that it belongs to SERVICE_URL and SERVICE_API_KEY; a new log-in gives a new one'
    case 'check-trial':
      return look.kind === 'present' && look.status === 4
        ? "check that the token is this customer's; then the trial is over, and status 2 gives access"
        : "check that the token is this customer's; then ask whoever runs the service why status 2 is shut out"
    case 'check-group':
      return 'ask whoever runs the service which professionals the ml_group_name of this user shows'
    default:
      return deed satisfies never
  }
}

function writtenAgo(knowledge: CustomerAccess['knowledge']): number {
  return knowledge.kind === 'known' ? (knowledge.record.writtenAgoMs ?? 0) : 0
}

/** As a shell takes it. */
function quoted(key: CustomerKey): string {
  return /^[\w.@:+-]+$/.test(key) && !key.startsWith('-') ? key : `'${key.replaceAll("'", `'\\''`)}'`
}
