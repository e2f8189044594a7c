// Where everything stands, asked of Postgres and of the sandbox.
import type { Pool } from 'pg'
import { readOverview } from '../ledger/overview.ts'
import type { Sandbox } from '../sandbox/server.ts'

export type Standing = {
  /** When it was asked; what was committed before is in it. */
  readonly at: number
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
  /** Customers whose last call failed, by reason. */
  readonly failing: readonly { readonly why: string; readonly customers: number }[]
}

type Options = { readonly pool: Pool; readonly sandbox: Sandbox; readonly now: () => number }

export async function readStanding({ pool, sandbox, now }: Options): Promise<Standing> {
  const at = now()
  const overview = await readOverview(pool)
  const { rows } = await pool.query<{ customers: string }>('SELECT count(*) AS customers FROM clientes')
  const { due, queued, active, waiting } = overview.owed
  return {
    at,
    customers: Number(rows[0]?.customers ?? 0),
    users: sandbox.users.size,
    owed: { due, queued, active, waiting },
    outbox: overview.outbox.rows,
    unknown: overview.unknown,
    failing: overview.reasons
      .filter(({ state }) => state === 'failing')
      .map(({ code, status, customers }) => ({ why: status === null ? code : String(status), customers })),
  }
}

export function owedCustomers({ owed }: Standing): number {
  return owed.due + owed.queued + owed.active + owed.waiting
}

/** Nothing in the outbox, nothing owed, nothing unknown. */
export function isSettled(standing: Standing): boolean {
  return standing.outbox === 0 && standing.unknown === 0 && owedCustomers(standing) === 0
}
