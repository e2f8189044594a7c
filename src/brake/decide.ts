import type { CustomerKey } from '../model/customer.ts'
import { type BrakeKind, type BrakeRequest, CALL_BRAKE_KINDS, type HeldKind } from './brake.ts'

export type KindCounts = {
  readonly kind: BrakeKind
  /** Customers let through within the window. */
  readonly taken: number
  readonly tripped: boolean
  /** How many more a person expects: they pass and are not counted. */
  readonly expected: number
}

/** The row of a kind, locked, with the limit that holds now. */
export type KindState = KindCounts & { readonly limit: number }

export type WeighedRequest = BrakeRequest & {
  /** Kinds under which this customer was let through within the window already. */
  readonly counted: readonly BrakeKind[]
  /** The kinds among them since which nothing was settled: this is the same attempt once more. */
  readonly repeated: readonly BrakeKind[]
  /** Gets back what was taken within the window: this change of status is none of a mass. */
  readonly returning: boolean
  /** The kinds for which a person released this customer, for exactly what is desired now. */
  readonly released: readonly HeldKind[]
}

type DecideInput = {
  readonly kinds: readonly KindState[]
  readonly requests: readonly WeighedRequest[]
  /** A watched table was truncated, and no person has decided what that means. */
  readonly truncated: boolean
}

/** `expected`: it is one of those that a person expects. */
type Entry = { readonly kind: BrakeKind; readonly key: CustomerKey; readonly expected?: boolean }
type Trip = { readonly kind: BrakeKind; readonly limit: number }

export type Decision = {
  /** For each request, in order, the kinds for which it has to wait. */
  readonly answers: readonly (readonly HeldKind[])[]
  readonly entries: readonly Entry[]
  /** Customers who go on under a kind that they were counted for: the window begins anew for them. */
  readonly again: readonly Entry[]
  readonly trips: readonly Trip[]
}

/**
 * Decides which customers go on and which wait. A customer counts once for a kind within the window, however often it
 * changes. All kinds of a request have to pass, or it is counted under none. The customer that would be one too many
 * trips the kind. From then on every change of the kind is held until a person has decided, also of a customer that was
 * counted before. Two go on: an attempt that was let through and is repeated, since it failed, and a customer who gets
 * back what was taken. An expected customer passes first and is not counted; a tripped kind holds it too.
 */
export function decide({ kinds, requests, truncated }: DecideInput): Decision {
  const counts = new Map(kinds.map((state) => [state.kind, makeCount(state)]))
  const entries: Entry[] = []
  const again: Entry[] = []
  const answers = requests.map((request): readonly HeldKind[] => {
    const released = takenTogether(request.released)
    const emptied = truncated && request.kinds.some((kind) => BY_TRUNCATE.includes(kind))
    if (emptied && !released.includes('truncated')) return ['truncated']
    const kinds = [...new Set(request.kinds)]
    const asking = kinds.filter((kind) => !released.includes(kind) && !goesOn(kind, request))
    const isFresh = (kind: BrakeKind) => isNew(kind, request) && !counts.get(kind)?.has(request.key)
    // Every kind is asked, also after one that holds: a person is shown all that a release lets through.
    const held = asking.filter((kind) => !counts.get(kind)?.mayPass(isFresh(kind)))
    if (held.length > 0) return held
    for (const kind of asking.filter(isFresh)) {
      const expected = counts.get(kind)?.add(request.key) === 'expected'
      entries.push({ kind, key: request.key, ...(expected ? { expected } : {}) })
    }
    for (const kind of kinds) {
      if (request.counted.includes(kind)) again.push({ kind, key: request.key })
    }
    return []
  })
  return { answers, entries, again, trips: [...counts.values()].flatMap((count) => count.trip() ?? []) }
}

function goesOn(kind: BrakeKind, { repeated, returning }: WeighedRequest): boolean {
  return repeated.includes(kind) || (kind === 'status' && returning)
}

/** Whether the request could be one more of the kind: it was not counted for it yet, and gives nothing back. */
export function isNew(
  kind: BrakeKind,
  { counted, returning }: Pick<WeighedRequest, 'counted' | 'returning'>,
): boolean {
  return !counted.includes(kind) && !(kind === 'status' && returning)
}

/** The kinds of change that an emptied table would make for every customer. */
export const BY_TRUNCATE: readonly BrakeKind[] = ['revocation', 'erase']

/**
 * A decision on a customer who was held for a TRUNCATE is one on what the TRUNCATE would do. A decision on a repair is one
 * on all that the repair would send, whatever kinds that counts for.
 */
export function takenTogether(kinds: readonly HeldKind[]): readonly HeldKind[] {
  const together = kinds.includes('truncated') ? [...kinds, ...BY_TRUNCATE] : kinds
  return kinds.includes('repair') ? [...together, ...CALL_BRAKE_KINDS] : together
}

function makeCount({ kind, taken, limit, tripped, expected }: KindState) {
  const passed = new Set<CustomerKey>()
  let counted = taken
  let left = expected
  let exceeded = false
  return {
    has: (key: CustomerKey) => passed.has(key),
    mayPass(isFresh: boolean): boolean {
      if (tripped || exceeded) return false
      exceeded = isFresh && left <= 0 && counted >= limit
      return !exceeded
    },
    add(key: CustomerKey): 'expected' | 'counted' {
      passed.add(key)
      if (left > 0) {
        left--
        return 'expected'
      }
      counted++
      return 'counted'
    },
    trip: (): Trip | null => (exceeded ? { kind, limit } : null),
  }
}
