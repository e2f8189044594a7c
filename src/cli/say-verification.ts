import type { Verification } from '../drift/coverage.ts'
import { type Doubt, DRIFT_KINDS, WRONG_ACCESS } from '../drift/words.ts'
import { sayDuration } from '../model/duration.ts'
import { driftingOf } from '../report/conclude.ts'
import { counted } from '../report/figures.ts'
import { ACCESS, sayAmongHeld } from '../report/words.ts'
import { span } from './say-time.ts'

/** The two lines of `rollcall status` on whether the service agrees: how far that was looked at, and what was found. */
export function sayVerified({ coverage }: Verification): string {
  const { periodMs, customers, within, never, oldestAgeMs, proof } = coverage
  if (periodMs === null) return 'not by workers: reconcile.period is false'
  if (customers === 0) return 'nobody is at the service yet'
  const seen = oldestAgeMs === null ? '' : `, the oldest look ${span(oldestAgeMs)} ago`
  const unseen = never > 0 ? `, ${never} never yet` : ''
  const proved = proof
    ? `; from commit to verified: ${span(proof.medianMs)} (median), ${span(proof.p95Ms)} (95 %), of the last ${proof.customers}`
    : ''
  return `${percent(within, customers)} of ${customers} customers within ${sayDuration(periodMs)}${seen}${unseen}${proved}`
}

/** Access first: somebody is shut out, or let in at your cost. */
export function sayDrift({ open, access, heldAccess, doubt, share }: Verification): string {
  const wrong = sayWrongAccess(access, heldAccess).map((each) => `${each}; `)
  const kinds = DRIFT_KINDS.filter((kind) => open[kind] > 0).map((kind) => `${open[kind]} ${kind}`)
  const lately =
    share.counted > 0 ? `${share.drifted} of the ${share.counted} verified last` : 'nobody verified yet'
  const doubted = doubt === null ? '' : `; ${DOUBT[doubt]}, which is not believed`
  return `${wrong.join('')}${kinds.length > 0 ? kinds.join(', ') : 'none found'}; ${lately}${doubted}`
}

type Access = Verification['access']

/** One text at most. */
function sayWrongAccess(access: Access, held: Access): string[] {
  const some = WRONG_ACCESS.filter((which) => access[which] > 0).map(
    (which) => `${access[which]} ${ACCESS[which].means}${sayAmongHeld(held[which], access[which])}`,
  )
  return some.length === 0 ? [] : [some.join(', ')]
}

/** Of findings alone: what to do about those who are held is something else. */
function foundAlone({ access, heldAccess }: Verification): Access {
  return { lost: access.lost - heldAccess.lost, undue: access.undue - heldAccess.undue }
}

const NOBODY: Access = { lost: 0, undue: 0 }

const DOUBT: Readonly<Record<Doubt, string>> = {
  'nobody-there': 'the service says that it does not know most of those looked at',
  'no-answers': 'the service gives no clear answer about most of those looked at',
  denied: 'the service refuses the keys for most of those looked at',
}

export function verificationNeeds(verification: Verification): string[] {
  const { coverage, open, doubt, share } = verification
  const { customers, overdue, periodMs } = coverage
  const drift = driftingOf({ kinds: open })
  return [
    ...(drift > 0
      ? [
          `the service differs from the database for ${counted(drift, 'customer')}${sayWrongAccess(
            foundAlone(verification),
            NOBODY,
          )
            .map((each) => `, ${each}`)
            .join('')}: see \`rollcall drift --from-ledger\``,
        ]
      : []),
    ...(doubt !== null
      ? [
          `${DOUBT[doubt]}: that is told of no single customer; is it still the right service, and not an emptied one?`,
        ]
      : []),
    ...(share.haltedAt !== null
      ? [
          `${share.drifted} of the ${share.counted} customers verified last differ, more than reconcile.maxShare allows, since ${share.haltedAt}: nothing is repaired meanwhile; is it still the right service, and not an emptied one? If so, \`rollcall drift --repair --why …\` repairs what differs; else it goes on by itself once workers have looked at enough who agree, in their round; a report without --repair does not count`,
        ]
      : []),
    ...(isBehind(coverage) && periodMs !== null
      ? [
          `${overdue} of ${customers} customers were not verified within ${sayDuration(periodMs)}: workers are too few or stopped, or the pace is too slow for reconcile.period`,
        ]
      : []),
  ]
}

/** Somebody is always passed over: something is owed to them, or the service does not answer for them. */
const FEW = 0.05

function isBehind({ customers, overdue }: Verification['coverage']): boolean {
  return overdue > Math.max(3, customers * FEW)
}

/** Never 100 % while somebody is missing. */
function percent(part: number, whole: number): string {
  const share = Math.floor((part / whole) * 1000) / 10
  return `${share} %`
}
