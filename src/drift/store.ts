// Stores what looks have shown: in one transaction, and only of those for whom nothing has moved since they were read.
import type { Pool } from 'pg'
import { inTransaction } from '../brake/transaction.ts'
import { retried, UNIQUE_VIOLATION } from '../ledger/batch.ts'
import { type Check, endChecks } from '../ledger/check.ts'
import type { CustomerKey } from '../model/customer.ts'
import { isDoubted, isStrange, readEvidence } from './evidence.ts'
import { type Open, type Step, stepFor } from './findings.ts'
import { type Lag, postponedMs } from './looks.ts'
import { writeRecords } from './record.ts'
import { lockOpen, writeFindings } from './rows.ts'
import { DOUBTED_MS, type Given, LEFT, type Stepped, type Stored, writesOf } from './writes.ts'

export type StoreOptions = Lag & {
  readonly fingerprint: string
  /** Workers mend what is found, and have to look for it. */
  readonly mendsLater: boolean
}

/** A sync that is under way holds its row for a moment only. */
const LOCK_MS = 2000

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
    const still = await endChecks(client, given.flatMap(checkOf), options.fingerprint)
    const opens = await lockOpen(
      client,
      given.map(({ subject }) => subject.key),
    )
    const stepped = given.map((each) =>
      stepOf(each, opens.get(each.subject.key) ?? null, { still, lag: options }),
    )
    const doubted =
      stepped.some(isConfirmedStrange) && isDoubted(await readEvidence(client, shownBy(stepped)))
    const decided = stepped.map((each) =>
      writesOf(doubted && isConfirmedStrange(each) ? { ...each, step: DOUBTED } : each, options),
    )
    const made = await writeFindings(client, {
      forget: decided.flatMap(({ forget }) => forget ?? []),
      postpone: decided.flatMap(({ postpone }) => postpone ?? []),
      postponeMs: postponedMs(options),
      doubt: decided.flatMap(({ doubt }) => doubt ?? []),
      doubtMs: DOUBTED_MS,
      resolve: decided.flatMap(({ resolve }) => resolve ?? []),
      change: decided.flatMap(({ change }) => change ?? []),
      insert: decided.flatMap(({ insert }) => insert ?? []),
    })
    await writeRecords(
      client,
      decided.flatMap(({ record }) => record ?? []),
    )
    return decided.map(({ stored, insert }) =>
      insert ? { ...stored, findingId: made.get(insert.key) ?? null } : stored,
    )
  })
}

function shownBy(stepped: readonly Stepped[]) {
  const seen = stepped.flatMap(({ looked, moved, subject: { key } }) =>
    looked.kind === 'seen' && !moved ? [{ key, strange: isStrange(looked.compared) }] : [],
  )
  const keysOf = (which: boolean) => seen.flatMap(({ key, strange }) => (strange === which ? [key] : []))
  return { fine: keysOf(false), strange: keysOf(true) }
}

/** It stays a suspicion, and is looked at again before long. */
const DOUBTED: Step = { do: 'doubt' }

function isConfirmedStrange({ step }: Stepped): boolean {
  return (step.do === 'confirm' || step.do === 'keep') && isStrange(step.told)
}

type Stepping = { readonly still: ReadonlySet<CustomerKey>; readonly lag: Lag }

function stepOf(given: Given, open: Open | null, { still, lag }: Stepping): Stepped {
  const { looked, subject } = given
  const moved = looked.kind === 'seen' && !still.has(subject.key)
  return { ...given, open, moved, step: stepFor(open, moved ? { kind: 'left', why: 'moved' } : looked, lag) }
}

function checkOf({ subject: { key }, token }: Given): readonly Check[] {
  return token === null ? [] : [{ key, token }]
}
