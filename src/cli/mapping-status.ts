import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { type MappingStatus, readStanding } from '../ledger/generation.ts'
import { everybodyIsIn } from '../ledger/runs-read.ts'
import { EVERYBODY } from '../sweep/differs.ts'
import { type Swept, sweep } from '../sweep/sweep.ts'
import { makeDigester } from '../sync/digest.ts'

/** Where the mapping of this configuration stands; null on a ledger that has met none. */
export type MappingReport = MappingStatus & {
  /** What it would change; null where it is the present one, or without the key of the digests. */
  readonly differ: Swept | null
}

/** A status is waited for: where there are too many customers to look at in this time, some are. */
const BUDGET_MS = 5000

export async function mappingStatus(
  pool: Pool,
  config: Config,
  digestKey: string | undefined,
): Promise<MappingReport | null> {
  const standing = await readStanding(pool, config.fingerprint)
  if (!standing) return null
  if (standing.current || digestKey === undefined) return { ...standing, differ: null }
  const signal = AbortSignal.timeout(BUDGET_MS)
  const select = { ...EVERYBODY, bringIn: await everybodyIsIn(pool) }
  return {
    ...standing,
    differ: await sweep({ pool, config, digester: makeDigester(digestKey), select, signal }),
  }
}
