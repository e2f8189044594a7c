// Reads what rollcall's own tables say of a customer: read only, and never needed.
import type { Pool } from 'pg'
import { type CaptureMark, openMarks } from '../capture/marks.ts'
import { CURRENT_FINGERPRINT } from '../ledger/generation.ts'
import { type History, readHistory } from '../ledger/history.ts'
import { whyUnreadable } from '../ledger/readable.ts'
import { differencesFromBinding, type PartialTarget, remedyFor } from '../ledger/target.ts'
import type { CustomerKey } from '../model/customer.ts'
import { isGivenUp } from './in-time.ts'

/**
 * `known`: the history is null where the tables hold nothing of the customer; `applied`: our mapping is active;
 * `truncated`: a watched table was, and no person has decided what that means.
 * `not-migrated`: the tables are not there, or of another version. `no-right`: this role may not read them. `locked`: no
 * answer came in time. `other-target`: the records are about another service, key or database; in words, with the remedy.
 */
export type Records =
  | {
      readonly kind: 'known'
      readonly history: History
      readonly applied: boolean
      readonly truncated: CaptureMark | null
    }
  | { readonly kind: 'not-migrated' | 'no-right' | 'locked' }
  | { readonly kind: 'other-target'; readonly differences: readonly string[]; readonly todo: string }

const NEEDED = 'call capture_mark decided finding generation ledger migration outbox owed target'.split(' ')

const OPENED = `
SELECT coalesce(${CURRENT_FINGERPRINT} = $1, true) AS applied,
  has_table_privilege(to_regclass('rollcall.pace'), 'SELECT') AND has_table_privilege(to_regclass('rollcall.pace'), 'UPDATE')
  AND current_setting('transaction_read_only') = 'off' AS pace`

const LOCKED = { kind: 'locked' } as const

/** The command goes on without tables that are of another version, locked, or not to be read. */
export async function openRecords(pool: Pool, target: PartialTarget, fingerprint: string) {
  const without = (records: Records) => ({ pace: false, read: async (): Promise<Records> => records })
  const why = await orLocked(() => whyUnreadable(pool, NEEDED))
  if (why !== null) return without(typeof why === 'string' ? { kind: why } : why)
  const differences = await orLocked(() => differencesFromBinding(pool, target))
  if ('kind' in differences) return without(differences)
  const todo = remedyFor(differences)
  if (todo !== null)
    return without({ kind: 'other-target', differences: differences.map(({ says }) => says), todo })
  const { rows } = await pool.query<{ applied: boolean; pace: boolean | null }>(OPENED, [fingerprint])
  const { applied = true, pace = null } = rows[0] ?? {}
  const truncated = (await openMarks(pool)).find(({ kind }) => kind === 'truncate') ?? null
  let locked = false
  return {
    /** There is a common pace, and this role may take permits of it. */
    pace: pace === true,
    async read(key: CustomerKey, calls: number): Promise<Records> {
      if (locked) return LOCKED // not waited for again, customer by customer
      const history = await orLocked(() => readHistory(pool, key, calls))
      locked = history === LOCKED
      if (history !== null && 'kind' in history) return history
      return { kind: 'known', history, applied, truncated }
    },
  }
}

async function orLocked<T>(read: () => Promise<T>): Promise<T | typeof LOCKED> {
  try {
    return await read()
  } catch (error) {
    if (!isGivenUp(error)) throw error
    return LOCKED
  }
}

/** A check has seen, or suspects, something else than the ledger holds: then `rollcall sync` looks up first. */
export function hasOpenDrift(history: History): boolean {
  const { finding = null, state = null } = history ?? {}
  return finding !== null && finding.kind !== 'trial-ended' && state !== 'discarded'
}

export function historyOf(records: Records): History {
  return records.kind === 'known' ? records.history : null
}

/**
 * There once was such a customer: a write for it was acknowledged, the service has shown its user, or a change of its row
 * was captured. A record or a work row alone does not say so: `rollcall sync --removed` leaves both.
 */
export function wasCustomer(history: History): boolean {
  if (history === null) return false
  return history.capturedMs !== null || history.acknowledgedAt !== null || history.metBefore
}

/** Captured or due for longer than workers that run would leave it. */
const OVERDUE_MS = 60_000

export function isOverdue(history: Pick<NonNullable<History>, 'overdueMs' | 'capturedMs'>): boolean {
  const { overdueMs, capturedMs } = history
  return Math.max(capturedMs ?? 0, overdueMs ?? 0) > OVERDUE_MS
}
