import pg from 'pg'

/** Classes of Postgres' errors that are about the session, the rights, the names or the server, whatever the rows are. */
const OF_ALL_ROWS = /^(08|25|28|3D|40|42|53|55|57|58)/

/** The same statement may do without one of them. */
export function isAboutRows(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && !OF_ALL_ROWS.test(error.code ?? '08')
}

/** Runs a statement about a batch; a batch that Postgres refuses for one of its rows is halved, until that row stands alone. */
export async function halvedOnRowError<Item, Given>(
  items: readonly Item[],
  ask: (some: readonly Item[]) => Promise<ReadonlyMap<Item, Given>>,
): Promise<ReadonlyMap<Item, Given | Error>> {
  try {
    return await ask(items)
  } catch (error) {
    if (!isAboutRows(error)) throw error
    if (items.length <= 1) return new Map(items.map((item) => [item, error]))
    const middle = Math.ceil(items.length / 2)
    const halves = [items.slice(0, middle), items.slice(middle)]
    const given: (readonly [Item, Given | Error])[] = []
    // The stored work of one half stands, whatever becomes of the other.
    for (const half of halves) {
      const asked = halvedOnRowError(half, ask)
      given.push(...(await asked.catch((why: Error) => half.map((item) => [item, why] as const))))
    }
    return new Map(given)
  }
}
