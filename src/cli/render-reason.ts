import { CHECK_KEYS, REMEDIES } from '../explain/verdicts.ts'
import type { Reason, ReasonCode } from '../ledger/reason.ts'
import type { CustomerState } from '../ledger/record.ts'
import type { FieldIssue } from '../model/customer.ts'
import { CALL_ERROR_KINDS, CallError, type CallErrorKind } from '../service/errors.ts'
import { few, shown } from './render.ts'

/** Says what is wrong, and the one thing to do about it. Both hold codes, statuses and names, never a field's value. */
export type Advice = { readonly what: string; readonly toDo: string }

type About = {
  readonly state?: CustomerState | 'released'
  readonly customers?: number
}

/** As read: its code may be one that this version does not have. Null: the customers of a group differ in it. */
type StoredReason = { readonly code: string } & {
  readonly [Part in Exclude<keyof Reason, 'code'>]?: Reason[Part] | null
}
type FullReason = StoredReason & Required<About> & { readonly answer: string }
type Words = readonly [what: string, toDo: string]

/** A reason in words. Reasons are stored, so one may come from another version: its code is then shown as it is. */
export function renderReason(reason: StoredReason, { state = 'failing', customers = 1 }: About = {}): Advice {
  const words = isReasonCode(reason.code) ? WORDS[reason.code] : renderUnheardOf
  const full = { ...reason, state, customers, answer: answerOf(reason) }
  const [what, toDo] = typeof words === 'function' ? words(full) : words
  return { what, toDo }
}

export function isReasonCode(code: string): code is ReasonCode {
  return Object.hasOwn(WORDS, code)
}

export const WAIT = 'nothing: workers retry automatically'
const PROVIDER = 'ask the provider of the service'
const GOES_ON = 'If retries keep failing'
const UNREACHED = 'check SERVICE_URL and the network. Workers retry automatically'
const NOT_CONNECTED = new Set<string>([
  'dns',
  'refused',
  'unreachable',
  'tls',
  'connect-timeout',
] satisfies CallErrorKind[])
const LOOKED_UP = 'nothing: a worker looks up the user before it sends again'

/** As the commands list a reason, and as `failures --reason` takes it. */
export function reasonName({ code, status, error }: StoredReason): string {
  const detail = status ?? error ?? null
  return shown(detail === null ? code : `${code}:${detail}`)
}

export function issueName({ field, code }: { readonly [part in 'field' | 'code']: string }): string {
  return shown(`issue:${field}:${code}`)
}

function answerOf({ status, error }: StoredReason): string {
  if (typeof status === 'number') return `HTTP ${status}`
  const kind = CALL_ERROR_KINDS.find((known) => known === error)
  return kind ? renderCallError(kind) : (error ?? 'no answer')
}

