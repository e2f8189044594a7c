// Whether the service takes the keys of this process. Each process finds that out for itself and keeps it to itself:
// another one may have other keys, and goes on.
import { add, customersOf, intervalMs, sumOf, type TroubleTally } from './breaker.ts'
import type { KeysEvent } from './events.ts'
import type { CallOutcome, Permit, Permits, ReportOutcome, ServiceHealth } from './pace.ts'

/** Times in milliseconds, by the clock of the process. */
export type Keys = {
  readonly denied: TroubleTally
  /** `asking`: a probe is to tell whether the keys are refused or these customers; null: calls are made. */
  readonly stopped: 'asking' | 'refused' | null
  readonly since: number
  readonly probeAt: number
  /** Probes that were refused or failed, in a row. */
  readonly failed: number
  /** Until then denied customers lead to no probe; and how often this wait has doubled. */
  readonly quietUntil: number
  readonly quietStep: number
}

export const TAKEN: Keys = {
  denied: {},
  stopped: null,
  since: 0,
  probeAt: 0,
  failed: 0,
  quietUntil: Number.NEGATIVE_INFINITY,
  quietStep: 0,
}

/** Denied calls in a row, and of how many customers, before a probe asks. */
const ASKS = { calls: 3, customers: 3 }
/** After so long without a question about denied customers the next one is asked at once again. */
const QUIET_FORGOTTEN_MS = 600_000

/** Changes the state of the keys by one call. While the process is stopped only its probes count. A failed call says nothing. */
export function countCall(keys: Keys, call: Pick<CallOutcome, 'health' | 'id'>, now: number): Keys {
  if (keys.stopped !== null) return keys
  if (call.health === 'well') return customersOf(keys.denied) > 0 ? { ...keys, denied: {} } : keys
  if (call.health !== 'denied') return keys
  const denied = add(keys.denied, call.id)
  const asks = sumOf(denied) >= ASKS.calls && customersOf(denied) >= ASKS.customers && now >= keys.quietUntil
  return asks
    ? { ...keys, denied, stopped: 'asking', since: now, probeAt: now, failed: 0 }
    : { ...keys, denied }
}

/**
 * The keys after the answer to a probe; `random` from 0 to 1. Refused keys stay refused until an answer takes
 * them. A question that no answer settles lets the process go on: a halt needs evidence.
 */
export function probedKeys(keys: Keys, health: ServiceHealth, now: number, random: number): Keys {
  const failed = keys.failed + 1
  if (health === 'denied' && keys.stopped !== 'refused')
    return { ...TAKEN, stopped: 'refused', since: now, probeAt: now + intervalMs(0, random), failed: 1 }
  switch (keys.stopped) {
    case null:
      return keys
    case 'refused':
      return health === 'well' ? TAKEN : { ...keys, failed, probeAt: now + intervalMs(keys.failed, random) }
    case 'asking': {
      // Many customers who are refused one by one must cost hardly anything.
      const step = now - keys.quietUntil > QUIET_FORGOTTEN_MS ? 0 : keys.quietStep
      return { ...TAKEN, quietUntil: now + intervalMs(step, random), quietStep: step + 1 }
    }
    default:
      return keys.stopped satisfies never
  }
}

type Options = {
  readonly permits: Permits
  readonly report: ReportOutcome
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  readonly random: () => number
  readonly onChange: (event: KeysEvent) => void
}

/** Calls at once while it is not known whether the service takes our keys. */
const FEW = 3
/** A call that hangs, or whose claim broke off, holds up no other for longer. */
const FORGOTTEN_MS = 1000
const POLL_MS = 20

/**
 * Permits for as long as the keys are taken. Until the service has taken them once, and again after it has refused them,
 * only a few calls are made at once: with wrong keys all that were under way would be refused before the first answer came.
 */
export function makeKeys({ permits, report, sleep, now, random, onChange }: Options) {
  let keys = TAKEN
  let proven = false
  /** When each permit was given whose call is not reported yet. */
  let out: number[] = []

  function mayGo(): boolean {
    if (proven || keys.stopped !== null) return true
    out = out.filter((since) => now() - since < FORGOTTEN_MS)
    return out.length < FEW
  }

  function change(after: Keys, event: KeysEvent | null): void {
    const stops = keys.stopped === null && after.stopped !== null
    keys = after
    if (stops) permits.drop()
    if (event) onChange(event)
  }

  function giveBack(permit: Permit): void {
    out.shift()
    permits.giveBack(permit)
  }

  return {
    permits: {
      ...permits,
      async take(signal: AbortSignal): Promise<Permit | null> {
        while (!mayGo() && !signal.aborted) await sleep(POLL_MS, signal)
        if (keys.stopped !== null || signal.aborted) return null
        const since = now()
        out.push(since)
        let permit: Permit | null = null
        try {
          permit = await permits.take(signal)
        } finally {
          if (!permit && out.includes(since)) out.splice(out.indexOf(since), 1)
        }
        if (!permit || keys.stopped === null) return permit
        giveBack(permit)
        return null
      },
      giveBack,
    },
    async report(call: Parameters<ReportOutcome>[0]) {
      out.shift()
      if (call.health === 'well') proven = true
      if (call.health === 'denied') proven = false
      const after = countCall(keys, call, now())
      change(after, after.stopped !== keys.stopped ? { kind: 'asking' } : null)
      await report(call)
    },
    areStopped: () => keys.stopped !== null,
    areRefused: () => keys.stopped === 'refused',
    isProbeDue: () => keys.stopped !== null && keys.probeAt <= now(),
    denied: () => Object.keys(keys.denied),
    probed(health: ServiceHealth): void {
      const after = probedKeys(keys, health, now(), random())
      change(after, eventOf(keys, after, now()))
    },
  }
}

function eventOf(before: Keys, after: Keys, now: number): KeysEvent | null {
  if (after === before) return null
  if (after.stopped === null)
    return before.stopped === 'refused'
      ? { kind: 'taken', stoppedForMs: now - before.since }
      : { kind: 'settled' }
  const isNew = after.stopped !== before.stopped
  return isNew ? { kind: 'refused', nextProbeMs: Math.round(Math.max(0, after.probeAt - now)) } : null
}
