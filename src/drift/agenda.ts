// Of one run: who is looked at again and when, and what counts. Pure.
import type { CustomerKey } from '../model/customer.ts'
import type { Met } from './meanwhile.ts'
import { EMPTY_TALLY, plus, silentOf, tallyOf, totalOf } from './tally.ts'
import {
  type CheckVerdict,
  type DriftTally,
  type DriftVerdict,
  isDrift,
  type NoAnswer,
  type Verified,
} from './words.ts'

/** Somebody of whom a look has not told enough. */
export type WaitingCheck = {
  readonly key: CustomerKey
  /** Monotonic milliseconds: a clock that is set back makes nobody wait. */
  readonly at: number
  readonly looks: number
  /** What the last look has said, which counts once no further look comes; null: there was none. */
  readonly last: CheckVerdict | null
}

export type Agenda = {
  readonly waiting: readonly WaitingCheck[]
  readonly tally: DriftTally
  /** Differences that no second look was able to confirm, by the last one. */
  readonly suspects: DriftTally
  /** Ids of the findings that were confirmed while it went on. */
  readonly found: readonly string[]
}

export const NOTHING_YET: Agenda = { waiting: [], tally: EMPTY_TALLY, suspects: EMPTY_TALLY, found: [] }

/** Keys in memory and in the record of a run are bounded by these: then those who wait go first, or go without. */
export const MOST_WAITING = 1000
const MOST_POSTPONED = 500
/** A suspicion is followed for so many looks; whoever is changed again and again, or not answered, for so many. */
const LOOKS_AT_SUSPECTS = 6
const LOOKS_AT_OTHERS = 3
/** A change that is on its way arrives soon, and a service that hiccups has a moment to come back. */
const LATER_MS = 2000

/** Those whose time has come, at most so many; and how many may join them who were not looked at yet. */
export function dueOf(
  { waiting }: Agenda,
  nowMs: number,
  room: number,
): { readonly due: readonly WaitingCheck[]; readonly newOnes: number } {
  const due = waiting
    .filter(({ at }) => at <= nowMs)
    .toSorted((one, other) => one.at - other.at)
    .slice(0, room)
  return { due, newOnes: Math.max(0, Math.min(room - due.length, MOST_WAITING - waiting.length)) }
}

/** When the next of those who wait is due; null: nobody waits. */
export function nextAt({ waiting }: Agenda): number | null {
  return waiting.length === 0 ? null : Math.min(...waiting.map(({ at }) => at))
}

type Looked = {
  readonly verified: readonly Verified[]
  /** Those who were to be looked at for the first time: a stop may have come before. */
  readonly fresh: readonly CustomerKey[]
  /** Of whom others have found a difference while the run went on. */
  readonly met: ReadonlyMap<CustomerKey, Met>
  readonly nowMs: number
}

/**
 * Each customer counts once, by its last look: as drift when a second look has confirmed it, never by the first. Who
 * cannot be judged at the moment is tried again a few times, so that a customer who happens to change is looked at too.
 * What others have found since the run began counts as if it had found that: a report that calls everybody right because
 * a worker was quicker would hide what happened.
 */
export function afterLooks(agenda: Agenda, { verified, fresh, met, nowMs }: Looked): Agenda {
  const before = new Map(agenda.waiting.map(({ key, looks }) => [key, looks]))
  const seen = new Set(verified.map(({ key }) => key))
  const missed = fresh.filter((key) => !seen.has(key))
  const waiting: WaitingCheck[] = [
    ...agenda.waiting.filter(({ key }) => !seen.has(key)),
    ...missed.map((key) => ({ key, at: nowMs, looks: 0, last: null })),
  ]
  const counted: CheckVerdict[] = []
  const found: string[] = []
  const suspects: CheckVerdict[] = []
  for (const each of verified) {
    const looks = (before.get(each.key) ?? 0) + 1
    const step = stepOf(each, { looks, waiting: waiting.length, met: met.get(each.key) })
    switch (step.kind) {
      case 'met':
        counted.push(withAccessOf(each.verdict, step.met.verdict))
        found.push(step.met.findingId)
        break
      case 'again':
        waiting.push(againOf(each, looks, nowMs))
        break
      case 'suspected':
        suspects.push(each.verdict)
        break
      case 'counts':
        counted.push(each.verdict)
        if (isDrift(each.verdict) && each.findingId !== null) found.push(each.findingId)
        break
      default:
        step satisfies never
    }
  }
  return {
    waiting,
    tally: plus(agenda.tally, tallyOf(counted)),
    suspects: plus(agenda.suspects, tallyOf(suspects)),
    found: found.length === 0 ? agenda.found : [...agenda.found, ...found],
  }
}

