import type { Pool } from 'pg'
import { readInstalled } from '../capture/catalog.ts'
import { planCapture } from '../capture/relations.ts'
import { captureDifference, captureStatus } from '../capture/status.ts'
import type { Config } from '../config/config.ts'
import { quotedName } from '../customers/problems.ts'
import { bindGeneration, type MappingStatus, mappingChanged } from '../ledger/generation.ts'
import { RollcallError } from '../model/errors.ts'

/**
 * A sweep relies on capture for whoever changes behind its back.
 *
 * @throws RollcallError CAPTURE_UNFIT with a line for each table
 */
export async function requireCapture(pool: Pool, config: Config): Promise<void> {
  const client = await pool.connect()
  try {
    const difference = captureDifference(await planCapture(client, config), await readInstalled(client))
    const unfit = captureStatus(difference).filter(({ state }) => state !== 'fits' && state !== 'leftover')
    if (unfit.length === 0) return
    throw new RollcallError(
      'CAPTURE_UNFIT',
      unfit.map(({ relation, state, reasons }) =>
        [`${quotedName(relation)}: ${state}`, ...reasons].join('; '),
      ),
    )
  } finally {
    client.release()
  }
}

/** @throws RollcallError MAPPING_CHANGED where syncs go by another mapping */
export async function requireStanding(pool: Pool, config: Config): Promise<MappingStatus> {
  const standing = await bindGeneration(pool, config.fingerprint)
  if (!standing.current) throw mappingChanged(standing)
  return standing
}
