import { LONGEST_HOLD_MS } from '../pace/common.ts'
import type { CallOutcome, ServiceHealth } from '../pace/pace.ts'
import type { CallErrorKind } from '../service/errors.ts'

export type Method = 'POST' | 'GET' | 'PUT' | 'PATCH'

/** The typed facts of an outcome; call.ts takes them from a reply or a call error. */
export type Outcome =
  | {
      readonly kind: 'reply'
      readonly status: number
      readonly body: BodyKind
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'error'; readonly error: CallErrorKind; readonly reached: 'no' | 'maybe' }

/**
 * `user`: the answer to a GET, with the right `user_id`; `null`: JSON null; `error`: readable and reports an
 * error; `other`: a user, but not the one that was written, or not with that status. */
export type BodyKind = 'none' | 'unreadable' | 'readable' | 'user' | 'null' | 'error' | 'other'

/** The meaning of an answer to a writing request. `unclear`: it may be done or not, and is over. */
export type WriteMeaning =
  | 'done'
  | 'unclear'
  | 'refused'
  | 'denied'
  | 'absent'
  | 'later'
  | 'not-sent'
  | 'unknown'
/** The meaning of an answer to a GET; `failed` changes nothing that is remembered. */
export type ReadMeaning = 'present' | 'absent' | 'later' | 'denied' | 'failed'

/**
 * Only these answers prove that a writing request was not carried out. 408 and every 5xx do not: treating
 * them as "not done" loses updates that were stored before the answer was lost. 413, 414 and 431 are given by a server that
 * found the request too large to read.
 */
const REFUSALS = new Set([400, 401, 403, 404, 409, 410, 413, 414, 422, 429, 431])

/**
 * Classifies the outcome of a writing request. Only a 2xx with an empty or readable body that reports no error is
 * `done`. A 2xx with JSON null or with another user is `unclear`: null may be all that a service has to say, or its way to
 * say that no user is there. All else but a sure refusal leaves the outcome `unknown`: errors are not documented
 * (section 7), so any status may come.
 */
export function classifyWrite(method: Exclude<Method, 'GET'>, outcome: Outcome): WriteMeaning {
  if (outcome.kind === 'error') return outcome.reached === 'no' ? 'not-sent' : 'unknown'
  const { status, body } = outcome
  if (status >= 200 && status < 300) return classifyTaken(body)
  if (!REFUSALS.has(status)) return 'unknown'
  if (status === 429) return 'later'
  if (status === 401 || status === 403) return 'denied'
  if (method !== 'POST' && (status === 404 || status === 410)) return 'absent'
  return 'refused'
}

function classifyTaken(body: BodyKind): 'done' | 'unclear' | 'unknown' {
  if (body === 'null' || body === 'other') return 'unclear'
  return body === 'unreadable' || body === 'error' ? 'unknown' : 'done' // plain: done
}

/** Classifies the outcome of a GET. A user is credible only when the body is one, with the `user_id` asked for. */
export function classifyRead(outcome: Outcome): ReadMeaning {
  if (outcome.kind === 'error') return 'failed'
  const { status, body } = outcome
  if (status === 404 || status === 410) return 'absent'
  if (status === 429) return 'later'
  if (status === 401 || status === 403) return 'denied'
  if (status !== 200) return 'failed'
  if (body === 'user') return 'present'
  return body === 'null' ? 'absent' : 'failed'
}

type Classified = { readonly outcome: Outcome; readonly meaning: WriteMeaning | ReadMeaning }

/**
 * Says what a call tells about the service as a whole. A refusal is an answer of a service that works; an answer that
 * cannot be understood is none. 429 asks for patience, and says nothing of what comes after it.
 */
export function healthOf({ outcome, meaning }: Classified): ServiceHealth {
  if (outcome.kind === 'error') return outcome.error === 'aborted' ? 'neutral' : 'trouble'
  const { status } = outcome
  if (status === 429) return 'neutral'
  if (status === 401 || status === 403) return 'denied'
  if (status >= 500 || status === 408) return 'trouble'
  const understood = meaning !== 'unknown' && meaning !== 'failed'
  return understood || status >= 400 ? 'well' : 'trouble'
}

/** All that it tells the pace. Only 429 and 503 speak for all customers; a 202 may say with the same header when its own work is done. */
export function aboutService(called: Classified): Pick<CallOutcome, 'health' | 'busy' | 'holdMs'> {
  const { outcome } = called
  const busy = outcome.kind === 'reply' && (outcome.status === 429 || outcome.status === 503)
  const holdMs = busy ? Math.min(outcome.retryAfterMs ?? 0, LONGEST_HOLD_MS) : 0
  return { health: healthOf(called), busy, holdMs }
}
