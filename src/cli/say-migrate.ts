import { sayService } from '../model/service.ts'
import { counted, figure } from '../report/figures.ts'
import type { Accepted, Follows } from './migrate-target.ts'
import { sayAnnounced } from './say-backfill.ts'
import { lines } from './say-status.ts'
import { span } from './say-time.ts'

export function sayAccepted({ as, target, follows }: Accepted): string[] {
  return [
    ...lines('service', sayService(target)),
    ...lines(
      'target',
      as === 'same'
        ? 'the same as before: all records are kept'
        : 'new: what was known of the users is forgotten',
    ),
    ...(follows ? sayFollows(follows) : []),
  ]
}

function sayFollows({ customers, rate, seconds, creates }: Follows): string[] {
  if (customers === 0) return lines('lookups', 'none: no customer is known yet')
  const pace = `${Number(rate.toFixed(1))} calls/s`
  return [
    ...lines(
      'lookups',
      `workers look up ${counted(customers, 'customer')} (GET), at ${pace}: about ${span(seconds * 1000)}`,
    ),
    ...lines('then', 'they create or update whoever is missing or differs: as long again at most'),
    ...lines(
      'backup',
      'after one was put back: users who were created or let in since are not looked up, and keep their access; see docs/restoring.md, steps 5 and 6',
    ),
    ...(creates.announced ? lines('announced', sayAnnounced(creates.announced)) : []),
    ...lines('brake', sayCreates(creates, customers)),
    ...(outlasts({ customers, rate, seconds, creates })
      ? lines(
          'note',
          'it may last longer than the announcement: announce the rest with `rollcall backfill --expect-creates N`',
        )
      : []),
  ]
}

function sayCreates({ through, held, limit, windowHours }: Follows['creates'], customers: number): string {
  const within = `its limit is ${counted(limit, 'registration')} in ${windowHours} h`
  if (held === 0) return `all registrations may pass: ${within}`
  return `if all have to be registered, ${figure(through)} of ${figure(customers)} pass and the others wait for a person: ${within}. To announce them, run this again now with \`--expect-creates ${customers}\``
}

function outlasts({ seconds, creates }: Follows): boolean {
  return creates.announced !== null && 2 * seconds > creates.windowHours * 3600
}

export function acceptedJson(accepted: Accepted | null): object {
  const { as = null, target = null, follows = null } = accepted ?? {}
  return { accepted: as, target, follows }
}
