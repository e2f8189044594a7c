import { closeMarks, type Gap, marksArePending, openMarks, readGap } from '../capture/marks.ts'
import { captureVersion } from '../capture/status.ts'
import { alone } from '../ledger/alone.ts'
import { findMapping, type MappingStatus } from '../ledger/generation.ts'
import { checkIsDue } from '../ledger/runs.ts'
import { RollcallError } from '../model/errors.ts'
import type { Log } from '../ops/log.ts'
import { runSweep, type SweepEnd, type SweepingOptions } from '../sweep/run.ts'

type NextSweep =
  | { readonly kind: 'mapping' | 'check' }
  | { readonly kind: 'gap'; readonly marks: readonly string[] }

type SweepSituation = {
  readonly mapping: Pick<MappingStatus, 'current' | 'swept'>
  readonly gap: Gap
  /** A table was truncated, and no person has decided what that means. */
  readonly truncated: boolean
  /** All customers were compared last so long ago that capture is to be checked. */
  readonly checkDue: boolean
}

/**
 * The reason for the worker's next sweep; null: none, or none by its mapping. A mapping that was applied comes first, since
 * until then some are right by another one; a gap waits until its transactions have ended. Nothing is checked while a
 * person has to decide about a TRUNCATE: missing customers are held for that, and are no miss of capture.
 */
export function nextSweep({ mapping, gap, truncated, checkDue }: SweepSituation): NextSweep | null {
  if (!mapping.current) return null
  if (!mapping.swept) return { kind: 'mapping' }
  if (gap.ids.length > 0) return gap.ready ? { kind: 'gap', marks: gap.ids } : null
  return checkDue && !truncated ? { kind: 'check' } : null
}

const NO_GAP: Gap = { ids: [], ready: true }

/** Where the signal ends a sweep that is under way, another process, or this one later, goes on where it stopped. */
type Options = Pick<SweepingOptions, 'pool' | 'config' | 'digester' | 'signal'> & { readonly log: Log }

/**
 * A step of a loop: begins, or goes on with, the sweep that is wanted, of whatever worker or command began it. With
 * several workers one of them is at it.
 */
export function makeSweeping({ pool, config, digester, log, signal }: Options) {
  let waits = false

  return async function step(): Promise<void> {
    const next = await wanted()
    if (!next) return
    await alone(pool, 'sweep', async () => {
      // Another process may have done it just now.
      const now = await wanted()
      const swept = now && (await run(now))
      if (swept) tell(now, swept)
    })
  }

  async function wanted(): Promise<NextSweep | null> {
    const mapping = await findMapping(pool, config.fingerprint)
    if (!mapping) return null
    const gap = (await marksArePending(pool)) ? await closeAndRead() : NO_GAP
    if (gap.ids.length > 0 && !gap.ready && !waits)
      log.warn(
        'capture has a gap (missed changes): the worker compares all customers when the open transactions have ended',
      )
    waits = gap.ids.length > 0 && !gap.ready
    const checkDue = await checkIsDue(pool, config.capture.checkHours, await captureVersion(pool, config))
    const truncated = checkDue && (await openMarks(pool)).some(({ kind }) => kind === 'truncate')
    return nextSweep({ mapping, gap, truncated, checkDue })
  }

  async function closeAndRead(): Promise<Gap> {
    await closeMarks(pool, ['overflow'])
    return await readGap(pool)
  }

  async function run(next: NextSweep): Promise<SweepEnd | null> {
    try {
      return await runSweep({ pool, config, digester, signal, ...next })
    } catch (error) {
      // Reported by the housekeeping as long as it lasts; the reason for the sweep stands until then.
      if (error instanceof RollcallError && error.code === 'CAPTURE_UNFIT') return null
      throw error
    }
  }

  function tell({ kind }: NextSweep, { ended, tally, examples }: SweepEnd): void {
    if (!ended) return
    const { customers, verdicts, plans, fields, missed } = tally
    const about = { customers, differ: verdicts.differs, plans, fields }
    if (kind === 'mapping') log.info(about, 'the mapping is applied to all customers')
    else if (kind === 'gap') log.warn(about, 'all customers were compared after the gap in capture')
    else if (missed.inserted + missed.changed + missed.deleted === 0)
      log.info(about, 'the check of capture has ended: capture has missed no change')
    else
      log.error(
        { ...about, missed, examples },
        'capture has missed changes: their customers are now owed a sync; find the program that writes without triggers',
      )
  }
}
