// One report of drift, whatever it is printed as: what was looked at and when, what was found, what cannot be said.
import type { Doubt, DriftTally, Finding, Shown, Stopped } from '../drift/words.ts'
import type { NamedService } from '../model/service.ts'

/** The JSON form is this type; times are ISO 8601 in UTC, shares go from 0 to 1. */
export type Report = {
  /** Rises with a change that a reader of the JSON form has to know of. */
  readonly version: 1
  /** The rollcall that wrote it. */
  readonly writtenBy: string
  readonly target: NamedService
  readonly startedAt: string
  /** When the last answer of the service came; of a report without calls, when it was written. */
  readonly endedAt: string
  readonly options: ReportOptions
  readonly outcome: RunOutcome
  /**
   * Customers whom the report is about: all, or those of `where`; of a run that went through them, whom it has counted,
   * since customers come and go meanwhile. `from` the ledger: those who have a record, since it
   * asks Postgres for nothing else and customers may not be read; who was never handled has none.
   */
  readonly population: number
  /** Of them, those who were to be looked at: fewer with a sample, or when it was stopped. */
  readonly chosen: number
  /** What was found while it went on, also where that was put right before it ended. */
  readonly counts: DriftTally
  /** Differences that one look has shown and no second one has confirmed; nobody else counts them. */
  readonly suspected: number
  /**
   * Customers of whom a worker has found a difference after this had looked at them; in no other figure. Null where that
   * cannot be told: of some customers, of a run that was stopped, and of a report without calls.
   */
  readonly foundLater: number | null
  /** Null unless the customers were a random sample. */
  readonly estimate: Estimate | null
  /** Of all looks, of workers and of runs; null in a report that made calls of its own. */
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

/**
 * `not-credible` is for answers that would be a finding about every customer, and are far likelier one about the
 * service: then nothing is concluded about single customers.
 */
export type RunOutcome =
  | { readonly kind: 'complete' }
  /** `resume`: the command that goes on with it, where there is one. */
  | { readonly kind: 'stopped'; readonly why: Stopped; readonly resume: string | null }
  | { readonly kind: 'not-credible'; readonly why: Doubt }

/**
 * The share of drift, with the interval that holds the true one in at least 95 of 100 such samples. Whoever is held
 * counts as checked and as drifting.
 */
export type Estimate = {
  readonly population: number
  readonly checked: number
  readonly drifting: number
  readonly share: number
  readonly low: number
  readonly high: number
}

export type ReportCoverage = {
  /** Everybody is to be verified within this many milliseconds. */
  readonly periodMs: number
  /** The share of customers who were. */
  readonly share: number
  /** The verification that is longest ago. */
  readonly oldest: string | null
}

type Repair = {
  /** Customers who are owed a repair because of this run. */
  readonly owed: number
  /** Customers whom the brake holds back from it, until a person decides. */
  readonly held: number
}

export type PastRun = {
  /** `ledger`: a report without calls, which is no run. */
  readonly kind: 'run' | 'ledger'
  readonly endedAt: string
  readonly checked: number
  /** Whom looks have shown to differ; null where its answers cannot be believed. */
  readonly drifting: number | null
  readonly sampled: boolean
  /** Whether its figures can be believed; those of others are left out of the chart. */
  readonly credible: boolean
}

/** `shown` is empty unless values were asked for. */
export type ReportedFinding = Finding & { readonly shown: readonly Shown[] }
