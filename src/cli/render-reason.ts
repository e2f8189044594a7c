import type { CustomerState, Reason, ReasonCode } from '../ledger/record.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { CALL_ERROR_KINDS } from '../service/errors.ts'
import { renderCallError } from './render-step.ts'

/** Says what is wrong, and the one thing to do about it. Both hold codes, statuses and names, never a field's value. */
export type Advice = { readonly what: string; readonly toDo: string }

type About = {
  readonly state?: CustomerState
  /** How many have this reason; default one. */
  readonly customers?: number
}

/** As read: its code may be one that this version does not have. */
type StoredReason = Omit<Reason, 'code'> & { readonly code: string }
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

/** An owed customer is retried by itself; nothing has to be done. */
const WAIT = 'nothing: it is tried again by itself'
const PROVIDER = 'ask the operator of the service'

/** A table that the compiler holds complete: a new code has no way round words of its own. */
const WORDS: Readonly<Record<ReasonCode, Words | ((full: FullReason) => Words)>> = {
  mapping: ({ fields = [] }) => [
    `the mapping makes no user of the row${after(': ', fields)}`,
    `correct ${listed(fields) || 'the field'} in your data, or the mapping; a changed row is tried again by itself`,
  ],
  'shared-user-id': ({ keys }) => [
    `another customer in scope has the same user_id${after(': ', keys)}`,
    'give each a user_id of its own, or leave one of them in scope only',
  ],
  refused: renderRefused,
  'customer-unreadable': renderUnreadable,
  unwatched: ({ misfits }) => [
    `it would lose access by what is seen of a table that may have been made anew: ${listed(misfits, '; ')}`,
    'run `rollcall capture install` once its rows are back, then `rollcall capture resync`',
  ],
  conflict: ({ named, answer }) => [
    `the service says that another user has ${listed(named) || 'the user_id or another value'} (${answer}), and no GET shows this user`,
    `nothing: attempts go with all values and without them in turn; if it stays so, ${PROVIDER} who has the user_id`,
  ],
  denied: renderDenied,
  later: ({ answer }) => [`the service asks to be called later (${answer})`, WAIT],
  failed: ({ answer }) => [
    `a lookup of the user (GET) failed: ${answer}`,
    `${WAIT}; if it stays so, check SERVICE_URL and ${PROVIDER}`,
  ],
  'not-sent': ({ answer, error }) => [
    `nothing was sent: ${answer}`,
    error === 'bad-user-id'
      ? 'correct what the mapping makes the user_id of'
      : 'check SERVICE_URL and the network between; then it is tried again by itself',
  ],
  unknown: ({ answer }) => [
    `it is not known whether the last write was carried out: ${answer}`,
    `nothing: the user is looked up before anything is sent again; if it stays so, ${PROVIDER}`,
  ],
  unclear: ({ answer }) => [
    `the answer to the last write says neither yes nor no: ${answer}`,
    'nothing: the worker looks up the user once a GET is credible',
  ],
  'not-there-yet': [
    'the service does not know a user that was written a moment ago',
    'nothing: it may show late, and is looked up again by itself',
  ],
  'needs-lookup': ['it needs another lookup, and one attempt makes one only', WAIT],
  'created-already': [
    'the user was created and was not there after it; an attempt creates once only',
    `${WAIT}; if it stays so, check that reads and writes reach the same service`,
  ],
  'out-of-time': [
    'the time of the attempt was over before its next call',
    `${WAIT}; if it stays so, the service is slow: raise advanced.timing.lifetimeMs`,
  ],
  'not-noted': [
    'it would lose access, and changes are captured that no worker has noted yet',
    `${WAIT}; if it stays so, no worker runs`,
  ],
  stopping: ['the worker was being stopped', WAIT],
  'just-written': ['it was written a moment ago, and the service may show it late', WAIT],
  held: ({ kinds, state }) =>
    state === 'discarded'
      ? ['a person has discarded the difference', 'nothing; a release lets it through']
      : [
          `it is held with a mass of others${kinds?.length ? ` (${listed(kinds)})` : ''}`,
          'look at `rollcall held`, and release or discard it',
        ],
  paused: ['no worker calls the service now: see `rollcall pace`', WAIT],
  'brake-busy': ['whether it is one of a mass could not be found out', WAIT],
}

function listed(words: readonly string[] = [], between = ', '): string {
  return words.join(between)
}

function after(before: string, words: readonly string[] = []): string {
  return words.length > 0 ? `${before}${listed(words)}` : ''
}

/** By Postgres' code for the error, or by what does not fit. */
export function renderUnreadable({ error, misfits = [] }: Pick<StoredReason, 'error' | 'misfits'>): Words {
  if (misfits.length > 0)
    return [
      `the configuration does not fit the database: ${misfits.join('; ')}`,
      'correct what is named, in the database (docs/operations.md lists the rights) or in rollcall.config.ts',
    ]
  return [
    `Postgres refuses to read the row${error ? ` (${error})` : ''}`,
    error === '42501'
      ? 'grant SELECT on the customers (docs/operations.md lists the rights)'
      : 'make the row readable by SELECT: the table or view of the customers, or what it computes',
  ]
}

