/** Reproducible randomness: the same seed gives the same run, so that a wrong end can be replayed. */
export type Random = {
  /** An integer from 0 to n - 1. */
  int(n: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly [T, ...T[]]): T
}

/** Mulberry32: 32 bits of state are plenty for a few hundred choices a run, and it is fast. */
export function seeded(seed: number): Random {
  let state = (seed * 2654435761) | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return {
    int: (n) => Math.floor(next() * n),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
  }
}
