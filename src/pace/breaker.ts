// The breaker: when everybody stops calling. Pure; what a probe does to it is in probed.ts, the row in stored.ts.
import type { HeardCall } from './pace.ts'
import { add, customersOf, merge, sumOf, type TroubleTally } from './tally.ts'

export type BreakerCause = 'outage' | 'credentials'

/** Times in milliseconds since 1970, by the clock of Postgres. */
export type Breaker = {
  readonly state: 'closed' | 'open' | 'trying'
  /**
   * Why somebody is stopped right now; null: nobody is. With `credentials` and not open, it is only being asked
   * whether the credentials are refused or those customers are.
   */
  readonly cause: BreakerCause | null
  /** Whom the cause `credentials` stops: keyed digests. */
  readonly refused: readonly string[]
  readonly openedAt: number | null
  readonly probeAt: number | null
  /** Probes that failed since it opened. */
  readonly failed: number
  /** How often the interval of the probes has doubled. */
  readonly step: number
  /** Calls in a row that failed, while nobody is stopped for it. */
  readonly troubles: TroubleTally
  /** Calls in a row that were denied, by credentials. */
  readonly denied: Readonly<Record<string, TroubleTally>>
  /** Calls that failed because of what opened it; their attempts are given back. */
  readonly burnt: TroubleTally
  /** Good calls in a row since it is trying. */
  readonly wells: number
  /** Calls of an earlier epoch were begun before it was trying, and say nothing of how it is since. */
  readonly from: number
  /** Until then nobody is asked about denied customers again; and how often this wait has doubled. */
  readonly quietUntil: number | null
  readonly quietStep: number
}

export const CLOSED: Breaker = {
  state: 'closed',
  cause: null,
  refused: [],
  openedAt: null,
  probeAt: null,
  failed: 0,
  step: 0,
  troubles: {},
  denied: {},
  burnt: {},
  wells: 0,
  from: 0,
  quietUntil: null,
  quietStep: 0,
}

const FIRST_PROBE_MS = 5000
const LAST_PROBE_MS = 60_000
/** Failures in a row, and of how many customers: those of a few customers are not those of the service. */
const OPENS = { calls: 10, customers: 5 }
/** Just after an outage. */
const REOPENS = { calls: 3, customers: 2 }
const DENIES = { calls: 3, customers: 3 }
const WELLS_TO_CLOSE = 10
/** Processes with different credentials at the same time are few; more than these are not told apart. */
const MOST_CREDENTIALS = 8

/** 5 s, doubling up to 60 s, with a tenth of it by chance. */
export function intervalMs(step: number, random: number): number {
  return Math.min(LAST_PROBE_MS, FIRST_PROBE_MS * 2 ** Math.min(step, 8) * (1 + random / 10))
}

/** Whether a process with these credentials must not call now. */
export function isClosedFor({ cause, refused }: Breaker, credentials: string): boolean {
  return cause === 'outage' || (cause === 'credentials' && refused.includes(credentials))
}

/** Whether a good call of such a process changes anything, so that it has to be reported. */
export function isTroubled(breaker: Breaker, credentials: string): boolean {
  return (
    breaker.state === 'trying' ||
    customersOf(breaker.troubles) > 0 ||
    Object.hasOwn(breaker.denied, credentials)
  )
}

/** Who made the call, and when it is heard. */
export type Listener = { readonly credentials: string; readonly now: number }

/**
 * What one call changes. While a process is stopped only its probe counts; of its calls that were under way it is
 * noted who lost an attempt. A denied call neither adds to the failures nor ends them, and the other way round: neither
 * says that the service works.
 */
