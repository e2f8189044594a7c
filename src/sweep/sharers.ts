// How many customers share a `user_id` with another one whom nobody knows yet, in memory that a million fit in.
import { hash } from 'node:crypto'

/** Fuller than this, an open table is searched for long. */
const FULLEST = 0.7
const LEAST_SLOTS = 1024

/** So many slots, a power of two, that nobody has to move. */
function slotsFor(customers: number): number {
  return Math.max(LEAST_SLOTS, 2 ** Math.ceil(Math.log2(customers / FULLEST + 1)))
}

/**
 * Two newcomers with one `user_id` are told apart by nothing in the ledger, since neither is in it: a dry run has to
 * remember them all. It keeps 63 bits of a digest of each `user_id`, in an open-addressing table of two halves of 32 bits,
 * and one bit that says that it was met before: among a million that two of them meet by chance is once in 20 million runs.
 */
export function makeSharers(expected: number) {
  let slots = slotsFor(expected)
  let high = new Uint32Array(slots)
  let low = new Uint32Array(slots)
  let used = 0
  let sharers = 0

  /** The slot of a digest, or the empty one where it belongs. The last bit of its low half is the mark. */
  function find(up: number, down: number): number {
    let at = (up ^ down) & (slots - 1)
    while ((high[at] !== 0 || low[at] !== 0) && (high[at] !== up || ((low[at] ?? 0) & ~1) >>> 0 !== down))
      at = (at + 1) & (slots - 1)
    return at
  }

  function grow(): void {
    const [highs, lows] = [high, low]
    slots *= 2
    high = new Uint32Array(slots)
    low = new Uint32Array(slots)
    for (const [from, up] of highs.entries()) {
      const down = lows[from] ?? 0
      if (up === 0 && down === 0) continue
      const at = find(up, (down & ~1) >>> 0)
      high[at] = up
      low[at] = down
    }
  }

  return {
    add(userId: string): void {
      const digest = hash('sha256', userId, 'hex')
      // An empty slot is all noughts, so no digest may be.
      const up = Number.parseInt(digest.slice(0, 8), 16) || 1
      const down = (Number.parseInt(digest.slice(8, 16), 16) & ~1) >>> 0
      const at = find(up, down)
      const met = high[at] !== 0
      if (met) {
        sharers += ((low[at] ?? 0) & 1) === 1 ? 1 : 2
        low[at] = (down | 1) >>> 0
        return
      }
      high[at] = up
      low[at] = down
      used++
      if (used > slots * FULLEST) grow()
    },
    /** Customers who share with at least one other. */
    count: () => sharers,
    bytes: () => high.byteLength + low.byteLength,
  }
}
