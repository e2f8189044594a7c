// Of how many the share of a limit is: those with access, or for registrations those who are registered.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import { type BrakeKind, ruleOf } from './brake.ts'

export type Bases = { readonly entitled: number; readonly present: number }

/** Older than this, and it may lie far off. */
const BASE_AGE_MS = 60_000

/** It reads the whole ledger: never while the brake's rows are locked. */
const COUNT = `
SELECT count(*)::float8 AS present,
  count(*) FILTER (WHERE coalesce(seen_status, sent_status) IN (2, 4))::float8 AS entitled
FROM rollcall.ledger WHERE remote = 'present'`

export async function countBases(pool: Pool): Promise<Bases> {
  const { rows } = await pool.query<Bases>(COUNT)
  return rows[0] ?? { entitled: 0, present: 0 }
}

export function baseOf(kind: BrakeKind, bases: Bases): number {
  return kind === 'create' ? bases.present : bases.entitled
}

type Known = {
  readonly kind: BrakeKind
  readonly taken: number
  readonly tripped: boolean
  /** How old the base is; null: never counted. */
  readonly baseAgeMs: number | null
}

/** Whether the answer to `more` customers may depend on a base that is missing or old: below the fixed number it does not. */
export function baseIsOld(
  { kind, taken, tripped, baseAgeMs }: Known,
  more: number,
  rules: Config['brake'],
): boolean {
  const { customers, share } = ruleOf(kind, rules)
  if (tripped || share === 0 || taken + more <= customers) return false
  // A clock that was set back makes it younger than it can be.
  return baseAgeMs === null || baseAgeMs > BASE_AGE_MS || baseAgeMs < 0
}
