import { LONGEST_HOLD_MS } from '../pace/common.ts'
import type { HeardCall, Sign } from '../pace/pace.ts'
import type { Outcome, ReadMeaning, WriteMeaning } from './classify.ts'

/**
 * What a call tells of the service as a whole, whomever it was about. A refusal is an answer of a service that works;
 * an answer that cannot be understood is none. 429 asks for patience, and says nothing of what comes after it.
 */
export function signOf(outcome: Outcome, meaning: WriteMeaning | ReadMeaning): Sign {
  if (outcome.kind === 'error') return outcome.error === 'aborted' ? 'neutral' : 'trouble'
  const { status } = outcome
  if (status === 429) return 'neutral'
  if (status === 401 || status === 403) return 'denied'
  if (status >= 500 || status === 408) return 'trouble'
  const understood = meaning !== 'unknown' && meaning !== 'failed'
  return understood || status >= 400 ? 'well' : 'trouble'
}

/** Only 429 and 503 speak for everybody; a 202 may say with the same header when its own work is done. */
export function busyness(outcome: Outcome): Pick<HeardCall, 'busy' | 'holdMs'> {
  const busy = outcome.kind === 'reply' && (outcome.status === 429 || outcome.status === 503)
  return { busy, holdMs: busy ? Math.min(outcome.retryAfterMs ?? 0, LONGEST_HOLD_MS) : 0 }
}
