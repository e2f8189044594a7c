import { seededRandom } from '../../src/sandbox/faults/faults.ts'

/** Reproducible randomness: the same seed gives the same run, so that a wrong end can be replayed. */
export type Random = {
  /** An integer from 0 to n - 1. */
  int(n: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly [T, ...T[]]): T
}

export function seeded(seed: number): Random {
  const next = seededRandom(seed * 2654435761)
  return {
    int: (n) => Math.floor(next() * n),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
  }
}
