/** How many calls, by the customer's row id in `owed`. */
export type TroubleTally = Readonly<Record<string, number>>

/** More customers than these are not remembered: the row stays small, whatever happens. */
export const MOST_CUSTOMERS = 500

/** Beyond the limit a customer is left out. */
export function add(tally: TroubleTally, id: string): TroubleTally {
  const before = tally[id] ?? 0
  const isFull = before === 0 && customersOf(tally) >= MOST_CUSTOMERS
  return isFull ? tally : { ...tally, [id]: before + 1 }
}

export function sumOf(tally: TroubleTally): number {
  return Object.values(tally).reduce((sum, calls) => sum + calls, 0)
}

export function customersOf(tally: TroubleTally): number {
  return Object.keys(tally).length
}
