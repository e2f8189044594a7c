import { isDrift, type Verified } from '../drift/words.ts'
import type { CallEntry } from '../ledger/calls.ts'
import type { Log } from '../ops/log.ts'

/** Findings that were told are not told again by this process: so many are remembered. */
const REMEMBERED = 10_000

/** One line for what is found, and one for what has ended; names of fields, never values. */
export function logVerified(log: Log) {
  const told = new Set<string>()

  function isNews(id: string): boolean {
    if (told.has(id)) return false
    if (told.size >= REMEMBERED) told.clear()
    told.add(id)
    return true
  }

  return {
    call({ key: customer, plan, method, status, error, meaning, ms }: CallEntry): void {
      const answer = status === null ? { error } : { status }
      log.debug({ customer, plan, method, ...answer, meaning, ms: Math.round(ms) }, 'call')
    },
    verified(verified: Verified): void {
      const { key: customer, verdict, standing, findingId: finding, resolved, repairing } = verified
      const about = { customer, finding }
      if (resolved !== null) {
        log.info({ ...about, how: resolved }, 'a difference at the service has ended')
        return
      }
      if (!isDrift(verdict)) return
      const { kind, access, fields, cause } = verdict
      const what = { ...about, kind, access, fields, cause, repairing }
      if (standing === 'found' && finding !== null && isNews(finding))
        log.warn(what, 'the service differs from the database')
      else log.debug(what, 'the service seems to differ from the database')
    },
  }
}
