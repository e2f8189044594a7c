// Stores what looks have shown: in one transaction, and only of those for whom nothing has moved since they were read.
import type { ClientBase, Pool } from 'pg'
import { inTransaction } from '../brake/transaction.ts'
import { retried, UNIQUE_VIOLATION } from '../ledger/batch.ts'
import { CURRENT_FINGERPRINT, HOLD_GENERATION } from '../ledger/generation.ts'
import { noteToLook } from '../ledger/note.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Open, stepFor } from './findings.ts'
import { countVerified } from './halt.ts'
import { type Lag, postponedMs } from './looks.ts'
import { writeRecords } from './record.ts'
import { letterOf, mayRepair, repairFor } from './repairs.ts'
import { lockOpen, writeFindings } from './rows.ts'
import type { Share } from './share.ts'
import { type Given, LEFT, type Stepped, type Stored, writesOf } from './writes.ts'

export type StoreOptions = Lag & {
  readonly fingerprint: string
  readonly repair: boolean
  /** Whether these looks count in the share of those verified last. */
  readonly counts: boolean
  readonly maxShare: number
  /** The run or round that looks; null: none that is judged. */
  readonly by: string | null
  /** These are looked at once more, and not because their turn in a round has come. */
  readonly again: boolean
}

/** A sync that is under way holds its row for a moment only. */
const LOCK_MS = 2000

/**
 * The guard of the protocol: the same version, nothing owed and no token, with the row locked; and syncs still go by
 * the mapping that the customers were compared by. Of a customer without a work row there is nothing to lock.
 */
const STILL = `
WITH ${HOLD_GENERATION},
asked AS MATERIALIZED (SELECT * FROM unnest($1::text[], $2::bigint[]) AS a (key, version)),
locked AS MATERIALIZED (
  SELECT o.key, o.change_version, o.token IS NULL AND o.due_at IS NULL AND NOT o.unknown AS quiet
  FROM rollcall.owed o WHERE o.key = ANY($1) ORDER BY o.key FOR UPDATE OF o)
SELECT a.key FROM asked a LEFT JOIN locked l ON l.key = a.key COLLATE "C"
WHERE ${CURRENT_FINGERPRINT} = $3
  AND CASE WHEN a.version IS NULL THEN l.key IS NULL ELSE l.quiet AND l.change_version = a.version END`

const LOCK_NOT_AVAILABLE = '55P03'

/** Where others are at the same customers, or hold their rows for too long, nothing is said of any of them. */
export async function storeLooks(
  pool: Pool,
  given: readonly Given[],
  options: StoreOptions,
): Promise<readonly Stored[]> {
  try {
    return await retried(() => storeAtOnce(pool, given, options))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== LOCK_NOT_AVAILABLE && code !== UNIQUE_VIOLATION) throw error
    return given.map(({ looked }) => ({ ...LEFT, moved: looked.kind === 'seen' }))
  }
}

async function storeAtOnce(
  pool: Pool,
  given: readonly Given[],
  options: StoreOptions,
): Promise<readonly Stored[]> {
  return await inTransaction(pool, LOCK_MS, async (client) => {
    const still = await stillAsRead(client, given, options.fingerprint)
    const opens = await lockOpen(
      client,
      given.map(({ subject }) => subject.key),
    )
    const stepped = given.map((each) =>
      stepOf(each, opens.get(each.subject.key) ?? null, { still, lag: options }),
    )
    const share = await shareAfter(client, stepped, options)
    const decided = stepped.map((each) => {
      const repair = options.repair ? repairFor(each, { ...options, share }) : 'none'
      return writesOf({ ...each, repair }, options)
    })
    const made = await writeFindings(client, {
      forget: decided.flatMap(({ forget }) => forget ?? []),
      postpone: decided.flatMap(({ postpone }) => postpone ?? []),
      postponeMs: postponedMs(options),
      resolve: decided.flatMap(({ resolve }) => resolve ?? []),
      change: decided.flatMap(({ change }) => change ?? []),
      insert: decided.flatMap(({ insert }) => insert ?? []),
      by: options.by,
    })
    await writeRecords(
      client,
      decided.flatMap(({ record }) => record ?? []),
    )
    const repairs = decided.flatMap(({ stored }, at) =>
      stored.repairing ? (given[at]?.subject.key ?? []) : [],
    )
    await noteToLook(client, repairs)
    return decided.map(({ stored, insert }) =>
      insert ? { ...stored, findingId: made.get(insert.key) ?? null } : stored,
    )
  })
}

type Stepping = { readonly still: ReadonlySet<CustomerKey>; readonly lag: Lag }

function stepOf(given: Given, open: Open | null, { still, lag }: Stepping): Stepped {
  const { looked, subject } = given
  const moved = looked.kind === 'seen' && !still.has(subject.key)
  return { ...given, open, moved, step: stepFor(open, moved ? { kind: 'left', why: 'moved' } : looked, lag) }
}

/** Null where nobody is counted, and the share decides nothing. */
async function shareAfter(
  client: Pick<ClientBase, 'query'>,
  stepped: readonly Stepped[],
  { repair, counts, maxShare, ...looker }: StoreOptions,
): Promise<Share | null> {
  const letters = counts ? stepped.map((each) => letterOf(each, looker)).join('') : ''
  const asked = letters !== '' || (repair && stepped.some((each) => mayRepair(each)))
  return asked ? await countVerified(client, letters, maxShare) : null
}

async function stillAsRead(
  client: Pick<ClientBase, 'query'>,
  given: readonly Given[],
  fingerprint: string,
): Promise<ReadonlySet<CustomerKey>> {
  const seen = given.filter(({ looked }) => looked.kind === 'seen').map(({ subject }) => subject)
  if (seen.length === 0) return new Set()
  const { rows } = await client.query<{ key: CustomerKey }>(STILL, [
    seen.map(({ key }) => key),
    seen.map(({ work }) => work.version),
    fingerprint,
  ])
  return new Set(rows.map(({ key }) => key))
}
