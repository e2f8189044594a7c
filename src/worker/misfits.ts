import type { Log } from '../ops/log.ts'

/** Housekeeping tells the same every minute as long as it lasts. */
const QUIET_MS = 60_000

/** Tells at once what keeps the customers from being read, and the same again after a minute at the earliest. */
export function tellMisfits(
  log: Pick<Log, 'error'>,
  now: () => number,
): (misfits: readonly string[]) => void {
  const told = new Map<string, number>()
  return (misfits) => {
    for (const problem of misfits) {
      if (now() - (told.get(problem) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) continue
      told.set(problem, now())
      log.error({ problem }, MISFIT)
    }
  }
}

export const MISFIT = 'the configuration does not fit the database: correct one of them'
