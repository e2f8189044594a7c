import type { Person } from './people.ts'

/** The customers in random order, to be taken from. */
export type Deck = {
  /** The next so many who fit, nobody twice; fewer when there are no more. */
  take(count: number, fits: (person: Person) => boolean): readonly Person[]
}

export function deck(people: readonly Person[], random: () => number): Deck {
  let left = people
    .map((person) => ({ person, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ person }) => person)
  return {
    take(count, fits) {
      const taken = new Set(left.filter(fits).slice(0, count))
      left = left.filter((person) => !taken.has(person))
      return [...taken]
    },
  }
}
