// The inputs of the pace, and what it grants; the row that all processes share is in row.ts.

/** The permission to make one HTTP call. One that was not needed is given back. */
export type Permit = {
  /** On the monotonic clock, in milliseconds. */
  readonly usableUntil: number
  /** How often the rate had been lowered when it was granted; see `pace.epoch`. */
  readonly epoch: string
  /** How often permits had been dropped in this process by then. */
  readonly drops: number
}

export type Permits = {
  /** Null: this process may not call now, or the signal was aborted. */
  take(signal: AbortSignal): Promise<Permit | null>
  /** False when it was granted before the last drop, or long ago: a call must not be made with it. */
  stands(permit: Permit): boolean
  /** One that no call was made with: each that was taken comes back, or its call is reported. */
  giveBack(permit: Permit): void
  /** Forgets what is reserved, after the service asked all processes to wait or the breaker opened. */
  drop(): void
}

/**
 * The health that one call gives of the service as a whole. `well`: it works, whatever it said of this customer;
 * `trouble`: it failed, or what became of the call is unknown; `denied`: it does not take our credentials, or refuses
 * this customer; `neutral`: it tells nothing (it asks for patience, or we broke the call off ourselves).
 */
export type ServiceHealth = 'well' | 'trouble' | 'denied' | 'neutral'

export type CallOutcome = {
  /** Row id of the customer in `owed`: troubles of one customer are not troubles of the service. */
  readonly id: string
  readonly epoch: string
  readonly health: ServiceHealth
  /** 429 or 503: the rate is lowered. */
  readonly busy: boolean
  /** The wait that a 429 or 503 asked for, binding all processes; 0: none. */
  readonly holdMs: number
}

/** Called after every call that was made; resolves when it is stored. */
export type ReportOutcome = (call: CallOutcome) => Promise<void>

/** The part of `timing` in the configuration. */
type Backoff = { readonly retryMinMs: number; readonly retryMaxMs: number }

/** After this many doublings every configured maximum is reached; it keeps the power finite. */
const MOST_DOUBLINGS = 32

/** Full jitter: customers who failed together do not come back together. The bound doubles with every failed attempt. */
export function backoffMs(
  attempts: number,
  { retryMinMs, retryMaxMs }: Backoff,
  random: () => number,
): number {
  const bound = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(attempts, MOST_DOUBLINGS))
  return Math.round(random() * bound)
}
