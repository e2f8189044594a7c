// How much of what was verified lately is drift, and what follows from it. Pure.

/** So many of those verified last count. */
export const COUNTED = 200
/** So few differ somewhere at any time; below this no share is told by them. */
const FEW = 3

/** A letter for each customer that was verified, the latest last. */
export const AGREED = 'a'
export const DRIFTED = 'd'

/** Not more than the last COUNTED. */
export function withLatest(recent: string, latest: string): string {
  return (recent + latest).slice(-COUNTED)
}

export type Share = {
  readonly counted: number
  readonly drifted: number
  /** How many may have drifted among so many before repairs wait. */
  readonly most: number
  readonly over: boolean
}

/**
 * Single differences are mended; a mass of them is a wrong address, an emptied environment, or a mistake of ours, and
 * mending it could be the greater damage. Of few customers a share says little, so a handful is always let pass; all of
 * a handful is no mass either way. The share falls by itself when others agree again.
 *
 * @param maxShare between 0 and 1
 */
export function shareOfLatest(recent: string, maxShare: number): Share {
  const drifted = [...recent].filter((letter) => letter === DRIFTED).length
  return shareAmong({ counted: recent.length, drifted }, maxShare)
}

/** The same of customers who are counted already, as those of a whole run. */
export function shareAmong(
  { counted, drifted }: Pick<Share, 'counted' | 'drifted'>,
  maxShare: number,
): Share {
  const most = Math.max(FEW, Math.floor(maxShare * counted))
  return { counted, drifted, most, over: drifted > most }
}
