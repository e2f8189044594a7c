// How a service fails while it is under fire, as rules for the sandbox.
import type { FaultInput } from '../../src/sandbox/faults/faults.ts'

/** The share of calls that is struck, each kind as often as any other. */
export const SHARE = 0.3

/** Every kind of fault, those with an answer in all their forms; 404 would be a lie, because it counts. */
function faults(timeoutMs: number): readonly FaultInput['action'][] {
  return [
    { kind: 'drop-before' },
    { kind: 'drop-after' },
    { kind: 'hang-after' },
    { kind: 'refuse', durationMs: 40 },
    { kind: 'slow-body', durationMs: timeoutMs / 4 },
    { kind: 'slow-body', durationMs: timeoutMs * 2 },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 500, body: 'empty', stored: true },
    { kind: 'status', status: 502, body: 'html', stored: true },
    { kind: 'status', status: 503, retryAfter: { form: 'seconds', seconds: 0 } },
    { kind: 'status', status: 504, body: 'empty' },
    { kind: 'status', status: 408, stored: true },
    { kind: 'status', status: 200, body: 'html' },
    { kind: 'status', status: 202, stored: true },
    { kind: 'status', status: 401 },
    { kind: 'status', status: 403, body: 'html' },
    { kind: 'status', status: 429, retryAfter: { form: 'date', seconds: 0 } },
    { kind: 'status', status: 429 },
  ]
}

/** Some answers are late, below the caller's timeout, and a share of the calls is struck. */
export function fireRules(timeoutMs: number, lateShare = 0.1): readonly FaultInput[] {
  const actions = faults(timeoutMs)
  const each = SHARE / actions.length
  // They are asked one after the other, so the later ones meet fewer calls.
  const rules = actions.map((action, before) => ({ rate: each / (1 - each * before), action }))
  const late = { rate: lateShare, action: { kind: 'latency', minMs: 0, maxMs: timeoutMs * 0.75 } } as const
  return [late, ...rules]
}
