/** How many calls, by the customer's row id in `owed`. */
export type TroubleTally = Readonly<Record<string, number>>

/** More customers than these are not remembered: the row stays small, whatever happens. */
export const MOST_CUSTOMERS = 500

export function add(tally: TroubleTally, id: string): TroubleTally {
  return merge(tally, { [id]: 1 })
}

/** Beyond the limit, customers of `more` are left out. */
export function merge(tally: TroubleTally, more: TroubleTally): TroubleTally {
  const sum = new Map(Object.entries(tally))
  for (const [id, calls] of Object.entries(more)) {
    const before = sum.get(id)
    if (before !== undefined || sum.size < MOST_CUSTOMERS) sum.set(id, (before ?? 0) + calls)
  }
  return Object.fromEntries(sum)
}

export function sumOf(tally: TroubleTally): number {
  return Object.values(tally).reduce((sum, calls) => sum + calls, 0)
}

export function customersOf(tally: TroubleTally): number {
  return Object.keys(tally).length
}