/** In the middle of a line, and without the code that Node has for it. */
export function renderCallError(kind: CallErrorKind): string {
  const { message } = new CallError(kind, 'no')
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`
}

/** A table that the compiler holds complete: a new code has no way round words of its own. */
const WORDS: Readonly<Record<ReasonCode, Words | ((full: FullReason) => Words)>> = {
  mapping: ({ fields }) => [
    `the mapping cannot build a user from the row${fields?.length ? ` (${listed(fields)})` : ''}`,
    fields?.includes('scope')
      ? 'correct the scope function in rollcall.config.ts'
      : `correct ${fields?.length ? `the value for ${listed(fields)}` : 'the value'} in your data, or the mapping. Workers retry a changed row automatically`,
  ],
  'shared-user-id': ({ keys }) => [
    `${keys?.length ? keys.map((key) => `customer ${key}`).join(', ') : 'another customer'}, also in scope, ${(keys?.length ?? 0) > 1 ? 'have' : 'has'} the same user_id`,
    'give each customer its own user_id, or keep only one of them in scope',
  ],
  refused: renderRefused,
  'erasure-refused': ({ answer, fields, named }) => [
    `the service refuses to clear personal fields (${answer}): ${listed(named?.length ? named : fields)}`,
    `${PROVIDER} to clear these fields. Workers retry automatically`,
  ],
  'customer-unreadable': renderUnreadable,
  unwatched: ({ misfits }) => [
    `the row is missing or gives no access. But a watched table lacks active triggers${misfits?.length ? ` (${misfits.join('; ')})` : ''}, and until it has them rollcall takes no access away`,
    REMEDIES['install-capture'](),
  ],
  conflict: ({ named, answer }) => [
    `the service says that ${listed(named) || 'the user_id or a field value'} ${(named?.length ?? 0) > 1 ? 'are' : 'is'} taken (${answer}), but it has no user with the user_id of this customer`,
    `${WAIT}. ${GOES_ON}, ${PROVIDER} which user has ${listed(named) ? `the same ${listed(named)}` : 'this user_id, or one of the values of this customer'}`,
  ],
  denied: renderDenied,
  later: ({ answer }) => [`the service asks rollcall to call later (${answer})`, WAIT],
  failed: ({ answer, status, error }) => [
    `a lookup of the user (GET) failed (${answer}${status === 200 ? ', but the answer does not show this user' : ''})`,
    NOT_CONNECTED.has(error ?? '') ? UNREACHED : `${WAIT}. ${GOES_ON}, check SERVICE_URL and ${PROVIDER}`,
  ],
  'not-sent': ({ answer, error }) => [
    `nothing was sent (${answer})`,
    error === 'bad-user-id' ? 'correct the user_id in the mapping, or its column in your data' : UNREACHED,
  ],
  unknown: ({ answer, status }) => [
    `it is not known whether the last write was carried out (${answer}${unconfirmed(status)})`,
    `${LOOKED_UP}. ${GOES_ON}, ${PROVIDER}`,
  ],
  unclear: ({ answer, status }) => [
    `the answer to the last write is unclear (${answer}${unconfirmed(status)})`,
    LOOKED_UP,
  ],
  'not-there-yet': ({ answer }) => [
    `the service answered ${answer} to an update, although it had this user before`,
    `${LOOKED_UP}. ${GOES_ON}, ${PROVIDER}`,
  ],
  'needs-lookup': ['the user needs another lookup (GET), which the next attempt makes', WAIT],
  'created-already': [
    'the user was created, but the next GET did not find it',
    `${WAIT}. ${GOES_ON}, check that reads and writes reach the same service`,
  ],
  'out-of-time': [
    'the attempt ran out of time before its next call',
    `${WAIT}. ${GOES_ON}, the service is slow: raise advanced.timing.lifetimeMs`,
  ],
  'not-noted': [
    'the next call would revoke access; workers make it only after they have taken the waiting changes from the outbox',
    WAIT,
  ],
  stopping: ['the attempt ended early, because its process was stopped', WAIT],
  'just-written': ['the user was written a moment ago, and the service may show it late', WAIT],
  held: ({ kinds, state }) => {
    const which = kinds?.length ? ` (kind${kinds.length > 1 ? 's' : ''} ${listed(kinds)})` : ''
    if (state === 'discarded')
      return [
        `a person has discarded the change${which}`,
        'nothing; to send the change after all, run `rollcall held release KEY --why …`',
      ]
    if (state === 'released')
      return ['a person has approved the change; its sync is due', 'nothing: a worker sends the change']
    return [`the brake holds the change${which}`, 'see `rollcall held`, then release or discard the change']
  },
  paused: ['no worker calls the service now: see `rollcall pace`', WAIT],
  'brake-busy': ['rollcall could not ask the brake in time, so it did not send the change', WAIT],
}

function listed(words: readonly string[] | null = []): string {
  return words?.join(', ') ?? ''
}

function after(before: string, words?: readonly string[] | null, between = ', '): string {
  return words?.length ? `${before}${words.join(between)}` : ''
}

/** By Postgres' code for the error, or by what does not fit. */
function renderUnreadable({ error, misfits }: Pick<StoredReason, 'error' | 'misfits'>): Words {
  if (misfits?.length)
    return [
      `the configuration does not fit the database: ${misfits.join('; ')}`,
      'correct this in the database or in rollcall.config.ts; docs/operations.md lists the rights that rollcall needs',
    ]
  return [
    `rollcall cannot read the row from Postgres${error ? ` (${error})` : ''}`,
    error === '42501'
      ? 'grant SELECT on the customers (docs/operations.md lists the rights)'
      : 'run a SELECT of this row; if it fails, correct the value, view or function',
  ]
}

function unconfirmed(status: number | null | undefined): string {
  return status === 200 ? ', but the body does not confirm the write' : ''
}

/** These say something about the address, or about a user that is there, and nothing about the values. */
const NOT_FOUND = new Set([404, 410])
/** Given by a server that found the request too large to read. */
const TOO_LARGE = new Set([413, 414, 431])

/** Rejected: the status alone was refused as well. Failing: a later attempt may go without some of the fields. */
function renderRefused({ status, state, fields, named, answer }: FullReason): Words {
  if (state === 'rejected')
    return [
      `the service refuses this user (${answer})${fields?.length ? `. It also refused a second call without ${listed(fields)}` : ''}`,
      TOO_LARGE.has(status ?? 0)
        ? 'shorten the user_id: it makes the request too large for the service'
        : `check the status and the user_id that the mapping makes, or ${PROVIDER}. To retry now, run \`rollcall failures --retry KEY\``,
    ]
  const what = `the service refuses the write for this user (${answer})`
  if (NOT_FOUND.has(status ?? 0)) return [what, 'check SERVICE_URL: it may not be the address of the service']
  if (named?.length)
    return [
      `${what}, and its answer names ${named.map((field) => `"${field}"`).join(', ')}`,
      `correct the value for ${listed(named)} in your data. The next attempt is made without ${named.length > 1 ? 'these values' : 'this value'}`,
    ]
  return [
    `${what}${after('. Besides the status, a refused write carried: ', fields?.length ? [few(fields)] : [])}`,
    `${WAIT}. ${GOES_ON}, ${PROVIDER}`,
  ]
}

