import DataLoader from 'dataloader'
import pg from 'pg'

/** A statement over so many rows costs little more for each of them than a larger one would. */
const MOST_ROWS = 200
/** Postgres' own words for "try the same statement again": serialization failure, deadlock detected. */
const RETRYABLE = new Set(['40001', '40P01'])
/** A row with this key has come in between. */
export const UNIQUE_VIOLATION = '23505'
const TRIES = 3

/**
 * Gathers concurrent calls into statements over arrays: what comes while `atOnce` statements (default: one) are under way
 * goes with the next one, which is as large as there is work by then. Answers come back in the order of the inputs; an
 * error among them fails its own call alone.
 */
export function makeBatch<In, Out>(
  run: (inputs: readonly In[]) => Promise<readonly (Out | Error)[]>,
  { atOnce = 1 } = {},
) {
  let free = atOnce
  let begun: Promise<unknown> = Promise.resolve()
  const waiting: (() => void)[] = []

  function begin(flush: () => void): void {
    setImmediate(() => {
      flush()
      void begun.finally(next)
    })
  }

  function next(): void {
    const flush = waiting.shift()
    if (flush) begin(flush)
    else free++
  }

  const loader = new DataLoader<In, Out>(
    (inputs) => {
      const mine = retried(() => run(inputs))
      begun = mine.catch(() => undefined)
      return mine
    },
    {
      cache: false,
      maxBatchSize: MOST_ROWS,
      batchScheduleFn(flush) {
        if (free === 0) return void waiting.push(flush)
        free--
        begin(flush)
      },
    },
  )
  return (input: In): Promise<Out> => loader.load(input)
}

/** For statements that may be made again as a whole; `also`: further codes of Postgres for which that helps. */
export async function retried<T>(run: () => Promise<T>, also: readonly string[] = []): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      const code = (error as { code?: unknown }).code
      if (attempt >= TRIES || typeof code !== 'string' || !(RETRYABLE.has(code) || also.includes(code)))
        throw error
    }
  }
}

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
