// The worker's knowledge and decisions, in the smallest form that still has every turn of the protocol.
import type { Row } from './customers.ts'
import type { Call } from './service.ts'

/**
 * Last sure knowledge of the remote side. `unasked`: no call was ever made for this customer, and another system
 * may have registered it before. `hidden` null: never acknowledged, so it is sent.
 */
export type Known =
  | { readonly remote: 'unasked' | 'absent' }
  | {
      readonly remote: 'present'
      readonly status: number
      readonly value: number
      readonly hidden: number | null
    }

/** The part that a GET shows. */
export type Field = 'status' | 'value'

/** The result of checks: once a suspicion, twice a finding. If the user does not exist: no field. */
export type Finding = { readonly fields: readonly Field[]; readonly checks: number; readonly at: number }

export type Ledger = {
  known: Known
  state: 'idle' | 'rejected' | 'held' | 'failing'
  /** The customer as mapped for the last ending. */
  desired: string | null
  /** Rejected by the mapping: only another change can help. */
  invalid: boolean
  storedAt: number
  /** When the service last acknowledged a write. */
  acknowledgedAt: number
  finding: Finding | null
}

export type Desired =
  | { readonly kind: 'user'; readonly status: number; readonly value: number; readonly hidden: number }
  | { readonly kind: 'removed' }
  | { readonly kind: 'invalid' }

/** The mapping: pure, and with `until` dependent on the time. */
export function desire(row: Row, now: number): Desired {
  const { main, hidden } = row
  if (main.kind !== 'user') return { kind: main.kind }
  const status = main.until !== null && now >= main.until ? 0 : 2
  return { kind: 'user', status, value: main.value, hidden }
}

/** When the answer of the mapping ends to hold. */
export function validUntil(row: Row, now: number): number | null {
  return row.main.kind === 'user' && row.main.until !== null && row.main.until > now ? row.main.until : null
}

export type Plan =
  | { readonly kind: 'call' | 'revoke'; readonly call: Call }
  | { readonly kind: 'none' }
  | { readonly kind: 'reject' }

export function planFor(desired: Desired, known: Known, lookup: boolean): Plan {
  if (desired.kind === 'invalid') return { kind: 'reject' }
  if (lookup) return { kind: 'call', call: { verb: 'get' } }
  if (desired.kind === 'removed') {
    if (known.remote !== 'present' || known.status === 0) return { kind: 'none' }
    return { kind: 'revoke', call: { verb: 'update', change: { status: 0 } } }
  }
  const { status, value, hidden } = desired
  if (known.remote !== 'present')
    return { kind: 'call', call: { verb: 'create', user: { status, value, hidden } } }
  const change = {
    status,
    ...(known.value === value ? {} : { value }),
    ...(known.hidden === hidden ? {} : { hidden }),
  }
  const same = known.status === status && Object.keys(change).length === 1
  return same ? { kind: 'none' } : { kind: 'call', call: { verb: 'update', change } }
}

export function acknowledged(known: Known, call: Call): Known {
  if (call.verb === 'create') return { remote: 'present', ...call.user }
  if (call.verb === 'get' || known.remote !== 'present') return known
  return { ...known, ...call.change }
}

/** No lookup will ever show the hidden part. */
export function forgotten(known: Known, call: Call): Known {
  const carried = call.verb === 'update' && call.change.hidden !== undefined
  return carried && known.remote === 'present' ? { ...known, hidden: null } : known
}
