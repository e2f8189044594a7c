// A house whose customers are settled, and checks as a worker or a command makes it.
import type { Brake } from '../../src/brake/brake.ts'
import { type CheckedBatch, makeChecking } from '../../src/drift/checking.ts'
import type { Checked } from '../../src/drift/words.ts'
import type { CallEntry } from '../../src/ledger/calls.ts'
import type { CustomerKey } from '../../src/model/customer.ts'
import { openSync, type Secrets } from '../../src/worker/open-sync.ts'
import type { House } from '../support/house.ts'
import { lanes, type QueueLane } from '../support/lanes.ts'

/** Which queue the worker has makes no difference to a check. */
export const LANE: QueueLane = lanes.find(({ name }) => name === 'postgres') ?? missing()

function missing(): never {
  throw new Error('there is no lane with a queue in Postgres')
}

export type Verifier = AsyncDisposable & {
  readonly calls: readonly CallEntry[]
  check(keys: readonly CustomerKey[], signal?: AbortSignal): Promise<CheckedBatch>
  /** By key. */
  checkKeys(keys: readonly CustomerKey[]): Promise<Readonly<Record<CustomerKey, Checked>>>
}

type Options = { readonly repair?: boolean; readonly brake?: Brake }

export async function openVerifier(house: House, { repair = false, brake }: Options = {}): Promise<Verifier> {
  const { config } = house
  const { pool, context, readCustomers, close } = await openSync({
    config,
    env: house.env as Secrets,
    onPoolError: () => undefined,
  })
  const calls: CallEntry[] = []
  const log = (entry: CallEntry) => void calls.push(entry)
  const braked = brake ? { ...context, brake } : context
  const { check } = makeChecking({ pool, readCustomers, context: braked, log, repair })
  const never = new AbortController().signal
  return {
    calls,
    check: (keys, signal = never) => check(keys, signal),
    async checkKeys(keys) {
      const { checked } = await check(keys, never)
      return Object.fromEntries(checked.map((each) => [each.key, each]))
    },
    [Symbol.asyncDispose]: close,
  }
}

/** As if the time of every next check had come. */
export async function checksAreDue({ db }: House): Promise<void> {
  await db.sql(
    `UPDATE rollcall.finding SET next_check_at = now() - interval '1 second' WHERE next_check_at IS NOT NULL`,
  )
}

/** A write that capture does not see: as with triggers off. */
export async function behindCapture({ db }: House, sql: string): Promise<void> {
  await db.sql(`SET session_replication_role = replica; ${sql}; SET session_replication_role = origin`)
}

export type StoredFinding = {
  readonly key: CustomerKey
  readonly kind: string
  readonly cause: string
  readonly checks: number
  readonly repairs: number
  readonly how: string | null
}

export async function storedFindings({ db }: House): Promise<readonly StoredFinding[]> {
  const { rows } = await db.sql<StoredFinding>(
    'SELECT key, kind, cause, checks, repairs, resolved_how AS how FROM rollcall.finding ORDER BY key, id',
  )
  return rows
}