/** A 403 may be about one user, a 401 never is. */
function renderDenied({ status, customers, answer }: FullReason): Words {
  if (status !== 403)
    return [
      `the service refuses the credentials (${answer})`,
      `${CHECK_KEYS}, and that they belong to SERVICE_URL`,
    ]
  const whom = customers === 1 ? 'this user' : 'these users'
  return [
    `the service refuses calls for ${whom} (${answer})`,
    `if most calls are refused, ${CHECK_KEYS}. Otherwise ${PROVIDER} about ${whom}`,
  ]
}

function renderUnheardOf({ code, status, error, fields, answer }: FullReason): Words {
  return [
    `this version of rollcall does not know the reason "${code}"${status || error ? ` (${answer})` : ''}${after('; fields: ', fields)}`,
    'use the version of rollcall that the workers have',
  ]
}

type ShownIssue = Pick<FieldIssue, 'code' | 'expected'> & {
  readonly field: string
  /** All of them, where several are one issue. */
  readonly fields?: readonly string[]
  readonly customers?: number
  readonly blocks: boolean
}

const WITHOUT_NAME = new Set(['refused', 'taken'])

/** A refusal or a 409 that names no field is stored for each field that was sent. For one customer it is one issue to a person. */
export function together<Issue extends { field: string; code: string; customers?: number; example?: string }>(
  issues: readonly Issue[],
) {
  const groups = Map.groupBy(issues, (issue) =>
    WITHOUT_NAME.has(issue.code) && (issue.customers ?? 1) === 1 ? `${issue.code} ${issue.example}` : issue,
  )
  return [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map((issue) => ({ ...issue, fields: group.map(({ field }) => field) })),
  )
}

const ISSUES: Readonly<
  Record<
    FieldIssue['code'],
    (facts: { field: string; expected: string; correct: string; customers: number }) => Words
  >
> = {
  refused: ({ field, correct, customers }) => [
    `the service refuses the value of ${field}${customers > 1 ? ', or of a field sent with it' : ''}`,
    `${correct}. If it is right, \`rollcall failures --retry KEY\` sends it again`,
  ],
  taken: ({ field, correct, customers }) => [
    `the service says that another user already has the same ${field}${customers > 1 ? ', or the same value of a field sent with it' : ''}`,
    `if the value is wrong, ${correct}. If it is right, do nothing: workers send it again later (docs/retries.md says when)`,
  ],
  missing: ({ field, expected }) => [
    `the field ${field} is empty; expected ${expected}`,
    `fill in ${field} in your data`,
  ],
  'not-in-values': ({ field, expected, correct }) => [
    `the column for ${field} has a value that the mapping does not list; expected ${expected}`,
    `${correct}, or list the value in the mapping`,
  ],
  'function-failed': ({ field, expected }) => [
    `the function for ${field} threw an error, or returned an unusable value; expected ${expected}`,
    'correct the function in the configuration, or the row',
  ],
  'several-rows': () => [
    'several rows have this customer key',
    'let the table or view have one row for each customer key',
  ],
  invalid: ({ field, expected, correct }) => [
    `the value of ${field} is not valid; expected ${expected}`,
    correct,
  ],
}

export const ISSUE_CODES: readonly string[] = Object.keys(ISSUES)

function renderTogether(code: string, fields: readonly string[]): Advice {
  const [says, toDo] =
    code === 'taken'
      ? [
          'says that another user has one or more of these values:',
          'If all are right, do nothing: workers send them again later',
        ]
      : [
          'refuses one or more of these values:',
          'If all are right, `rollcall failures --retry KEY` sends them again',
        ]
  return {
    what: `the service ${says} ${listed(fields)}`,
    toDo: `check the values of ${listed(fields)} in your data, and correct those that are wrong. ${toDo}`,
  }
}

/** Says what is wrong with one field; a code of another version counts as invalid. `blocks`: the customer is rejected for it. */
export function renderIssue(issue: ShownIssue): Advice {
  const { field, fields = [field], customers = 1, code, expected, blocks } = issue
  const rest = blocks ? 'nothing is sent' : `${field} is not sent`
  if (fields.length > 1) return renderTogether(code, fields)
  const correct =
    field === 'scope' ? 'correct the scope function' : `correct the value for ${field} in your data`
  const words = Object.hasOwn(ISSUES, code) ? ISSUES[code] : ISSUES.invalid
  const [what, toDo] = words({ field, expected, correct, customers })
  return { what, toDo: `${toDo}. Until then, ${rest}` }
}
