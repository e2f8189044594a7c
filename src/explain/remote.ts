// The one GET of a user (section 4.4), inside the pace that all processes share.
import type { Pool } from 'pg'
import { NO_ROW, shownBy } from '../drift/get-users.ts'
import type { NoAnswer } from '../drift/words.ts'
import type { CustomerKey } from '../model/customer.ts'
import { sleep } from '../ops/time.ts'
import { shareRow } from '../pace/open.ts'
import { readPace } from '../pace/read.ts'
import type { RemoteUser } from '../service/body.ts'
import type { CallErrorKind } from '../service/errors.ts'
import type { UsersClient } from '../service/users.ts'
import { type Called, type CalledGet, getUser } from '../sync/call.ts'
import { aboutService } from '../sync/classify.ts'
import { aborting, inTime, isGivenUp, PATIENCE_MS } from './in-time.ts'

/**
 * The result of the GET. `absent`, `json`: false when the body is none or of another server. `no-answer`: nothing is
 * said of the user; `waitMs`: for how long no call may be made, null if not said. `not-asked`: without a `user_id`; the
 * pace gave no permit in time; the service had not answered for others; not wanted.
 */
export type RemoteView =
  | { readonly kind: 'present'; readonly status: number }
  | { readonly kind: 'absent'; readonly http: number; readonly json: boolean }
  | {
      readonly kind: 'no-answer'
      readonly why: NoAnswer | 'unreadable'
      readonly http: number | null
      readonly error: CallErrorKind | null
      readonly waitMs: number | null
    }
  | {
      readonly kind: 'not-asked'
      readonly why: 'no-user-id' | 'gave-up' | 'not-wanted' | Shut['why']
      readonly waitMs: number | null
    }

/** With what it showed, for the comparison; null where it showed nothing. */
export type LookupResult = { readonly remote: RemoteView; readonly observed: RemoteUser | 'absent' | null }

/** Why no permit came, and for how long no process is to call, in whole milliseconds; null when that is not known. */
export type Shut = { readonly why: 'no-permit' | 'outage' | 'credentials'; readonly waitMs: number | null }

/** Where rollcall is not installed there is no pace to keep: a few calls by hand need none. */
export const OPEN_GATE = {
  /** False when no permit came in time. */
  pass: async (): Promise<boolean> => true,
  /** The answer to the call that was let pass last counts for the common pace, as that of every call does. */
  report: async (_key: CustomerKey, _called: Called): Promise<void> => undefined,
  shut: async (): Promise<Shut> => ({ why: 'no-permit', waitMs: null }),
}
export type CallGate = typeof OPEN_GATE

const ROW_ID = 'SELECT id::text FROM rollcall.owed WHERE key = $1'

type Options = { readonly pool: Pool; readonly stop: AbortSignal; readonly patienceMs: number | undefined }

/**
 * Permits of the shared pace. Once one did not come in time the rest are not waited for: the service may have asked
 * all callers to stay away for an hour. Before the first process that syncs there is no pace to keep.
 */
export async function openGate({ pool, stop, patienceMs = PATIENCE_MS }: Options): Promise<CallGate> {
  const pace = await inTime('rollcall.pace', () => readPace(pool))
  if (pace === null) return OPEN_GATE
  const { permits, report } = shareRow({
    pool,
    sleep,
    now: () => performance.now(),
    onChange: () => undefined,
  })
  let shut = false
  let epoch = pace.epoch
  return {
    async pass() {
      if (shut) return false
      const enough = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)])
      try {
        // Raced, since a reservation that waits for the row's lock heeds no signal.
        const permit = await Promise.race([permits.take(enough), aborting(enough)])
        shut = permit === null
        epoch = permit?.epoch ?? epoch
      } catch (error) {
        if (!enough.aborted && !isGivenUp(error)) throw error
        shut = true
      }
      return !shut
    },
    async report(key, called) {
      const found = await pool.query<{ id: string }>(ROW_ID, [key]).catch(() => null) // locked, perhaps
      const outcome = aboutService(called)
      // It may be this machine that does not reach the service.
      const health = outcome.health === 'trouble' ? 'neutral' : outcome.health
      await report({ ...outcome, id: found?.rows[0]?.id ?? NO_ROW, epoch, health })
    },
    async shut() {
      const { cause = null, heldForMs = 0 } = (await inTime('rollcall.pace', () => readPace(pool))) ?? {}
      return { why: cause ?? 'no-permit', waitMs: heldForMs > 0 ? Math.round(heldForMs) : null }
    },
  }
}

/** One call may be lost; after two in a row without an answer the others would only wait as long. */
const ENOUGH_SILENCE = 2

type LookupOptions = { readonly users: UsersClient; readonly gate: CallGate; readonly signal: AbortSignal }

/** Looks at one user after the other; `gaveUp`: the service has stopped to answer. */
export function makeLookup({ users, gate, signal }: LookupOptions) {
  let silent = 0
  return {
    gaveUp: () => silent >= ENOUGH_SILENCE,
    async get(key: CustomerKey, userId: string | null): Promise<LookupResult> {
      if (userId === null) return notAsked('no-user-id')
      if (silent >= ENOUGH_SILENCE) return notAsked('gave-up')
      if (!(await gate.pass()))
        return { remote: { kind: 'not-asked', ...(await gate.shut()) }, observed: null }
      const called = await getUser(users, { userId, signal })
      signal.throwIfAborted()
      const { outcome } = called
      await gate.report(key, called)
      silent = outcome.kind === 'error' && outcome.error !== 'bad-user-id' ? silent + 1 : 0
      return lookupOf(called)
    },
  }
}

export function notAsked(why: Extract<RemoteView, { kind: 'not-asked' }>['why']): LookupResult {
  return { remote: { kind: 'not-asked', why, waitMs: null }, observed: null }
}

/** The part of the same answer by which every sync would go. */
function lookupOf(called: CalledGet): LookupResult {
  const { outcome } = called
  const shown = shownBy(called)
  const reply = outcome.kind === 'reply' ? outcome : null
  const http = reply?.status ?? null
  const error = outcome.kind === 'error' ? outcome.error : null
  const waitMs = reply?.retryAfterMs ?? null
  const silent = (why: NoAnswer | 'unreadable'): LookupResult => ({
    remote: { kind: 'no-answer', why, http, error, waitMs },
    observed: null,
  })
  if (shown === 'stopped') return silent('unreached')
  if ('none' in shown) return silent(shown.none)
  const { observed } = shown
  if (observed === 'unreadable') return silent('unreadable')
  if (observed !== 'absent') return { remote: { kind: 'present', status: observed.status }, observed }
  const json = reply !== null && reply.body !== 'none' && reply.body !== 'unreadable'
  return { remote: { kind: 'absent', http: http ?? 404, json }, observed }
}
