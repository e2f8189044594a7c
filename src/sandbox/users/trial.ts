// Status 4: a free trial of a duration configured in advance (section 2.6). How it ends is not shown, and so is a
// matter of the contract.
import type { Contract } from '../contract/contract.ts'

/** When the user's one trial began, in epoch milliseconds by the sandbox's clock; null: never. */
export type TrialStart = number | null

type TrialContract = Pick<Contract, 'trialMs' | 'trialEnd' | 'trialAgain'>

/** `none`: status 0. `trial-over`: status 4, and the time has passed, whatever a GET shows. */
export type Access = 'none' | 'full' | 'trial' | 'trial-over'

/** What is held of a user in this respect, and by what it is judged. */
export type Standing = {
  readonly status: number
  readonly trialStart: TrialStart
  readonly now: number
  readonly contract: TrialContract
}

/**
 * The trial after a write with this status. It begins with the first one that says 4, and goes on by the clock
 * whatever is written meanwhile: 2 and 4 again is the same trial, unless writing 4 starts it anew. A clock that was
 * set back to before its beginning takes it back: the next 4 begins it.
 */
export function trialAfter({ status, trialStart, now, contract }: Standing): TrialStart {
  if (status !== 4) return trialStart
  const begins = trialStart === null || trialStart > now || contract.trialAgain === 'restarts'
  return begins ? now : trialStart
}

/** Judged by the duration that is in force now, so that a trial can be made to end at once. */
export function accessOf({ status, trialStart, now, contract }: Standing): Access {
  if (status === 2) return 'full'
  if (status !== 4) return 'none'
  return trialStart !== null && now - trialStart >= contract.trialMs ? 'trial-over' : 'trial'
}

/** The status that a GET shows. */
export function shownStatus(standing: Standing): number {
  const flips = standing.contract.trialEnd === 'flips'
  return flips && accessOf(standing) === 'trial-over' ? 0 : standing.status
}
