// Reads what a page of customers is judged by, in a handful of statements.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { CustomersShape } from '../customers/describe.ts'
import { makeReading, type ReadRows } from '../customers/reading.ts'
import { readWork, type Work, workOfNobody } from '../ledger/sweep-work.ts'
import type { CustomerKey } from '../model/customer.ts'
import { claimantsOf, readRivals } from '../sync/page.ts'
import type { Page } from '../sync/pages.ts'
import type { Reads } from '../sync/rivals.ts'

type Reading = {
  readonly pool: Pool
  readonly config: Config
  /** Nothing is recorded yet, or it may not be read: everybody is taken for somebody of whom nothing is known. */
  readonly withoutLedger?: boolean
}

/** A page as it was read, side by side. What changes meanwhile or after that is captured, and so owed anyway. */
export type Read = ReadRows & {
  readonly work: readonly Work[]
  /** The database's time at which it was so. */
  readonly now: Date
  readonly rivals: Reads
}

export function makeReadPage({ pool, config, withoutLedger = false }: Reading, shape: CustomersShape) {
  const read = makeReading(pool, config, shape)

  return async ({ keys, onlyGone }: Pick<Page, 'keys' | 'onlyGone'>): Promise<Read> => {
    const reading = read(keys)
    const asked = onlyGone ? goneOf(keys, await reading) : keys
    const [{ rows, unreadable }, { work, nowMs }, claimants] = await Promise.all([
      reading,
      (withoutLedger ? workOfNobody : readWork)(pool, asked),
      claimantsOf(pool, config, withoutLedger ? [] : asked),
    ])
    const now = new Date(nowMs)
    const rivals = await readRivals({ config, read, rows, now, claimants })
    return { rows, unreadable, work, now, rivals }
  }
}

function goneOf(keys: readonly CustomerKey[], { rows }: Pick<Read, 'rows'>): readonly CustomerKey[] {
  return keys.filter((key) => rows.get(key) === null)
}
