import type { CustomerState, Reason, ReasonCode } from '../ledger/record.ts'
import type { FieldIssue } from '../model/mapped.ts'
import { CALL_ERROR_KINDS } from '../service/errors.ts'
import { sayCallError } from './say-step.ts'

/** What is wrong, and the one thing to do about it. Both hold codes, statuses and names, never a field's value. */
export type Advice = { readonly what: string; readonly toDo: string }

type About = {
  readonly state?: CustomerState
  /** How many have this reason; default one. */
  readonly customers?: number
}

/** As read: its code may be one that this version does not have. */
export type StoredReason = Omit<Reason, 'code'> & { readonly code: string }
type Told = StoredReason & Required<About>

/**
 * A reason in words. Reasons are stored, so one may come from another version: its code is then shown as it is.
 */
export function sayReason(reason: StoredReason, { state = 'failing', customers = 1 }: About = {}): Advice {
  const told = { ...reason, state, customers }
  return isReasonCode(reason.code) ? WORDS[reason.code](told) : sayUnheardOf(told)
}

export function isReasonCode(code: string): code is ReasonCode {
  return Object.hasOwn(WORDS, code)
}

/** Whoever is owed comes again by itself, and there is nothing that has to be done. */
const WAIT = 'nothing: it is tried again by itself'
const PROVIDER = 'ask whoever runs the service'

/** A table that the compiler holds complete: a new code has no way round words of its own. */
const WORDS: Readonly<Record<ReasonCode, (told: Told) => Advice>> = {
  mapping: ({ fields = [] }) => ({
    what: `the mapping makes no user of the row${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`,
    toDo: `correct ${fields.length > 0 ? fields.join(', ') : 'the field'} in your data, or the mapping; a changed row is tried again by itself`,
  }),
  'shared-user-id': ({ keys = [] }) => ({
    what: `another customer in scope has the same user_id${keys.length > 0 ? `: ${keys.join(', ')}` : ''}`,
    toDo: 'give each a user_id of its own, or leave one of them in scope only',
  }),
  refused: sayRefused,
  'customer-unreadable': ({ error, misfits = [] }) => {
    if (misfits.length > 0)
      return {
        what: `the configuration does not fit the database: ${misfits.join('; ')}`,
        toDo: 'correct what is named, in the database (the README lists the rights) or in rollcall.config.ts',
      }
    return {
      what: `Postgres refuses to read the row${error ? ` (${error})` : ''}`,
      toDo:
        error === '42501'
          ? 'grant SELECT on the customers (the README lists the rights)'
          : 'make the row readable by SELECT: the table or view of the customers, or what it computes',
    }
  },
  unwatched: ({ misfits = [] }) => ({
    what: `it would lose access by what is seen of a table that may have been made anew: ${misfits.join('; ')}`,
    toDo: 'run `rollcall capture install` once its rows are back, then `rollcall capture resync`',
  }),
  conflict: (told) => ({
    what: `the service says that another user has ${told.named?.join(', ') ?? 'the user_id or another value'} (${answerOf(told)}), and no GET shows this user`,
    toDo: `nothing: attempts go with all values and without them in turn; if it stays so, ${PROVIDER} who has the user_id`,
  }),
  denied: sayDenied,
  later: (told) => ({ what: `the service asks to be called later (${answerOf(told)})`, toDo: WAIT }),
  failed: (told) => ({
    what: `a look at the user (GET) failed: ${answerOf(told)}`,
    toDo: `${WAIT}; if it stays so, check SERVICE_URL and ${PROVIDER}`,
  }),
  'not-sent': (told) => ({
    what: `nothing was sent: ${answerOf(told)}`,
    toDo:
      told.error === 'bad-user-id'
        ? 'correct what the mapping makes the user_id of'
        : 'check SERVICE_URL and the network between; then it is tried again by itself',
  }),
  unknown: (told) => ({
    what: `it is not known whether the last write was carried out: ${answerOf(told)}`,
    toDo: `nothing: the user is looked at before anything is sent again; if it stays so, ${PROVIDER}`,
  }),
  unclear: (told) => ({
    what: `the answer to the last write says neither yes nor no: ${answerOf(told)}`,
    toDo: 'nothing: the worker looks up the user once a GET can be believed',
  }),
  'not-there-yet': () => ({
    what: 'the service does not know a user that was written a moment ago',
    toDo: 'nothing: it may show late, and is looked at again by itself',
  }),
  'looked-already': () => ({
    what: 'a second look would have been needed in one attempt, and it makes one only',
    toDo: WAIT,
  }),
  'created-already': () => ({
    what: 'the user was created and was not there after it; an attempt creates once only',
    toDo: `${WAIT}; if it stays so, check that reads and writes reach the same service`,
  }),
  'out-of-time': () => ({
    what: 'the time of the attempt was over before its next call',
    toDo: `${WAIT}; if it stays so, the service is slow: raise timing.lifetimeMs`,
  }),
  'not-noted': () => ({
    what: 'it would lose access, and changes are captured that no worker has noted yet',
    toDo: `${WAIT}; if it stays so, no worker runs`,
  }),
  stopping: () => ({ what: 'the worker was being stopped', toDo: WAIT }),
  'just-written': () => ({
    what: 'it was written a moment ago, and the service may show it late',
    toDo: WAIT,
  }),
  held: ({ kinds = [] }) => ({
    what: `it is held with a mass of others${kinds.length > 0 ? ` (${kinds.join(', ')})` : ''}`,
    toDo: 'look at `rollcall held`, and release or discard it',
  }),
  paused: () => ({ what: 'nobody calls the service now: see `rollcall pace`', toDo: WAIT }),
  'brake-busy': () => ({ what: 'whether it is one of a mass could not be found out', toDo: WAIT }),
}

