/** How many calls, by the customer's row id in `owed`. */
export type Tally = Readonly<Record<string, number>>

/** More customers than these are not remembered: the row stays small, whatever happens. */
export const MOST_CUSTOMERS = 500

export function add(tally: Tally, id: string): Tally {
  return merge(tally, { [id]: 1 })
}

/** Of customers beyond the limit those of `more` are left out. */
export function merge(tally: Tally, more: Tally): Tally {
  const sum = new Map(Object.entries(tally))
  for (const [id, calls] of Object.entries(more)) {
    const before = sum.get(id)
    if (before !== undefined || sum.size < MOST_CUSTOMERS) sum.set(id, (before ?? 0) + calls)
  }
  return Object.fromEntries(sum)
}

export function sumOf(tally: Tally): number {
  return Object.values(tally).reduce((sum, calls) => sum + calls, 0)
}

export function customersOf(tally: Tally): number {
  return Object.keys(tally).length
}
