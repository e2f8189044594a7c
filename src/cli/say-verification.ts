import type { VerificationReport } from '../drift/coverage.ts'
import { DRIFT_KINDS, WRONG_ACCESS } from '../drift/words.ts'
import { sayDuration } from '../model/duration.ts'
import { driftingOf } from '../report/conclude.ts'
import { counted } from '../report/figures.ts'
import { ACCESS, sayAmongHeld } from '../report/words.ts'
import { span } from './say-time.ts'

/** The two lines of `rollcall status` on whether the service agrees: how far that was looked at, and what was found. */
export function sayVerified({ coverage }: VerificationReport): string {
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
export function sayDrift({ open, access, heldAccess, doubt }: VerificationReport): string {
  const wrong = sayWrongAccess(access, heldAccess).map((each) => `${each}; `)
  const kinds = DRIFT_KINDS.filter((kind) => open[kind] > 0).map((kind) => `${open[kind]} ${kind}`)
  const doubted = doubt === null ? '' : `; ${sayDoubt(doubt)}, which is not believed`
  return `${wrong.join('')}${kinds.length > 0 ? kinds.join(', ') : 'none found'}${doubted}`
}

type Access = VerificationReport['access']

/** One text at most. */
function sayWrongAccess(access: Access, held: Access): string[] {
  const some = WRONG_ACCESS.filter((which) => access[which] > 0).map(
    (which) => `${access[which]} ${ACCESS[which].means}${sayAmongHeld(held[which], access[which])}`,
  )
  return some.length === 0 ? [] : [some.join(', ')]
}

/** Of findings alone: what to do about those who are held is something else. */
function foundAlone({ access, heldAccess }: VerificationReport): Access {
  return { lost: access.lost - heldAccess.lost, undue: access.undue - heldAccess.undue }
}

const NOBODY: Access = { lost: 0, undue: 0 }

function sayDoubt({ denied, asked }: NonNullable<VerificationReport['doubt']>): string {
  return `of the ${counted(asked, 'customer')} looked at last, ${denied} are not there by what the service says, or cannot be read`
}

export function verificationNeeds(verification: VerificationReport): string[] {
  const { coverage, open, doubt } = verification
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
          `${sayDoubt(doubt)}: that is told of no single customer, and none of them is repaired; is it still the right service, and not an emptied one? If it is meant, \`rollcall drift --believe --why …\` says so`,
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

function isBehind({ customers, overdue }: VerificationReport['coverage']): boolean {
  return overdue > Math.max(3, customers * FEW)
}

/** Never 100 % while somebody is missing. */
function percent(part: number, whole: number): string {
  const share = Math.floor((part / whole) * 1000) / 10
  return `${share} %`
}
