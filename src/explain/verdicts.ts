// The verdicts on one customer: each code with its words, and what to do with each remedy.
import type { CustomerState } from '../ledger/record.ts'
import type { FieldIssue } from '../model/mapped.ts'

export const VERDICTS = {
  full: { can: 'yes', says: 'full access' },
  trial: {
    can: 'yes',
    says: "trial; the service does not show when it ends: the chat tells, asked with the user's token",
  },
  'no-such-customer': {
    can: 'no',
    says: 'no such customer (neither your data nor the service knows it; a mistyped key?)',
  },
  'not-registered': { can: 'no', says: 'not registered at the service' },
  'no-access': { can: 'no', says: 'registered, but without access' },
  'trial-ended': { can: 'no', says: 'the trial has ended; it is not granted again by itself' },
  'no-user-id': { can: 'no', says: 'without a user_id it cannot be registered' },
  'chat-shut': { can: 'no', says: 'access by its status, but the chat does not let it in (403)' },
  'none-visible': {
    can: 'no',
    says: 'access by its status, but it sees none of the professionals (ml_group_name decides who is seen)',
  },
  'no-answer': { can: 'unknown', says: 'the service did not say' },
  'strange-status': { can: 'unknown', says: 'the service shows a status that the interface does not have' },
  'chat-silent': {
    can: 'unknown',
    says: 'access by its status, but what the chat answers says nothing certain of this user',
  },
} as const

export type AccessReason = keyof typeof VERDICTS
export type AccessVerdict = { readonly can: 'yes' | 'no' | 'unknown'; readonly why: AccessReason }

type RemedyFacts = {
  /** The command that reads the user by GET first, and so repairs also what rollcall remembers wrongly. */
  readonly sync: string
  readonly key: string
  readonly later: string
  readonly readable: string
  readonly state: CustomerState | undefined
  readonly leftOut: readonly FieldIssue[]
  readonly differs: boolean
  readonly service: { readonly kind: string; readonly http?: number | null }
}

const KEYS = 'check SERVICE_API_KEY and SERVICE_SECRET_KEY'

export const REMEDIES = {
  sync: ({ sync }) => sync,
  wait: ({ sync }) => `wait, it is owed; ${sync} tries at once`,
  'apply-mapping': () =>
    'the mapping has changed and is not applied: `rollcall backfill --mapping` does it, nothing is synced before',
  'start-worker': ({ sync }) => `does \`rollcall worker\` run? ${sync} does this customer`,
  correct: ({ leftOut, sync }) => {
    const fields = leftOut.map(({ field }) => field).join(', ')
    return `correct ${fields === '' ? 'the row' : `${fields} in the row,`} or the mapping; a changed row is synced by itself, ${sync} does it at once`
  },
  decide: ({ key, state }) =>
    state === 'discarded'
      ? `a person has discarded the difference: \`rollcall held release ${key} --why …\` lets it through`
      : `it is held: decide with \`rollcall held ${key}\``,
  /** The row cannot be read, for another reason than a lock. */
  'make-readable': ({ readable }) => readable,
  /** A watched table has no triggers. */
  'install-capture': ({ sync }) => `\`rollcall capture install\` once the rows are back, then ${sync}`,
  migrate: ({ sync }) => `\`rollcall migrate\`, then ${sync}`,
  'name-target': ({ differs, sync }) =>
    `correct the variable that is wrong; if none is, \`rollcall status\` says what to run${differs ? `; then ${sync}` : ''}`,
  'check-keys': ({ service }) =>
    service.http === 403
      ? `${KEYS}; if other customers are answered, ask the provider of the service about this user`
      : `${KEYS}, and that they belong to SERVICE_URL`,
  /** No answer came, or what answers is perhaps not the service. */
  'check-address': () => 'check SERVICE_URL; if it is right, try again later',
  'try-later': ({ later, service }) =>
    service.kind === 'not-asked' ? `${later}; \`rollcall pace\` tells why` : later,
  'shown-late': ({ later }) => `${later}: it was written a moment ago, and the service may show it late`,
  /** The service shows a status that the interface does not have, or shuts out a user whose status gives access. */
  'ask-provider': () =>
    'ask the provider of the service why this user is shown or treated so (status, ml_group_name, end of a trial); check first that the token is of this customer',
  'check-token': () =>
    'check that the token is not expired, and that it belongs to SERVICE_URL and SERVICE_API_KEY; a new log-in gives a new one',
} satisfies Readonly<Record<string, (facts: RemedyFacts) => string>>

export type RemedyName = keyof typeof REMEDIES

/** `waitMs`: before that there is no use in it; null when it is not said how long. */
export type Remedy = { readonly do: RemedyName; readonly waitMs: number | null }
