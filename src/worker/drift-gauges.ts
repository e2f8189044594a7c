import { DRIFT_KINDS, type DriftKind, WRONG_ACCESS, type WrongAccess } from '../drift/words.ts'
import { makeMetrics, type Put } from '../ops/metrics.ts'

/** What is asked of verification. */
export type DriftReading = {
  readonly coverage: {
    readonly customers: number
    readonly within: number
    readonly oldestAgeMs: number | null
    readonly overdue: number
    readonly proof: { readonly medianMs: number; readonly p95Ms: number } | null
  }
  readonly open: Readonly<Record<DriftKind, number>>
  readonly access: Readonly<Record<WrongAccess, number>>
  readonly doubt: object | null
}

const QUANTILES = ['0.5', '0.95'] as const

/** What the tables say of verification, as Prometheus text. */
export function driftGauges(): (drift: DriftReading) => Promise<string> {
  const metrics = makeMetrics({ process: false })
  const plain = (name: string, help: string): ((amount: number) => void) => {
    const put: Put<never> = metrics.gauge({ name, help, labels: {} })
    return (amount) => put({}, amount)
  }
  const customers = plain(
    'verifiable_customers',
    'Customers whom a look at the service can say something about',
  )
  const within = plain('verified_customers', 'Of these, who was looked at within reconcile.period')
  const overdue = plain('verification_overdue_customers', 'Of these, who should have been looked at by now')
  const oldest = plain(
    'oldest_verified_age_seconds',
    'How long ago the longest ago of all looks was; 0: none yet',
  )
  const findings = metrics.gauge({
    name: 'findings',
    help: 'Confirmed differences at the service that are open and can be believed, by kind',
    labels: { kind: DRIFT_KINDS },
  })
  const access = metrics.gauge({
    name: 'wrong_access',
    help: 'Of these and of whoever the brake holds, customers without the access that they should have (lost), or with one that they should not (undue)',
    labels: { access: WRONG_ACCESS },
  })
  const doubted = plain('answers_doubted', '1: what the service answers to the looks cannot be believed')
  const proof = metrics.gauge({
    name: 'commit_to_verified_seconds',
    help: 'From the commit of a change to the look that showed all of it, of the last thousand; 0: none yet',
    labels: { quantile: QUANTILES },
  })

  return (drift) => {
    const { coverage } = drift
    customers(coverage.customers)
    within(coverage.within)
    overdue(coverage.overdue)
    oldest((coverage.oldestAgeMs ?? 0) / 1000)
    for (const kind of DRIFT_KINDS) findings({ kind }, drift.open[kind])
    for (const which of WRONG_ACCESS) access({ access: which }, drift.access[which])
    doubted(drift.doubt === null ? 0 : 1)
    proof({ quantile: '0.5' }, (coverage.proof?.medianMs ?? 0) / 1000)
    proof({ quantile: '0.95' }, (coverage.proof?.p95Ms ?? 0) / 1000)
    return metrics.text()
  }
}
