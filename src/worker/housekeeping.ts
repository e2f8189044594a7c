import type { Pool } from 'pg'
import { openMarks } from '../capture/marks.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../ops/log.ts'
import { repairGap } from './resync.ts'

type Options = { readonly pool: Pool; readonly config: Config; readonly log: Log }

/** Rows of the revocation cap are of no use after this. */
const PRUNE = `DELETE FROM rollcall.revocation WHERE at < now() - interval '1 day'`

/**
 * What has to be looked after now and then. A gap in capture is repaired by looking at everybody; a TRUNCATE
 * waits for a person and is told again every time, because nobody is revoked for it.
 */
export function makeHousekeeping({ pool, config, log }: Options) {
  return async function housekeep(): Promise<void> {
    await pool.query(PRUNE)
    const marks = await openMarks(pool)
    for (const { kind, relation, since } of marks) {
      if (kind === 'truncate')
        log.error({ table: relation, since }, 'a watched table was truncated: run `rollcall capture resync`')
      else log.error({ table: relation, since }, 'capture has a gap: everybody is looked at again')
    }
    const noted = await repairGap(pool, config, ['overflow'])
    if (noted === null) log.warn('the gap in capture waits for open transactions to end')
    else if (noted > 0) log.warn({ customers: noted }, 'everybody will be looked at again')
  }
}
