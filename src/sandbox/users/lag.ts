// Delayed visibility: which of the states that a user went through a GET shows.

/** A state and since when it is held, by the sandbox's clock; it is shown once `lagMs` have passed. */
export type Version<T> = { readonly held: T; readonly at: number; readonly lagMs: number }
/** The oldest first; the last one is what is held. Never empty for a user who is there. */
export type Versions<T> = readonly Version<T>[]

type Moment = { readonly now: number; readonly lagMs: number }

/** Writes that are on their way to be shown; a caller who is faster must not fill the memory. */
const MOST = 100

/**
 * With one more write. What nobody is shown any more is dropped; beyond a hundred it is the oldest write that was
 * not shown yet, so that a GET skips a state and never shows one too early.
 */
export function written<T>(before: Versions<T>, held: T, moment: Moment): Versions<T> {
  const versions = [...before, { held, at: moment.now, lagMs: moment.lagMs }]
  const left = versions.slice(Math.max(0, shownIndex(versions, moment)))
  return left.length <= MOST ? left : [...left.slice(0, 1), ...left.slice(2)]
}

/** At once: nothing that was there before is shown any more. */
export function writtenAtOnce<T>(held: T, now: number): Versions<T> {
  return [{ held, at: now, lagMs: 0 }]
}

/** What a GET shows; undefined: a user whose first write is not shown yet. */
export function shownOf<T>(versions: Versions<T>, moment: Moment): T | undefined {
  return versions[shownIndex(versions, moment)]?.held
}

/**
 * A write waits as long as the contract at its time said, or less where the contract now says less. One that lies
 * ahead, because the clock was set back, does not wait.
 */
function shownIndex<T>(versions: Versions<T>, { now, lagMs: most }: Moment): number {
  return versions.findLastIndex(({ at, lagMs }) => now < at || now - at >= Math.min(lagMs, most))
}
