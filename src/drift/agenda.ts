// The agenda of one run: which customers are checked again and when, and what counts. Pure.
import type { CustomerKey } from '../model/customer.ts'
import type { Met } from './found.ts'
import { EMPTY_TALLY, plus, tallyOf, totalOf } from './tally.ts'
import { type Checked, type CheckVerdict, type DriftTally, type DriftVerdict, isDrift } from './words.ts'

type WaitingCheck = {
  readonly key: CustomerKey
  /** Monotonic milliseconds: a clock that is set back makes no customer wait. */
  readonly at: number
  readonly checks: number
  /** The verdict of the last check, which counts once no further one comes; null: there was none. */
  readonly last: CheckVerdict | null
}

export type Agenda = {
  readonly waiting: readonly WaitingCheck[]
  readonly tally: DriftTally
  /** Differences that no second check was able to confirm, by the last one. */
  readonly suspects: DriftTally
  /** Ids of the findings that were confirmed while it went on. */
  readonly found: readonly string[]
}

export const NOTHING_YET: Agenda = { waiting: [], tally: EMPTY_TALLY, suspects: EMPTY_TALLY, found: [] }

/** These bound the keys in memory and in the record of a run: then those who wait go first, or go without. */
export const MOST_WAITING = 1000
const MOST_POSTPONED = 500
/** A suspicion is followed for so many checks; a customer who changes again and again, or has no answer, for so many. */
const CHECKS_OF_SUSPECTS = 6
const CHECKS_OF_OTHERS = 3
/** A change that is on its way arrives soon, and a service that hiccups has a moment to come back. A check that died with its process lasts longer. */
const LATER_MS = 2000
const MOVED_AGAIN_MS = 35_000

type Room = { readonly nowMs: number; readonly room: number; readonly underWay?: ReadonlySet<CustomerKey> }

/**
 * Customers whose next check is due and not under way, at most so many; how many customers may join them that were not
 * checked yet; and when the next of those who wait is due (null: none waits).
 */
export function dueOf({ waiting }: Agenda, { nowMs, room, underWay = new Set() }: Room) {
  const due = waiting
    .filter(({ key, at }) => at <= nowMs && !underWay.has(key))
    .toSorted((one, other) => one.at - other.at)
    .slice(0, room)
  const newOnes = Math.max(0, Math.min(room - due.length, MOST_WAITING - waiting.length))
  return { due, newOnes, next: waiting.length === 0 ? null : Math.min(...waiting.map(({ at }) => at)) }
}

/** With customers that are about to be checked for the first time: a stop may come before. */
export function withNew(agenda: Agenda, keys: readonly CustomerKey[], nowMs: number): Agenda {
  const added = keys.map((key) => ({ key, at: nowMs, checks: 0, last: null }))
  return { ...agenda, waiting: [...agenda.waiting, ...added] }
}

type NewChecks = {
  readonly checked: readonly Checked[]
  /** Customers for which others have found a difference while the run went on. */
  readonly met: ReadonlyMap<CustomerKey, Met>
  readonly nowMs: number
}

/**
 * Each customer counts once, by its last check: as drift when a second one has confirmed it. A customer that cannot be
 * judged now is tried again a few times. Findings that others made since the run began count as the run's own: a
 * report that calls all customers right because a worker was quicker would hide what happened.
 */
export function afterChecks(agenda: Agenda, { checked, met, nowMs }: NewChecks): Agenda {
  const before = new Map(agenda.waiting.map(({ key, checks }) => [key, checks]))
  const seen = new Set(checked.map(({ key }) => key))
  const waiting: WaitingCheck[] = agenda.waiting.filter(({ key }) => !seen.has(key))
  const counted: CheckVerdict[] = []
  const suspects: CheckVerdict[] = []
  const found: string[] = []
  for (const each of checked) {
    const { key, verdict, findingId, findingState } = each
    const checks = (before.get(key) ?? 0) + 1
    const other = findingState === 'found' ? undefined : met.get(key)
    if (isWaiting(each, checks, other === undefined && waiting.length < MOST_POSTPONED)) {
      const laterMs = checks > 1 && 'why' in verdict && verdict.why === 'changed' ? MOVED_AGAIN_MS : LATER_MS
      waiting.push({ key, at: nowMs + (each.nextInMs ?? laterMs), checks, last: verdict })
    } else if (other) {
      counted.push(withAccessOf(verdict, other.verdict))
      found.push(other.findingId)
    } else if (isDrift(verdict) && findingState !== 'found') {
      suspects.push(verdict)
    } else {
      counted.push(verdict)
      if (isDrift(verdict) && findingId !== null) found.push(findingId)
    }
  }
  return {
    waiting,
    tally: plus(agenda.tally, tallyOf(counted)),
    suspects: plus(agenda.suspects, tallyOf(suspects)),
    found: [...agenda.found, ...found],
  }
}

/** A customer may be held by now for what it does to access, though another difference was found before. */
function withAccessOf(now: CheckVerdict, found: DriftVerdict): DriftVerdict {
  const held = now.kind === 'skipped' && now.why === 'held' ? now.access : null
  return { ...found, access: found.access ?? held }
}

function isWaiting({ verdict, findingState, more }: Checked, checks: number, mayPostpone: boolean): boolean {
  if (isDrift(verdict)) return (more || findingState !== 'found') && checks < CHECKS_OF_SUSPECTS
  return mayPostpone && checks < CHECKS_OF_OTHERS && 'why' in verdict && PASSING.includes(verdict.why)
}

type Why = Extract<CheckVerdict, { readonly why: unknown }>['why']

/** More can be said a moment later. */
const PASSING: readonly Why[] = ['unreached', 'trouble', 'error', 'busy', 'owed', 'just-written', 'changed']

/** With all that nothing has confirmed so far: enough to call the service not credible, not to accuse it of anything. */
export function soFar({ tally, suspects, waiting }: Agenda): DriftTally {
  return plus(plus(tally, suspects), tallyOf(waiting.flatMap(({ last }) => last ?? [])))
}

/** Customers whose result is final. */
export function doneOf({ tally, suspects }: Pick<Agenda, 'tally' | 'suspects'>): number {
  return tally.checked + suspects.checked + totalOf(tally.skipped) + totalOf(tally.noAnswer)
}

/** The agenda of a run that is not credible: all answers count, and no user is suspected. */
export function answered(agenda: Agenda): Agenda {
  return { waiting: [], tally: soFar(agenda), suspects: EMPTY_TALLY, found: [] }
}

/** The agenda of a run that ends early: suspicions stay suspicions, and of other customers the last check counts. */
export function closed(agenda: Agenda): Agenda {
  const verdicts = agenda.waiting.flatMap(({ last }) => last ?? [])
  return {
    ...agenda,
    waiting: [],
    tally: plus(agenda.tally, tallyOf(verdicts.filter((verdict) => !isDrift(verdict)))),
    suspects: plus(agenda.suspects, tallyOf(verdicts.filter(isDrift))),
  }
}
