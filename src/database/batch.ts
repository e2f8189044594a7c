import DataLoader from 'dataloader'

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
