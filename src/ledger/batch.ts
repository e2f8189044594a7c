import DataLoader from 'dataloader'

/** A statement over so many rows costs little more for each of them than a larger one would. */
const MOST_ROWS = 200
/** Postgres' own words for "try the same statement again": serialization failure, deadlock detected. */
const RETRYABLE = new Set(['40001', '40P01'])
/** A row with this key has come in between. */
export const UNIQUE_VIOLATION = '23505'
const TRIES = 3

/**
 * Gathers concurrent calls into one statement over arrays: what comes while a statement is under way goes with the next
 * one, so that there is one at a time and it is as large as there is work. Answers come back in the order of the inputs;
 * an error among them fails its own call alone.
 */
export function makeBatch<In, Out>(run: (inputs: readonly In[]) => Promise<readonly (Out | Error)[]>) {
  let before: Promise<unknown> = Promise.resolve()
  const loader = new DataLoader<In, Out>(
    (inputs) => {
      const mine = retried(() => run(inputs))
      before = mine.catch(() => undefined)
      return mine
    },
    {
      cache: false,
      maxBatchSize: MOST_ROWS,
      batchScheduleFn: (flush) => void before.then(() => setImmediate(flush)),
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
