// Where everything stands, asked of Postgres and of the sandbox.
import type { Pool } from 'pg'
import { readOverview } from '../ledger/overview.ts'
import { readPace } from '../pace/read.ts'
import type { Sandbox } from '../sandbox/server.ts'

export type Standing = {
  /** When it was asked; what was committed before is in it. */
  readonly at: number
  /** Calls a second that all processes together may make. */
  readonly ceiling: number
  readonly customers: number
  readonly users: number
  readonly owed: {
    readonly due: number
    readonly queued: number
    readonly active: number
    readonly waiting: number
  }
  /** Changes that capture has seen and nobody has noted yet. */
  readonly outbox: number
  /** Users that have to be looked up before anything is sent. */
  readonly unknown: number
  /** Fields that are not sent because their value cannot be right. */
  readonly leftOut: readonly { readonly field: string; readonly customers: number }[]
  /** Customers whose last call failed, by reason. */
  readonly failing: readonly { readonly why: string; readonly customers: number }[]
}

type Options = { readonly pool: Pool; readonly sandbox: Sandbox; readonly now: () => number }

export async function readStanding({ pool, sandbox, now }: Options): Promise<Standing> {
  const at = now()
  const overview = await readOverview(pool)
  const pace = await readPace(pool)
  const { rows } = await pool.query<{ customers: string }>(
    'SELECT count(*) AS customers FROM public.clientes',
  )
  const { due, queued, active, waiting } = overview.owed
  return {
    at,
    ceiling: pace?.ceiling ?? 0,
    customers: Number(rows[0]?.customers ?? 0),
    users: sandbox.users.size,
    owed: { due, queued, active, waiting },
    outbox: overview.outbox.rows,
    unknown: overview.unknown,
    leftOut: overview.fieldIssues.map(({ field, customers }) => ({ field, customers })),
    failing: overview.reasons
      .filter(({ state }) => state === 'failing')
      .map(({ code, status, customers }) => ({ why: sayWhy(code, status), customers })),
  }
}

function sayWhy(code: string, status: number | null): string {
  if (status !== null) return String(status)
  return code === 'unknown' ? 'no answer' : code
}

export function owedCustomers({ owed }: Standing): number {
  return owed.due + owed.queued + owed.active + owed.waiting
}

/** Every change so far is noted. */
export function isNoted({ outbox }: Standing): boolean {
  return outbox === 0
}

/** Nothing in the outbox, nothing owed, nothing unknown. */
export function isSettled(standing: Standing): boolean {
  return isNoted(standing) && standing.unknown === 0 && owedCustomers(standing) === 0
}
