// Values that a customer's user no longer holds, and the customers that wait for one of them.
import type { Pool } from 'pg'
import type { Config } from '../config/config.ts'
import type { FoundRow, Reading } from '../customers/read.ts'
import { makeBatch } from '../database/batch.ts'
import { ms } from '../database/sql.ts'
import { LOCK_OWED } from '../ledger/note.ts'
import type { LedgerRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import { type CustomerDigests, type Digester, forCustomer, NO_VALUE, UNKNOWN_VALUE } from './digest.ts'
import { type Mapped, mapFound } from './map.ts'
import type { Memory } from './memory.ts'
import { resultOfCalls } from './next-plan.ts'

/** A value that a user held and holds no more: the digests of what was sent, and of what a GET had shown. */
export type Freed = {
  readonly field: OptionalField
  readonly sent: string | null
  readonly seen: string | null
}

type Freeing = {
  readonly record: Pick<LedgerRecord, 'sent' | 'seen' | 'digestKeyId'>
  readonly memory: Memory
  readonly mapped: Mapped
  readonly digests: CustomerDigests
}

/** Digests of the values that writes replaced or cleared: of this claim, or of an earlier one, as a lookup has shown. */
export function freedBy({ record, memory, mapped, digests }: Freeing): Freed[] {
  const { writes, lookups } = resultOfCalls(memory)
  if ((writes !== 'accepted' && lookups === 0) || record.digestKeyId !== digests.keyId) return []
  return OPTIONAL_FIELDS.flatMap((field) => {
    const before = { sent: realDigest(record.sent[field]), seen: realDigest(record.seen[field]) }
    if (before.sent === null && before.seen === null) return []
    return stillHolds(field, before, { memory, mapped, digests }) ? [] : [{ field, ...before }]
  })
}

const NO_DIGESTS: ReadonlySet<string> = new Set([NO_VALUE, UNKNOWN_VALUE])

function realDigest(digest: string | undefined): string | null {
  return digest === undefined || NO_DIGESTS.has(digest) ? null : digest
}

type After = { readonly memory: Memory; readonly mapped: Mapped; readonly digests: CustomerDigests }

function stillHolds(
  field: OptionalField,
  { sent, seen }: Pick<Freed, 'sent' | 'seen'>,
  { memory, mapped, digests }: After,
): boolean {
  if (sent !== null && memory.sent[field] === sent) return true
  if (seen === null) return false
  if (memory.seen[field] === seen) return true
  const value = mapped.kind === 'user' ? mapped.user.fields[field] : undefined
  const isSent = value !== undefined && memory.sent[field] === digests.exact(field, value)
  return isSent && digests.normal(field, value) === seen
}

type Waking = {
  readonly pool: Pool
  readonly config: Config
  readonly digester: Digester
  readonly read: Reading
}

export type FreedOf = { readonly key: CustomerKey; readonly freed: readonly Freed[] }

/**
 * Wakes the customers that wait for a value which another one has given up. A digest is bound to one customer, so each
 * waiting customer's value is digested as the other's. If the process dies before, they wait for their time.
 */
export function makeWakeWaiting({ pool, config, digester, read }: Waking) {
  return makeBatch<FreedOf, null>(async (all) => {
    const fields = new Set(all.flatMap(({ freed }) => freed.map(({ field }) => field)))
    const { rows: waiting } = await pool.query<WaitingCustomer>(WAITING, [[...fields]])
    const { rows } = await read(waiting.map(({ key }) => key))
    const woken = waiting.filter((each) => waitsFor(each, { all, rows, config, digester }))
    if (woken.length > 0) await pool.query(WAKE, [woken.map(({ key }) => key)])
    return all.map(() => null)
  })
}

type Comparing = Pick<Waking, 'config' | 'digester'> & {
  readonly all: readonly FreedOf[]
  readonly rows: ReadonlyMap<CustomerKey, FoundRow>
}

function waitsFor(
  { key, fields, nowMs }: WaitingCustomer,
  { all, rows, config, digester }: Comparing,
): boolean {
  const row = rows.get(key)
  if (row === undefined) return false
  const mapped = mapFound(config, key, row, new Date(nowMs))
  if (mapped.kind !== 'user') return false
  const values = mapped.user.fields
  return all.some(({ key: giver, freed }) => {
    if (giver === key) return false
    const theirs = forCustomer(digester, giver)
    return freed.some(({ field, sent, seen }) => {
      const value = values[field]
      if (value === undefined || value === null || !fields.includes(field)) return false
      return theirs.exact(field, value) === sent || theirs.normal(field, value) === seen
    })
  })
}

type WaitingCustomer = {
  readonly key: CustomerKey
  readonly fields: readonly string[]
  readonly nowMs: number
}

/** The worker reads and compares so many rows at most; all other customers wait for their time. */
const MOST_WAITING = 200

/** Customers that wait for a value of one of these fields. As a rule there are none, and the partial index is empty. */
const WAITING = `
SELECT key, ARRAY(SELECT jsonb_object_keys(conflict->'values')) AS fields,
  ${ms('now()')} AS "nowMs"
FROM rollcall.ledger WHERE conflict IS NOT NULL AND conflict->'values' ?| $1::text[] LIMIT ${MOST_WAITING}`

/**
 * They are planned again now, and send what they wait for. The clock is read under the row's lock: a claim that ends now must
 * see that this came after it had begun.
 */
const WAKE = `
UPDATE rollcall.owed SET replan_at = clock_timestamp()
WHERE key IN (${LOCK_OWED})`