export const REASON_CODES: readonly string[] = Object.keys(WORDS)

/** These say something about the address, or about somebody who is there, and nothing about the values. */
const NOT_FOUND = new Set([404, 410])
/** Given by whoever found the request too large to read. */
const TOO_LARGE = new Set([413, 414, 431])

/** Rejected: the status alone was refused as well. Failing: the next create goes without some of the fields. */
function sayRefused(told: Told): Advice {
  const { status = 0, state, fields = [], named = [] } = told
  const answer = answerOf(told)
  if (state === 'rejected') {
    const tried = fields.length > 0 ? `, also without ${fields.join(', ')}` : ''
    return {
      what: `the service refuses this user (${answer})${tried}`,
      toDo: TOO_LARGE.has(status)
        ? 'shorten the user_id: the request is too large for the service'
        : `check the status and the user_id that the mapping makes, or ${PROVIDER}; a changed row is tried again by itself, \`--retry\` tries now`,
    }
  }
  const what = `the service refuses to create the user (${answer})`
  if (NOT_FOUND.has(status))
    return { what, toDo: 'check SERVICE_URL: nothing may be there to create users with' }
  if (named.length > 0)
    return {
      what: `${what} and names ${named.join(', ')}`,
      toDo: `correct ${named.join(', ')} in your data; the next attempt goes without`,
    }
  const tried = fields.length > 0 ? ` with ${fields.join(', ')}` : ''
  return {
    what: `${what}${tried}`,
    toDo: 'nothing yet: the next attempt goes with the status alone, and what is then left out is listed',
  }
}

/** A 403 may be about one user, a 401 never is. */
function sayDenied(told: Told): Advice {
  const answer = answerOf(told)
  const keys = 'SERVICE_API_KEY and SERVICE_SECRET_KEY'
  if (told.status !== 403) {
    return {
      what: `the service does not take the credentials (${answer})`,
      toDo: `check ${keys}, and that they belong to SERVICE_URL`,
    }
  }
  return told.customers === 1
    ? {
        what: `the service forbids it for this user (${answer})`,
        toDo: `${PROVIDER} why these credentials may not manage this user`,
      }
    : {
        what: `the service forbids it for these users (${answer})`,
        toDo: `if hardly anybody gets through, check ${keys}; else ${PROVIDER} about these users`,
      }
}

function sayUnheardOf(told: Told): Advice {
  const { fields = [] } = told
  return {
    what: `${told.code}${told.status || told.error ? ` (${answerOf(told)})` : ''}${fields.length > 0 ? `: ${fields.join(', ')}` : ''}`,
    toDo: 'this version of rollcall does not know the reason: look with the version that the workers run',
  }
}

/** What came of the call: a status, or why there was none. */
function answerOf({ status, error }: StoredReason): string {
  if (status !== undefined) return `HTTP ${status}`
  const kind = CALL_ERROR_KINDS.find((known) => known === error)
  return kind ? sayCallError(kind) : (error ?? 'no answer')
}

/** What is wrong with one field. `blocks`: the customer is rejected for it. */
export function sayIssue({ field, code, expected, blocks }: IssueTold): Advice {
  const correct = `correct ${field === 'scope' ? 'the scope function' : field}`
  const rest = blocks ? 'nothing is sent until then' : 'the rest is sent without it'
  switch (code) {
    case 'refused':
      return {
        what: `the service does not take the value of ${field}`,
        toDo: `${correct} in your data; ${rest}; \`--retry\` sends the same value again`,
      }
    case 'taken':
      return {
        what: `the service says that another user has the value of ${field}`,
        toDo: `nothing: the value is sent again after a minute, an hour, a day, then weekly, and when another customer gives it up; a customer who was removed or is out of scope keeps it at the service. ${correct} in your data if it is wrong`,
      }
    case 'missing':
      return { what: `${field} is empty; expected ${expected}`, toDo: `fill in ${field}; ${rest}` }
    case 'not-in-values':
      return {
        what: `${field} is none of the listed values; expected ${expected}`,
        toDo: `${correct} in your data, or list the value in the mapping; ${rest}`,
      }
    case 'function-failed':
      return {
        what: `the function for ${field} failed; expected ${expected}`,
        toDo: `correct the function in the configuration, or the row; ${rest}`,
      }
    case 'invalid':
      return { what: `${field} is not valid; expected ${expected}`, toDo: `${correct} in your data; ${rest}` }
    default: {
      const other: string = code satisfies never
      return { what: `${field}: ${other}; expected ${expected}`, toDo: `${correct} in your data; ${rest}` }
    }
  }
}

type IssueTold = Pick<FieldIssue, 'code' | 'expected'> & {
  readonly field: string
  readonly blocks: boolean
}
