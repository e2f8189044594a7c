// The breaker: when all processes stop calling because the service is out of order. Pure; the row is in stored.ts. A
// denied call says nothing here: whether the service takes the keys of a process is in keys.ts.
import type { HeardCall, Sign } from './pace.ts'
import { add, customersOf, merge, sumOf, type TroubleTally } from './tally.ts'

/** Times in milliseconds since 1970, by the clock of Postgres. */
export type Breaker = {
  readonly state: 'closed' | 'open' | 'trying'
  readonly openedAt: number | null
  readonly probeAt: number | null
  /** Probes that failed since it opened. */
  readonly failed: number
  /** How often the interval of the probes has doubled. */
  readonly step: number
  /** GETs in a row that failed, while calls are made. A good call of either kind ends the row. */
  readonly reads: TroubleTally
  /** The same of creates and updates, which only a good one of them ends: a service may break at all but GETs. */
  readonly writes: TroubleTally
  /** Calls that failed because of what opened it; their attempts are given back. */
  readonly burnt: TroubleTally
  /** Good calls in a row since it is trying. */
  readonly wells: number
  /** Calls of an earlier epoch were begun before it was trying, and say nothing of how it is since. */
  readonly from: number
}

export const CLOSED: Breaker = {
  state: 'closed',
  openedAt: null,
  probeAt: null,
  failed: 0,
  step: 0,
  reads: {},
  writes: {},
  burnt: {},
  wells: 0,
  from: 0,
}

const FIRST_PROBE_MS = 5000
const LAST_PROBE_MS = 60_000
/** Failures in a row, and of how many customers: those of a few customers are not those of the service. */
const OPENS = { calls: 10, customers: 5 }
/** Just after an outage. */
const REOPENS = { calls: 3, customers: 2 }
const WELLS_TO_CLOSE = 10

/** 5 s, doubling up to 60 s, with a tenth of it by chance. */
export function intervalMs(step: number, random: number): number {
  return Math.min(LAST_PROBE_MS, FIRST_PROBE_MS * 2 ** Math.min(step, 8) * (1 + random / 10))
}

/** Whether a good call changes anything, so that it has to be reported. */
export function isTroubled({ state, reads, writes }: Breaker): boolean {
  return state === 'trying' || customersOf(reads) + customersOf(writes) > 0
}

/** What one call changes. While it is open only probes count; which of the calls under way lost an attempt is noted. */
export function hear(
  breaker: Breaker,
  { sign, id, epoch, writing }: Pick<HeardCall, 'sign' | 'id' | 'epoch' | 'writing'>,
  now: number,
): Breaker {
  if (sign === 'neutral' || sign === 'denied') return breaker
  if (breaker.state === 'open')
    return sign === 'well' ? breaker : { ...breaker, burnt: add(breaker.burnt, id) }
  if (Number(epoch) < breaker.from) return breaker
  if (sign === 'well') return hearWell(breaker, writing)
  const failed = writing ? 'writes' : 'reads'
  return hearTrouble({ ...breaker, [failed]: add(breaker[failed], id), wells: 0 }, now)
}

function hearWell(breaker: Breaker, writing: boolean): Breaker {
  if (!isTroubled(breaker)) return breaker
  const clear = { ...breaker, reads: {}, writes: writing ? {} : breaker.writes }
  if (clear.state !== 'trying') return clear
  const wells = clear.wells + 1
  return wells < WELLS_TO_CLOSE ? { ...clear, wells } : CLOSED
}

function hearTrouble(breaker: Breaker, now: number): Breaker {
  const trying = breaker.state === 'trying'
  const { calls, customers } = trying ? REOPENS : OPENS
  const { burnt, from } = breaker
  const troubles = merge(breaker.reads, breaker.writes)
  if (sumOf(troubles) < calls || customersOf(troubles) < customers) return breaker
  const step = trying ? breaker.step + 1 : 0
  return {
    ...{ ...CLOSED, from, step },
    state: 'open',
    openedAt: trying ? (breaker.openedAt ?? now) : now,
    probeAt: now + intervalMs(step, 0),
    failed: trying ? breaker.failed : 0,
    burnt: merge(burnt, troubles),
  }
}

export type Probe = { readonly sign: Sign; readonly now: number; readonly random: number }

const AN_HOUR_MS = 3_600_000

/** Whether a probe should be made now; a time further ahead than it can be is one of a clock that was set back. */
export function isProbeDue({ state, probeAt }: Breaker, now: number): boolean {
  return state === 'open' && (probeAt === null || probeAt <= now || probeAt > now + AN_HOUR_MS)
}

/** Any answer to a probe ends an outage, also a refusal or a request for patience: then calls are tried, slowly. */
export function probed(breaker: Breaker, { sign, now, random }: Probe): Breaker {
  if (breaker.state !== 'open') return breaker
  if (sign !== 'trouble')
    return { ...breaker, state: 'trying', probeAt: null, reads: {}, writes: {}, wells: 0 }
  const step = breaker.step + 1
  return { ...breaker, probeAt: now + intervalMs(step, random), failed: breaker.failed + 1, step }
}
