// The breaker: when all processes stop calling because the service is out of order. Pure; the row is in stored.ts. A
// denied call says nothing here: whether the service takes the keys of a process is in keys.ts.
import type { CallOutcome, ServiceHealth } from './pace.ts'

/** Times in milliseconds since 1970, by the clock of Postgres. */
export type Breaker = {
  readonly state: 'closed' | 'open' | 'trying'
  readonly openedAt: number | null
  readonly probeAt: number | null
  readonly failed: number
  readonly troubles: TroubleTally
  /** Calls that failed as it opened; their attempts are given back once a probe has failed, too. */
  readonly forgiven: TroubleTally
  readonly successes: number
  /** Calls of an earlier epoch were begun before it was trying, and say nothing of how it is since. */
  readonly from: number
}

export const CLOSED: Breaker = {
  state: 'closed',
  openedAt: null,
  probeAt: null,
  failed: 0,
  troubles: {},
  forgiven: {},
  successes: 0,
  from: 0,
}

const FIRST_PROBE_MS = 5000
const LAST_PROBE_MS = 60_000
/** So many customers in a row whose call failed: those of a few are not those of the service. */
const OPENS = 10
const SUCCESSES_TO_CLOSE = 10

/** 5 s, doubling with each probe that had failed before, up to 60 s, with a tenth of it by chance. */
export function intervalMs(failed: number, random: number): number {
  return Math.min(LAST_PROBE_MS, FIRST_PROBE_MS * 2 ** Math.min(failed, 8) * (1 + random / 10))
}

/** Whether a good call changes anything. */
export function isCounting({ state, troubles }: Breaker): boolean {
  return state === 'trying' || customersOf(troubles) > 0
}

/** Changes the breaker by one call. While it is open only probes count; lost attempts are noted. */
export function countForBreaker(
  breaker: Breaker,
  { health, id, epoch }: Pick<CallOutcome, 'health' | 'id' | 'epoch'>,
  now: number,
): Breaker {
  if (health === 'neutral' || health === 'denied') return breaker
  if (breaker.state === 'open') {
    const isForgiven = health === 'trouble' && customersOf(breaker.forgiven) > 0
    return isForgiven ? { ...breaker, forgiven: add(breaker.forgiven, id) } : breaker
  }
  if (Number(epoch) < breaker.from) return breaker
  if (health === 'well') return countSuccess(breaker)
  return countTrouble({ ...breaker, troubles: add(breaker.troubles, id), successes: 0 }, now)
}

function countSuccess(breaker: Breaker): Breaker {
  if (!isCounting(breaker)) return breaker
  const clear = { ...breaker, troubles: {} }
  if (clear.state !== 'trying') return clear
  const successes = clear.successes + 1
  return successes < SUCCESSES_TO_CLOSE ? { ...clear, successes } : CLOSED
}

function countTrouble(breaker: Breaker, now: number): Breaker {
  const { troubles, from, failed } = breaker
  if (customersOf(troubles) < OPENS) return breaker
  return {
    ...{ ...CLOSED, from, failed },
    state: 'open',
    openedAt: breaker.openedAt ?? now,
    // At once: a few values at which the service breaks look like this, too.
    probeAt: now,
    // After an outage it may be those who always fail: their attempts count.
    forgiven: breaker.state === 'trying' ? {} : troubles,
  }
}

export type Probe = { readonly health: ServiceHealth; readonly now: number; readonly random: number }

const AN_HOUR_MS = 3_600_000

/** Whether a probe should be made now; a time further ahead than it can be is one of a clock that was set back. */
export function isProbeDue({ state, probeAt }: Breaker, now: number): boolean {
  return state === 'open' && (probeAt === null || probeAt <= now || probeAt > now + AN_HOUR_MS)
}

/** Any answer ends an outage, also a refusal or a 429: calls begin slowly. If the first probe does well, there was none. */
export function probed(breaker: Breaker, { health, now, random }: Probe): Breaker {
  if (breaker.state !== 'open') return breaker
  if (health === 'trouble')
    return { ...breaker, probeAt: now + intervalMs(breaker.failed, random), failed: breaker.failed + 1 }
  if (breaker.failed === 0 && health === 'well') return { ...CLOSED, from: breaker.from }
  return { ...breaker, state: 'trying', probeAt: null, troubles: {}, successes: 0 }
}

/** How many calls, by the customer's row id in `owed`. */
export type TroubleTally = Readonly<Record<string, number>>

/** More customers than these are not remembered: the row stays small, whatever happens. */
export const MOST_CUSTOMERS = 500

/** Beyond the limit a customer is left out. */
export function add(tally: TroubleTally, id: string): TroubleTally {
  const before = tally[id] ?? 0
  const isFull = before === 0 && customersOf(tally) >= MOST_CUSTOMERS
  return isFull ? tally : { ...tally, [id]: before + 1 }
}

export function sumOf(tally: TroubleTally): number {
  return Object.values(tally).reduce((sum, calls) => sum + calls, 0)
}

export function customersOf(tally: TroubleTally): number {
  return Object.keys(tally).length
}
