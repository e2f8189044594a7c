// The one GET of a user (section 4.4), inside the pace that all processes share.
import type { Pool } from 'pg'
import { sleep } from '../ops/time.ts'
import { makePermits } from '../pace/permits.ts'
import { holdOff, reservePermits } from '../pace/row.ts'
import type { UsersClient } from '../service/client.ts'
import { type Called, callService } from '../sync/call.ts'
import { type BodyKind, classifyRead } from '../sync/classify.ts'
import { inTime, isGivenUp, PATIENCE_MS } from './in-time.ts'
import type { Seen } from './next.ts'
import type { Look, Unreadable } from './verdict.ts'

/** Leave to make calls. */
export type Gate = {
  /** False when no permit came in time. */
  pass(): Promise<boolean>
  /** The service asked everybody to stay away: no process calls it for so long. */
  holdOff(ms: number): Promise<void>
  /** For how long nobody is to call, in milliseconds; null when that is not why no permit came. */
  heldForMs(): Promise<number | null>
}

/** Where rollcall is not installed there is no pace to keep: a few calls by hand need none. */
export const OPEN_GATE: Gate = {
  pass: async () => true,
  holdOff: async () => undefined,
  heldForMs: async () => null,
}

type Options = { readonly pool: Pool; readonly stop: AbortSignal; readonly patienceMs?: number }

/**
 * Permits of the shared pace. Once one did not come in time the rest are not waited for: the service may have asked
 * everybody to stay away for an hour.
 */
export function makeGate({ pool, stop, patienceMs = PATIENCE_MS }: Options): Gate {
  const permits = makePermits({
    // Whoever asks by hand has keys of its own to try: what others were refused does not bind them.
    reserve: (count) => reservePermits(pool, { count, credentials: '' }),
    sleep,
    now: () => performance.now(),
  })
  let shut = false
  return {
    async pass() {
      if (shut) return false
      const enough = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)])
      try {
        // Raced, since a reservation that waits for the row's lock heeds no signal.
        // None while the service is taken to be out of order: a look by hand is how a person finds out.
        await Promise.race([permits.take(enough), ending(enough)])
        return true
      } catch (error) {
        if (!enough.aborted && !isGivenUp(error)) throw error
        shut = true
        return false
      }
    },
    async holdOff(ms) {
      await inTime('rollcall.pace', () => holdOff(pool, ms))
      permits.drop()
    },
    heldForMs: () => inTime('rollcall.pace', () => heldForMs(pool)),
  }
}

/** Rejects when the signal is aborted. */
function ending(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function heldForMs(pool: Pool): Promise<number | null> {
  const { rows } = await pool.query<{ ms: number | null }>(
    `SELECT (extract(epoch FROM not_before - clock_timestamp()) * 1000)::float8 AS ms
     FROM rollcall.pace WHERE id = 1`,
  )
  const ms = rows[0]?.ms ?? 0
  return ms > 0 ? ms : null
}

/** Whether there is a pace to keep: no process has set one before the first that syncs. */
export async function hasPace(pool: Pool): Promise<boolean> {
  const { rows } = await inTime('rollcall.pace', () => pool.query('SELECT FROM rollcall.pace WHERE id = 1'))
  return rows.length > 0
}

export type Looked = { readonly look: Look; readonly seen: Seen }

/** Whether the service has stopped to answer. */
export type Silence = { lasts(): boolean; note(look: Look): void }

/** One call may be lost; after two in a row the others would only wait as long, each for itself. */
const ENOUGH_SILENCE = 2

export function makeSilence(): Silence {
  let unanswered = 0
  return {
    lasts: () => unanswered >= ENOUGH_SILENCE,
    note(look) {
      if (look.kind === 'none' || look.kind === 'no-permit' || look.kind === 'not-asked') return
      const failed = look.kind === 'no-answer' && look.error !== 'bad-user-id'
      unanswered = failed ? unanswered + 1 : 0
    },
  }
}

/** A Retry-After beside anything else (404, 401) is about that one call, and must not stop every worker. */
const ABOUT_EVERYBODY: readonly number[] = [429, 503]

type Looking = {
  readonly users: UsersClient
  readonly gate: Gate
  readonly silence: Silence
  readonly signal: AbortSignal
}

export async function lookFor(userId: string | null, looking: Looking): Promise<Looked> {
  const { users, gate, silence, signal } = looking
  if (userId === null) return { look: { kind: 'none' }, seen: undefined }
  if (silence.lasts()) return { look: { kind: 'not-asked' }, seen: undefined }
  if (!(await gate.pass())) {
    return { look: { kind: 'no-permit', waitMs: await gate.heldForMs() }, seen: undefined }
  }
  const called = await callService(users, { call: { method: 'GET' }, userId, signal })
  const { outcome } = called
  if (outcome.kind === 'reply' && outcome.retryAfterMs && ABOUT_EVERYBODY.includes(outcome.status))
    await gate.holdOff(outcome.retryAfterMs)
  const looked = readLook(called)
  silence.note(looked.look)
  return looked
}

/** What every sync would believe of the same answer. */
export function readLook({ outcome, remote }: Pick<Called, 'outcome' | 'remote'>): Looked {
  if (outcome.kind === 'error') return { look: { kind: 'no-answer', error: outcome.error }, seen: undefined }
  const meaning = classifyRead(outcome)
  const { status: answer, body } = outcome
  const waitMs = outcome.retryAfterMs ?? null
  switch (meaning) {
    case 'present':
      return remote
        ? { look: { kind: 'present', status: remote.status }, seen: remote }
        : { look: { kind: 'unreadable', answer, why: 'no-user', waitMs }, seen: undefined }
    case 'absent':
      return {
        look: { kind: 'absent', answer, json: body !== 'none' && body !== 'unreadable' },
        seen: 'absent',
      }
    case 'denied':
      return { look: { kind: 'denied', answer }, seen: undefined }
    case 'later':
      return { look: { kind: 'later', answer, waitMs }, seen: undefined }
    case 'failed':
      return { look: { kind: 'unreadable', answer, why: whyNot(answer, body), waitMs }, seen: undefined }
    default:
      return meaning satisfies never
  }
}

function whyNot(answer: number, body: BodyKind): Unreadable['why'] {
  if (answer !== 200) return 'status'
  return body === 'error' ? 'error' : 'no-user'
}