export function hear(breaker: Breaker, call: Omit<HeardCall, 'busy' | 'holdMs'>, by: Listener): Breaker {
  if (call.sign === 'neutral') return breaker
  if (breaker.state === 'open' && isClosedFor(breaker, by.credentials))
    return call.sign === 'well' ? breaker : { ...breaker, burnt: add(breaker.burnt, call.id) }
  if (Number(call.epoch) < breaker.from) return breaker
  switch (call.sign) {
    case 'well':
      return hearWell(breaker, by.credentials)
    case 'trouble':
      return hearTrouble({ ...breaker, troubles: add(breaker.troubles, call.id), wells: 0 }, by.now)
    case 'denied':
      return hearDenied(noteDenied(breaker, by.credentials, call.id), by)
    default:
      return call.sign satisfies never
  }
}

function hearWell(breaker: Breaker, credentials: string): Breaker {
  if (!isTroubled(breaker, credentials)) return breaker
  const { [credentials]: _, ...denied } = breaker.denied
  const clear = { ...breaker, troubles: {}, denied }
  if (clear.state !== 'trying') return clear
  const wells = clear.wells + 1
  return wells < WELLS_TO_CLOSE ? { ...clear, wells } : close(clear)
}

/** The next outage begins with short intervals again. What is only being asked goes on being asked. */
function close(breaker: Breaker): Breaker {
  const ended = { state: 'closed', wells: 0, openedAt: null } as const
  return breaker.cause === null ? { ...breaker, ...ended, step: 0, failed: 0 } : { ...breaker, ...ended }
}

function hearTrouble(breaker: Breaker, now: number): Breaker {
  const trying = breaker.state === 'trying'
  const { calls, customers } = trying ? REOPENS : OPENS
  const { troubles } = breaker
  if (sumOf(troubles) < calls || customersOf(troubles) < customers) return breaker
  // Of what is being asked about credentials nothing is left: the answer would tell of the outage.
  const step = trying ? breaker.step + 1 : 0
  return {
    ...breaker,
    state: 'open',
    cause: 'outage',
    refused: [],
    openedAt: trying ? (breaker.openedAt ?? now) : now,
    probeAt: now + intervalMs(step, 0),
    failed: trying ? breaker.failed : 0,
    step,
    burnt: merge(breaker.burnt, troubles),
    troubles: {},
    wells: 0,
  }
}

function noteDenied(breaker: Breaker, credentials: string, id: string): Breaker {
  const before = Object.hasOwn(breaker.denied, credentials) ? breaker.denied[credentials] : undefined
  const others = Object.entries(breaker.denied).filter(([other]) => other !== credentials)
  const kept = Object.fromEntries(others.slice(0, MOST_CREDENTIALS - 1))
  return { ...breaker, denied: { ...kept, [credentials]: add(before ?? {}, id) } }
}

/**
 * Whether it is the credentials that are refused, or these customers, only a probe can tell. It is due at once, and
 * nobody with these credentials calls meanwhile: wrong keys stop after a handful of calls.
 */
function hearDenied(breaker: Breaker, { credentials, now }: Listener): Breaker {
  const tally = breaker.denied[credentials] ?? {}
  if (sumOf(tally) < DENIES.calls || customersOf(tally) < DENIES.customers) return breaker
  if (breaker.refused.includes(credentials)) return breaker
  if (breaker.quietUntil !== null && now < breaker.quietUntil) return breaker
  return {
    ...breaker,
    cause: 'credentials',
    refused: [...breaker.refused, credentials].slice(-MOST_CREDENTIALS),
    probeAt: now,
  }
}

/** What is left when nobody has the refused credentials any more. */
export function forsaken(breaker: Breaker): Breaker {
  return letGo({ ...breaker, state: breaker.state === 'open' ? 'closed' : breaker.state })
}

/** Nobody is stopped for credentials any more. */
export function letGo(breaker: Breaker): Breaker {
  const { state, openedAt } = breaker
  const trying = state === 'trying'
  return {
    ...breaker,
    cause: null,
    refused: [],
    probeAt: null,
    openedAt: trying ? openedAt : null,
    step: trying ? breaker.step : 0,
    failed: trying ? breaker.failed : 0,
  }
}
