import DataLoader from 'dataloader'

/** Statements over a few dozen rows cost hardly more than one over a single row. */
const MOST_ROWS = 50
const GATHER_MS = 2
/** Postgres' own words for "try the same statement again": serialization failure, deadlock detected. */
const RETRYABLE = new Set(['40001', '40P01'])
/** A row with this key has come in between. */
export const UNIQUE_VIOLATION = '23505'
const TRIES = 3

/**
 * Gathers concurrent calls into one statement over arrays: a few dozen rows or two milliseconds, whichever
 * comes first. Answers come back in the order of the inputs; an error among them fails its own call alone.
 */
export function makeBatch<In, Out>(run: (inputs: readonly In[]) => Promise<readonly (Out | Error)[]>) {
  const loader = new DataLoader<In, Out>((inputs) => retried(() => run(inputs)), {
    cache: false,
    maxBatchSize: MOST_ROWS,
    batchScheduleFn: (flush) => setTimeout(flush, GATHER_MS),
  })
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
