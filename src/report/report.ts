// One report of drift, whatever it is printed as: what was checked and when, what was found, what cannot be said.
import type { DriftTally, Finding, NotCredible, Shown, Stopped } from '../drift/words.ts'
import type { NamedService } from '../model/service.ts'

/** The JSON form is this type; times are ISO 8601 in UTC, shares go from 0 to 1. */
export type Report = {
  /** Rises with a change that a reader of the JSON form has to know of. */
  readonly version: 1
  readonly writtenBy: string
  readonly target: NamedService
  readonly startedAt: string
  /** When the last answer of the service came; of a report without calls, when it was written. */
  readonly endedAt: string
  readonly options: ReportOptions
  readonly outcome: RunOutcome
  /**
   * Customers that the report is about: all, or those of `where`; of a whole run those it has counted, since customers
   * come and go meanwhile; `from` the ledger those who have a record.
   */
  readonly population: number
  /** How many of them were to be checked: fewer with a sample, or when it was stopped. */
  readonly chosen: number
  /** The findings while it went on, also those repaired before it ended. */
  readonly counts: DriftTally
  /** Differences that no second check has confirmed; in no other figure. */
  readonly suspected: number
  /**
   * Customers found by a worker after this had checked them; in no other figure. Null where that is not known: of some
   * customers, of a stopped run, and without calls.
   */
  readonly foundLater: number | null
  /** Null unless the customers were a random sample. */
  readonly estimate: Estimate | null
  /** Coverage by all checks, of workers and of runs; null in a report that made calls of its own. */
  readonly coverage: ReportCoverage | null
  readonly repair: Repair | null
  /** Earlier runs over the same target, oldest first. */
  readonly trend: readonly PastRun[]
  readonly findings: readonly ReportedFinding[]
}

export type ReportOptions = {
  /** `ledger`: what workers and runs have found and is open, without a call. */
  readonly from: 'service' | 'ledger'
  readonly sample: number | null
  readonly where: string | null
  /** Calls per second at most; null: as the common pace allows. */
  readonly rate: number | null
  /** Above this share of drift a check fails; null: any drift does. */
  readonly maxDrift: number | null
  /** Whether values of fields are in the report. */
  readonly values: boolean
}

/** `not-credible`: the answers are likelier about the service, and nothing is concluded about single customers. */
export type RunOutcome =
  | { readonly kind: 'complete' }
  /** `resume`: the command that goes on with it, where there is one. */
  | { readonly kind: 'stopped'; readonly why: Stopped; readonly resume: string | null }
  | { readonly kind: 'not-credible'; readonly why: NotCredible }

/** With the interval that holds the true share in at least 95 of 100 samples. The held count as checked and drifting. */
export type Estimate = {
  readonly population: number
  readonly checked: number
  readonly drifting: number
  readonly share: number
  readonly low: number
  readonly high: number
}

export type ReportCoverage = {
  /** All customers are to be checked within this many milliseconds. */
  readonly periodMs: number
  /** The share of customers who were. */
  readonly share: number
  /** The verification that is longest ago. */
  readonly oldest: string | null
}

/** Customers owed a repair because of this run, and those that the brake holds back from it. */
type Repair = { readonly owed: number; readonly held: number }

export type PastRun = {
  /** `ledger`: a report without calls, which is no run. */
  readonly kind: 'run' | 'ledger'
  readonly endedAt: string
  readonly checked: number
  /** Null where its answers are not credible. */
  readonly drifting: number | null
  readonly sampled: boolean
  /** Figures of others are left out of the chart. */
  readonly credible: boolean
}

/** `shown` is empty unless values were asked for. */
export type ReportedFinding = Finding & { readonly shown: readonly Shown[] }
