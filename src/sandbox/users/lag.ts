// Delayed visibility: which of the states that a user went through a GET shows.

/** A state and since when it is held, by the sandbox's clock; it is shown once `lagMs` have passed. */
export type Version<T> = { readonly held: T; readonly at: number; readonly lagMs: number }
/** The oldest first; the last one is what is held. Never empty for a user who is there. */
export type Versions<T> = readonly Version<T>[]

type Moment = { readonly now: number; readonly lagMs: number }

/** Writes that are on their way to be shown; a caller who is faster must not fill the memory. */
export const MOST = 20

/**
 * With one more write. What nobody is shown any more is dropped. Beyond `MOST` a state in the middle is: the one whose
 * neighbours are the closest in time, so that under any number of writes a GET goes on from state to state, none too
 * early and none later than by a ninth of the lag.
 */
export function written<T>(before: Versions<T>, held: T, moment: Moment): Versions<T> {
  const versions = [...before, { held, at: moment.now, lagMs: moment.lagMs }]
  const left = versions.slice(Math.max(0, shownIndex(versions, moment)))
  return left.length <= MOST ? left : left.toSpliced(closest(left), 1)
}

/** Neither the first, which may be the one that is shown, nor the last, which is what is held. */
function closest<T>(versions: Versions<T>): number {
  const gap = (index: number) => (versions[index + 1]?.at ?? 0) - (versions[index - 1]?.at ?? 0)
  const inner = versions.map((_version, index) => index).slice(1, -1)
  return inner.reduce((best, index) => (gap(index) < gap(best) ? index : best), 1)
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
