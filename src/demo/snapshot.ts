// The counts that the demo shows, read from Postgres and from the sandbox.
import type { Pool } from 'pg'
import { type Overview, readOverview } from '../ledger/overview.ts'
import { readPace } from '../pace/read.ts'
import type { Sandbox } from '../sandbox/server.ts'

export type DemoSnapshot = Pick<Overview, 'unknown'> & {
  /** When the reading began; it shows everything committed before. */
  readonly at: number
  /** Calls a second that all processes together may make. */
  readonly ceiling: number
  readonly customers: number
  readonly users: number
  readonly owed: Pick<Overview['owed'], 'due' | 'queued' | 'active' | 'waiting'>
  /** Captured changes that are not noted yet. */
  readonly outbox: number
  /** Fields that are not sent because their value is invalid. */
  readonly leftOut: readonly { readonly field: string; readonly customers: number }[]
  /** Customers whose last call failed, by reason. */
  readonly failing: readonly { readonly why: string; readonly customers: number }[]
}

export async function readSnapshot(pool: Pool, sandbox: Sandbox, at: number): Promise<DemoSnapshot> {
  const overview = await readOverview(pool)
  const pace = await readPace(pool)
  const { rows } = await pool.query<{ customers: number }>(
    'SELECT count(*)::int AS customers FROM public.clientes',
  )
  return {
    at,
    ceiling: pace?.ceiling ?? 0,
    customers: rows[0]?.customers ?? 0,
    users: sandbox.users.size,
    owed: overview.owed,
    outbox: overview.outbox.rows,
    unknown: overview.unknown,
    leftOut: overview.fieldIssues,
    failing: overview.reasons
      .filter(({ state }) => state === 'failing')
      .map(({ code, status, customers }) => ({
        why: String(status ?? (code === 'unknown' ? 'no answer' : code)),
        customers,
      })),
  }
}

export function owedCustomers({ owed: { due, queued, active, waiting } }: DemoSnapshot): number {
  return due + queued + active + waiting
}

/** Nothing in the outbox, nothing owed, nothing unknown. */
export function isSettled(snapshot: DemoSnapshot): boolean {
  return snapshot.outbox === 0 && snapshot.unknown === 0 && owedCustomers(snapshot) === 0
}