/** Of somebody who is held by now for what it does to access, though what was found before was something else. */
function withAccessOf(now: CheckVerdict, found: DriftVerdict): DriftVerdict {
  const held = now.kind === 'skipped' && now.why === 'held' ? now.access : null
  return { ...found, access: found.access ?? held }
}

type Step =
  | { readonly kind: 'again' }
  | { readonly kind: 'counts' }
  | { readonly kind: 'suspected' }
  /** What others have found counts. */
  | { readonly kind: 'met'; readonly met: Met }

type Going = { readonly looks: number; readonly waiting: number; readonly met: Met | undefined }

function stepOf({ verdict, standing, more }: Verified, { looks, waiting, met }: Going): Step {
  if (isDrift(verdict)) {
    const known = standing === 'found'
    if ((more || !known) && looks < LOOKS_AT_SUSPECTS) return { kind: 'again' }
    if (known) return { kind: 'counts' }
    return met ? { kind: 'met', met } : { kind: 'suspected' }
  }
  if (met) return { kind: 'met', met }
  const worthIt = looks < LOOKS_AT_OTHERS && waiting < MOST_POSTPONED && passes(verdict)
  return { kind: worthIt ? 'again' : 'counts' }
}

const PASSING: ReadonlySet<NoAnswer> = new Set(['unreached', 'trouble', 'error', 'busy'])

/** Whether a moment later more can be said. */
function passes(verdict: Exclude<CheckVerdict, { kind: 'differs' | 'missing' }>): boolean {
  switch (verdict.kind) {
    case 'no-answer':
      return PASSING.has(verdict.why)
    case 'skipped':
      return verdict.why === 'owed' || verdict.why === 'just-settled' || verdict.why === 'moved'
    default:
      return false
  }
}

function againOf({ key, verdict, lookAgainInMs }: Verified, looks: number, nowMs: number): WaitingCheck {
  return { key, at: nowMs + (lookAgainInMs ?? LATER_MS), looks, last: verdict }
}

/** Counted with all that nothing has confirmed so far: enough to doubt the service, not to accuse it of anything. */
export function soFar({ tally, suspects, waiting }: Agenda): DriftTally {
  return plus(plus(tally, suspects), tallyOf(waiting.flatMap(({ last }) => last ?? [])))
}

/** Customers of whom all is said that will be. */
export function doneOf({ tally, suspects }: Pick<Agenda, 'tally' | 'suspects'>): number {
  return tally.checked + suspects.checked + totalOf(tally.skipped) + silentOf(tally)
}

/** Of a run that nobody believes: all that was answered, and nobody is suspected. */
export function answered(agenda: Agenda): Agenda {
  return { waiting: [], tally: soFar(agenda), suspects: EMPTY_TALLY, found: [] }
}

/** Of a run that ends early: what was suspected stays a suspicion, and of the others the last look counts. */
export function closed(agenda: Agenda): Agenda {
  const verdicts = agenda.waiting.flatMap(({ last }) => last ?? [])
  return {
    ...agenda,
    waiting: [],
    tally: plus(agenda.tally, tallyOf(verdicts.filter((verdict) => !isDrift(verdict)))),
    suspects: plus(agenda.suspects, tallyOf(verdicts.filter(isDrift))),
  }
}
