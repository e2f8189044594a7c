import { type Breaker, intervalMs, isClosedFor, letGo } from './breaker.ts'
import type { Sign } from './pace.ts'
import { merge } from './tally.ts'

export type Probe = {
  readonly sign: Sign
  /** Of the process that made it. */
  readonly credentials: string
  readonly now: number
  readonly random: number
}

/** After so long without a question about denied customers the next one is asked at once again. */
const QUIET_FORGOTTEN_MS = 600_000

const AN_HOUR_MS = 3_600_000

/** Whether a process with these credentials should probe now, the others aside. */
export function isProbeDue(breaker: Breaker, credentials: string, now: number): boolean {
  const { probeAt } = breaker
  return (
    isClosedFor(breaker, credentials) && (probeAt === null || probeAt <= now || probeAt > now + AN_HOUR_MS)
  )
}

/**
 * What the answer to a probe changes. Whatever is answered ends an outage, also a request for patience; refused
 * credentials are ended by nothing but an answer that takes them. A question about denied customers that no answer
 * settles lets them go on when the service asks for patience: a halt needs evidence.
 */
export function probed(breaker: Breaker, probe: Probe): Breaker {
  if (!isClosedFor(breaker, probe.credentials)) return breaker
  if (breaker.cause === 'outage') return probedOutage(breaker, probe)
  return breaker.state === 'open' ? probedHalt(breaker, probe) : probedQuestion(breaker, probe)
}

function probedOutage(breaker: Breaker, probe: Probe): Breaker {
  switch (probe.sign) {
    case 'well':
    case 'neutral':
      return tryAgain(breaker)
    case 'trouble':
      return failedAgain(breaker, probe)
    case 'denied':
      // The refusal has a date of its own.
      return halt({ ...breaker, openedAt: null, refused: [probe.credentials], step: 0, failed: 0 }, probe)
    default:
      return probe.sign satisfies never
  }
}

function probedHalt(breaker: Breaker, probe: Probe): Breaker {
  if (probe.sign !== 'well') return failedAgain(breaker, probe)
  const refused = breaker.refused.filter((other) => other !== probe.credentials)
  return refused.length === 0
    ? tryAgain(withoutDenied(breaker, probe.credentials))
    : { ...quieter(withoutDenied(breaker, probe.credentials), probe), refused }
}

function probedQuestion(breaker: Breaker, probe: Probe): Breaker {
  switch (probe.sign) {
    case 'denied':
      return halt({ ...breaker, openedAt: null, step: 0, failed: 0 }, probe)
    case 'trouble':
      return {
        ...breaker,
        probeAt: probe.now + intervalMs(breaker.quietStep, probe.random),
        quietStep: breaker.quietStep + 1,
      }
    case 'well':
    case 'neutral': {
      const refused = breaker.refused.filter((other) => other !== probe.credentials)
      const quiet = quieter(withoutDenied(breaker, probe.credentials), probe)
      return refused.length === 0 ? letGo(quiet) : { ...quiet, refused }
    }
    default:
      return probe.sign satisfies never
  }
}

/** Calls are made again, slowly; a few failures are enough to open it anew, with the intervals growing on. */
function tryAgain(breaker: Breaker): Breaker {
  return {
    ...breaker,
    state: 'trying',
    cause: null,
    refused: [],
    probeAt: null,
    troubles: {},
    wells: 0,
    quietUntil: null,
    quietStep: 0,
  }
}

function halt(breaker: Breaker, probe: Probe): Breaker {
  const { credentials, now, random } = probe
  return {
    ...withoutDenied(breaker, credentials),
    state: 'open',
    cause: 'credentials',
    openedAt: breaker.openedAt ?? now,
    probeAt: now + intervalMs(0, random),
    failed: 1,
    burnt: merge(breaker.burnt, breaker.denied[credentials] ?? {}),
    wells: 0,
    quietUntil: null,
    quietStep: 0,
  }
}

function failedAgain(breaker: Breaker, { now, random }: Probe): Breaker {
  const step = breaker.step + 1
  return { ...breaker, probeAt: now + intervalMs(step, random), failed: breaker.failed + 1, step }
}

function withoutDenied(breaker: Breaker, credentials: string): Breaker {
  const { [credentials]: _, ...denied } = breaker.denied
  return { ...breaker, denied }
}

/** Many customers who are refused one by one must cost hardly anything. */
function quieter(breaker: Breaker, { now, random }: Probe): Breaker {
  const forgotten = breaker.quietUntil !== null && now - breaker.quietUntil > QUIET_FORGOTTEN_MS
  const step = forgotten ? 0 : breaker.quietStep
  return { ...breaker, quietUntil: now + intervalMs(step, random), quietStep: step + 1 }
}
