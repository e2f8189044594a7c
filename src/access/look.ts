// The one GET of a user (section 4.4), inside the pace that all processes share.
import type { Pool } from 'pg'
import { sleep } from '../ops/time.ts'
import { makePermits } from '../pace/permits.ts'
import { holdOff, reservePermits } from '../pace/row.ts'
import type { UsersClient } from '../service/client.ts'
import { type Called, callService } from '../sync/call.ts'
import { classifyRead } from '../sync/classify.ts'
import type { Seen } from './next.ts'
import type { Look } from './verdict.ts'

/** Leave to make calls. */
export type Gate = {
  /** False when no permit came in time. */
  pass(): Promise<boolean>
  /** The service asked everybody to stay away. */
  holdOff(ms: number | undefined): Promise<void>
}

/** Where rollcall is not installed there is no pace to keep: a few calls by hand need none. */
export const OPEN_GATE: Gate = { pass: async () => true, holdOff: async () => undefined }

/** Somebody is waiting at the terminal, and perhaps a customer on the phone. */
const PATIENCE_MS = 10_000

type Options = { readonly pool: Pool; readonly stop: AbortSignal; readonly patienceMs?: number }

/**
 * Permits of the shared pace. Once one did not come in time the rest are not waited for: the service may have asked
 * everybody to stay away for an hour.
 */
export function makeGate({ pool, stop, patienceMs = PATIENCE_MS }: Options): Gate {
  const permits = makePermits({
    reserve: (count) => reservePermits(pool, count),
    sleep,
    now: () => performance.now(),
  })
  let shut = false
  return {
    async pass() {
      if (shut) return false
      const enough = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)])
      try {
        await permits.take(enough)
        return true
      } catch (error) {
        if (!enough.aborted) throw error
        shut = true
        return false
      }
    },
    async holdOff(ms) {
      if (ms === undefined) return
      await holdOff(pool, ms)
      permits.drop()
    },
  }
}

/** Whether there is a pace to keep: no process has set one before the first that syncs. */
export async function hasPace(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query('SELECT FROM rollcall.pace WHERE id = 1')
  return rows.length > 0
}

export type Looked = { readonly look: Look; readonly seen: Seen }

type Looking = { readonly users: UsersClient; readonly gate: Gate; readonly signal: AbortSignal }

export async function lookFor(userId: string | null, { users, gate, signal }: Looking): Promise<Looked> {
  if (userId === null) return { look: { kind: 'none' }, seen: undefined }
  if (!(await gate.pass())) return { look: { kind: 'no-permit' }, seen: undefined }
  const called = await callService(users, { call: { method: 'GET' }, userId, signal })
  if (called.outcome.kind === 'reply') await gate.holdOff(called.outcome.retryAfterMs)
  return readLook(called)
}

/** What every sync would believe of the same answer. */
export function readLook({ outcome, remote }: Pick<Called, 'outcome' | 'remote'>): Looked {
  if (outcome.kind === 'error') return { look: { kind: 'no-answer', error: outcome.error }, seen: undefined }
  const meaning = classifyRead(outcome)
  const answer = outcome.status
  switch (meaning) {
    case 'present':
      return remote
        ? { look: { kind: 'present', status: remote.status }, seen: remote }
        : { look: { kind: 'unreadable', answer }, seen: undefined }
    case 'absent':
      return { look: { kind: 'absent', answer }, seen: 'absent' }
    case 'denied':
    case 'later':
      return { look: { kind: meaning, answer }, seen: undefined }
    case 'failed':
      return { look: { kind: 'unreadable', answer }, seen: undefined }
    default:
      return meaning satisfies never
  }
}
