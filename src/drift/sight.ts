// What the answer to one GET shows. Pure.
import type { Called } from '../sync/call.ts'
import { classifyRead } from '../sync/classify.ts'
import type { Sight } from './compare.ts'
import type { NoAnswer } from './words.ts'

/** `stopped`: we broke the call off ourselves. */
export type GetShown = { readonly sight: Sight } | { readonly none: NoAnswer } | 'stopped'

/**
 * A sync believes of the same answer no more than this does. A 2xx that is no user is told apart from an answer that is
 * none: what it says would be said of that user again. One that reports an error is an error, and is told as that: whoever
 * looks for a 5xx in the logs of the service would not find it.
 */
export function shownBy({ outcome, remote }: Pick<Called, 'outcome' | 'remote'>): GetShown {
  if (outcome.kind === 'error') {
    if (outcome.error === 'aborted') return 'stopped'
    return { none: outcome.error === 'bad-user-id' ? 'refused' : 'unreached' }
  }
  const meaning = classifyRead(outcome)
  switch (meaning) {
    case 'present':
      return { sight: remote ?? 'unreadable' }
    case 'absent':
      return { sight: 'absent' }
    case 'later':
      return { none: 'busy' }
    case 'denied':
      return { none: 'denied' }
    case 'failed':
      return afterFailure(outcome.status, outcome.body === 'error')
    default:
      return meaning satisfies never
  }
}

function afterFailure(status: number, reportsError: boolean): GetShown {
  if (status >= 200 && status < 300) return reportsError ? { none: 'error' } : { sight: 'unreadable' }
  return { none: status >= 500 || status === 408 ? 'trouble' : 'refused' }
}