/** These say something about the address, or about a user that is there, and nothing about the values. */
const NOT_FOUND = new Set([404, 410])
/** Given by a server that found the request too large to read. */
const TOO_LARGE = new Set([413, 414, 431])

/** Rejected: the status alone was refused as well. Failing: the next create goes without some of the fields. */
function renderRefused({ status = 0, state, fields, named = [], answer }: FullReason): Words {
  if (state === 'rejected')
    return [
      `the service refuses this user (${answer})${after(', also without ', fields)}`,
      TOO_LARGE.has(status)
        ? 'shorten the user_id: the request is too large for the service'
        : `check the status and the user_id that the mapping makes, or ${PROVIDER}; a changed row is tried again by itself, \`--retry\` tries now`,
    ]
  const what = `the service refuses to create the user (${answer})`
  if (NOT_FOUND.has(status)) return [what, 'check SERVICE_URL: nothing may be there to create users with']
  if (named.length > 0)
    return [
      `${what} and names ${listed(named)}`,
      `correct ${listed(named)} in your data; the next attempt goes without`,
    ]
  return [
    `${what}${after(' with ', fields)}`,
    'nothing yet: the next attempt goes with the status alone, and what is then left out is listed',
  ]
}

/** A 403 may be about one user, a 401 never is. */
function renderDenied({ status, customers, answer }: FullReason): Words {
  const keys = 'SERVICE_API_KEY and SERVICE_SECRET_KEY'
  if (status !== 403)
    return [
      `the service does not take the credentials (${answer})`,
      `check ${keys}, and that they belong to SERVICE_URL`,
    ]
  return customers === 1
    ? [
        `the service forbids it for this user (${answer})`,
        `${PROVIDER} why these credentials may not manage this user`,
      ]
    : [
        `the service forbids it for these users (${answer})`,
        `if hardly any call gets through, check ${keys}; else ${PROVIDER} about these users`,
      ]
}

function renderUnheardOf({ code, status, error, fields, answer }: FullReason): Words {
  return [
    `${code}${status || error ? ` (${answer})` : ''}${after(': ', fields)}`,
    'this version of rollcall does not know the reason: look with the version that the workers run',
  ]
}

function answerOf({ status, error }: StoredReason): string {
  if (status !== undefined) return `HTTP ${status}`
  const kind = CALL_ERROR_KINDS.find((known) => known === error)
  return kind ? renderCallError(kind) : (error ?? 'no answer')
}

type ShownIssue = Pick<FieldIssue, 'code' | 'expected'> & {
  readonly field: string
  readonly blocks: boolean
}
type IssueFacts = { readonly [fact in 'field' | 'expected' | 'correct' | 'rest']: string }

const ISSUES: Readonly<Record<FieldIssue['code'], (facts: IssueFacts) => Words>> = {
  refused: ({ field, correct, rest }) => [
    `the service does not take the value of ${field}`,
    `${correct} in your data; ${rest}; \`--retry\` sends the same value again`,
  ],
  taken: ({ field, correct }) => [
    `the service says that another user has the value of ${field}`,
    `nothing: the value is sent again after a minute, an hour, a day, then weekly, and when another customer gives it up; a customer who was removed or is out of scope keeps it at the service. ${correct} in your data if it is wrong`,
  ],
  missing: ({ field, expected, rest }) => [
    `${field} is empty; expected ${expected}`,
    `fill in ${field}; ${rest}`,
  ],
  'not-in-values': ({ field, expected, correct, rest }) => [
    `${field} is none of the listed values; expected ${expected}`,
    `${correct} in your data, or list the value in the mapping; ${rest}`,
  ],
  'function-failed': ({ field, expected, rest }) => [
    `the function for ${field} failed; expected ${expected}`,
    `correct the function in the configuration, or the row; ${rest}`,
  ],
  invalid: ({ field, expected, correct, rest }) => [
    `${field} is not valid; expected ${expected}`,
    `${correct} in your data; ${rest}`,
  ],
}

export const ISSUE_CODES: readonly string[] = Object.keys(ISSUES)

/** Says what is wrong with one field; a code of another version counts as invalid. `blocks`: the customer is rejected for it. */
export function renderIssue({ field, code, expected, blocks }: ShownIssue): Advice {
  const correct = `correct ${field === 'scope' ? 'the scope function' : field}`
  const rest = blocks ? 'nothing is sent until then' : 'the rest is sent without it'
  const words = Object.hasOwn(ISSUES, code) ? ISSUES[code] : ISSUES.invalid
  const [what, toDo] = words({ field, expected, correct, rest })
  return { what, toDo }
}
