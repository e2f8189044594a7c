// Whether the service agrees: how far that was checked, and what was found.
import type { VerificationReport } from '../drift/coverage.ts'
import { DRIFT_KINDS, WRONG_ACCESS } from '../drift/words.ts'
import { sayDuration } from '../model/duration.ts'
import { driftingOf } from '../report/conclude.ts'
import { counted } from '../report/figures.ts'
import { ACCESS, sayAmongHeld } from '../report/words.ts'
import { span, when } from './render.ts'

export function sayVerified({ coverage }: VerificationReport): string {
  const { periodMs, customers, within, never, oldestAgeMs, proof } = coverage
  if (periodMs === null) return 'not by workers: reconcile.period is false'
  if (customers === 0) return 'nobody is at the service yet'
  // Never 100 % while a customer is missing.
  const percent = Math.floor((within / customers) * 1000) / 10
  return [
    `${percent} % of ${customers} customers within ${sayDuration(periodMs)}`,
    oldestAgeMs === null ? '' : `, the oldest check ${span(oldestAgeMs)} ago`,
    never > 0 ? `, ${never} never yet` : '',
    proof
      ? `; from commit to verified: ${span(proof.medianMs)} (median), ${span(proof.p95Ms)} (95 %), of the last ${proof.customers}`
      : '',
  ].join('')
}

/** Access first: a customer is shut out, or let in at your cost. */
export function sayDrift({ open, access, heldAccess, doubt }: VerificationReport): string {
  const wrong = sayWrongAccess(access, heldAccess)
  const kinds = DRIFT_KINDS.filter((kind) => open[kind] > 0).map((kind) => `${open[kind]} ${kind}`)
  return [
    ...when(wrong !== '', wrong),
    kinds.length > 0 ? kinds.join(', ') : 'none found',
    ...(doubt ? [`${sayDoubt(doubt)}, which is not credible`] : []),
  ].join('; ')
}

type Access = VerificationReport['access']

function sayWrongAccess(access: Access, held: Access): string {
  return WRONG_ACCESS.filter((which) => access[which] > 0)
    .map((which) => `${access[which]} ${ACCESS[which].means}${sayAmongHeld(held[which], access[which])}`)
    .join(', ')
}

function sayDoubt({ denied, asked }: NonNullable<VerificationReport['doubt']>): string {
  return `of the ${counted(asked, 'user')} asked at random, ${denied} are not there by what the service says, or cannot be read`
}

const NOBODY: Access = { lost: 0, undue: 0 }

/** Some are always passed over: something is owed to them, or the service does not answer for them. */
const FEW = 0.05

export function verificationNeeds(verification: VerificationReport): readonly string[] {
  const { coverage, open, doubt, access, heldAccess } = verification
  const { customers, overdue, periodMs } = coverage
  const drift = driftingOf({ kinds: open })
  // Of findings alone: what to do about those who are held is something else.
  const found = { lost: access.lost - heldAccess.lost, undue: access.undue - heldAccess.undue }
  const wrong = sayWrongAccess(found, NOBODY)
  return [
    ...when(
      drift > 0,
      `the service differs from the database for ${counted(drift, 'customer')}${wrong && `, ${wrong}`}: see \`rollcall drift --from-ledger\``,
    ),
    ...(doubt
      ? [
          `${sayDoubt(doubt)}: that is reported of no single customer, and none of them is repaired; is it still the right service, and not an emptied one? If it is meant, \`rollcall drift --believe --why …\` says so`,
        ]
      : []),
    ...when(
      periodMs !== null && overdue > Math.max(3, customers * FEW),
      `${overdue} of ${customers} customers were not verified within ${sayDuration(periodMs ?? 0)}: workers are too few or stopped, or the pace is too slow for reconcile.period`,
    ),
  ]
}
