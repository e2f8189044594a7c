// The verdicts on one customer: each code with its words, and what to do with each remedy.
import type { CustomerState } from '../ledger/record.ts'
import type { FieldIssue } from '../model/customer.ts'

export const VERDICTS = {
  full: { can: 'yes', says: 'full access' },
  trial: {
    can: 'yes',
    says: 'a trial (status 4)',
  },
  'no-such-customer': {
    can: 'no',
    says: 'no such customer in your data or at the service: check the key',
  },
  'not-registered': { can: 'no', says: 'not registered at the service' },
  'no-access': { can: 'no', says: 'registered, but without access' },
  'trial-ended': { can: 'no', says: 'the trial has ended; rollcall does not start it again' },
  'no-user-id': { can: 'no', says: 'the customer has no user_id, so it cannot be registered' },
  'chat-shut': { can: 'no', says: 'the status gives access, but the chat refuses the user (403)' },
  'none-visible': {
    can: 'no',
    says: 'the status gives access, but the user sees no professional: check ml_group_name',
  },
  'no-answer': { can: 'unknown', says: 'the service gave no answer about this user' },
  'strange-status': { can: 'unknown', says: 'the service shows a status that its interface does not define' },
  'chat-silent': {
    can: 'unknown',
    says: 'the status gives access, but the chat gave no clear answer about this user',
  },
} as const

export type AccessReason = keyof typeof VERDICTS
export type AccessVerdict = { readonly can: 'yes' | 'no' | 'unknown'; readonly why: AccessReason }

type RemedyFacts = {
  /** The command that reads the user by GET first, and so repairs also what rollcall remembers wrongly. */
  readonly sync: string
  readonly key: string
  readonly later: string
  readonly state: CustomerState | undefined
  /** Kinds of a discarded change. */
  readonly discarded: readonly string[]
  /** There is no such row. */
  readonly removed: boolean
  readonly leftOut: readonly FieldIssue[]
  /** As other commands say it. */
  readonly known: string
  readonly service: {
    readonly kind: string
    readonly why?: string
    readonly http?: number | null
    readonly status?: number
  }
}

export const CHECK_KEYS = 'check SERVICE_API_KEY and SERVICE_SECRET_KEY'

export const CHECK_WORKER = 'check that `rollcall worker` runs, and see `rollcall pace`'

export const MAPPING_INACTIVE =
  'another mapping is active, so nothing is sent with the mapping of this configuration. If this one is newer, activate it with `rollcall backfill --mapping`. If it is older, use the newer configuration'

export const NO_DIGEST_KEY = 'neither ROLLCALL_DIGEST_KEY nor ROLLCALL_DIGEST_KEY_FILE is set'

export const REMEDIES = {
  /** At the wrong server each user seems to be missing, and a sync would register it there. */
  sync: ({ sync, state, service, removed }) => {
    if (state === undefined && removed) return `check the key. If its row was deleted, run ${sync}`
    return service.kind === 'absent' && state !== undefined
      ? `check SERVICE_URL. If it is correct, run ${sync}`
      : `run ${sync}`
  },
  wait: ({ sync }) => `nothing, if a worker runs. To sync now, run ${sync}`,
  'apply-mapping': () => MAPPING_INACTIVE,
  /** Rows may be missing by mistake, so nothing that takes access is advised. */
  'restore-rows': ({ known }) => known,
  'start-worker': ({ sync }) => `${CHECK_WORKER}. To sync now, run ${sync}`,
  correct: ({ leftOut, key }) => {
    const fields = leftOut.map(({ field }) => field).join(', ')
    const failed = leftOut.some(({ code }) => code === 'function-failed')
    const again = leftOut.some(({ code }) => code === 'refused' || code === 'taken')
    const retry = again ? `. To send the same value again, run \`rollcall failures --retry ${key}\`` : ''
    return `${leftOut.length > 1 ? 'check and ' : ''}correct ${fields === '' ? 'the row' : `the value for ${fields} in your data,`} or ${failed ? 'the function in ' : ''}the mapping. Workers sync a changed row automatically${retry}`
  },
  decide: ({ key, state, discarded, sync, service }) => {
    if (state !== 'discarded')
      return `see \`rollcall held ${key}\`, then release or discard the change, or correct your data`
    const first =
      service.kind === 'absent' && !discarded.includes('create') ? 'check SERVICE_URL. Then: ' : ''
    return `${first}to send the discarded change, run \`rollcall held release ${key} --why …\`. To send other changes, if there are any, run ${sync}`
  },
  /** The row cannot be read, for another reason than a lock. */
  'make-readable': ({ known }) => known,
  /** A watched table has no triggers, or disabled ones. */
  'install-capture': () =>
    'a watched table lacks active triggers. If it lost rows, restore them first: a resync revokes the access of customers without a row. Then run `rollcall capture install` and `rollcall capture resync`',
  migrate: ({ sync }) => `run \`rollcall migrate\`, then ${sync}`,
  'name-target': ({ known }) => known,
  'check-keys': ({ service }) =>
    service.http === 403
      ? `${CHECK_KEYS}. If the service answers for other customers, ask the provider of the service about this user`
      : `${CHECK_KEYS}, and that they belong to SERVICE_URL`,
  /** No answer came, or what answers is perhaps not the service. */
  'check-address': () =>
    'check SERVICE_URL. If it is correct, try again later, or ask the provider of the service',
  'try-later': ({ later, service }) => {
    if (service.why === 'no-permit') return `${later}; see \`rollcall pace\``
    return service.why === 'outage'
      ? `${later}; see \`rollcall pace\`. A running worker tests the service, and so does \`rollcall sync\``
      : later
  },
  'shown-late': ({ later }) =>
    `${later}: the user was written a moment ago, and the service may show it late`,
  /** The service shows a status that the interface does not have. */
  'ask-provider': () => 'ask the provider of the service about the status of this user',
  /** The chat shuts out a user whose status gives access. */
  'ask-about-chat': ({ service }) =>
    service.status === 4
      ? 'check that the token belongs to this customer. If it does, the trial has ended: status 2 gives access again'
      : 'check that the token belongs to this customer. Then ask the provider of the service about this user',
  'ask-about-group': () =>
    'ask the provider of the service which professionals belong to the ml_group_name of this user',
  'check-token': () =>
    'let the user log in again for a new token. If it is refused too, check SERVICE_URL and SERVICE_API_KEY',
} satisfies Readonly<Record<string, (facts: RemedyFacts) => string>>

export type RemedyName = keyof typeof REMEDIES

/** `waitMs`: before that there is no use in it; null when it is not said how long. */
export type Remedy = { readonly do: RemedyName; readonly waitMs: number | null }
