import type { Pool } from 'pg'
import { makeBatch } from '../database/batch.ts'
import { ms } from '../database/sql.ts'
import type { CustomerKey, FieldIssue } from '../model/customer.ts'
import type { OptionalField } from '../model/user.ts'
import { OPEN_RELEASE } from './decided.ts'
import type { Reason } from './reason.ts'
import type { ledger } from './schema.ts'

/**
 * Whether the service has the user. `unknown`: a call may have changed it. `unasked`: no call has shown it, and none can have
 * changed it. A create may then assume that the user is absent, since its answer tells. A removal may not: another system may
 * have registered the user.
 */
export type RemoteState = 'unasked' | 'unknown' | 'absent' | 'present'
/**
 * `failing`: it will be retried; `rejected`: a person has to change something; `held`: the change waits for a person; `discarded`: a
 * person decided that it is not sent, and the difference stays until the customer changes; `idle`: none of these.
 */
export type CustomerState = 'idle' | 'rejected' | 'failing' | 'held' | 'discarded'

/** Whether the personal fields of a customer whose row is gone were cleared: acknowledged, or looked up since as well. */
export type Erased = 'sent' | 'verified'

/** Digests by field; see sync/digest.ts. */
export type Digests = Readonly<Partial<Record<OptionalField, string>>>

/**
 * Values that the service does not take because another user has them. They are sent again at `owed.replan_at`, and wait
 * the longer the more often they were refused; see sync/conflict.ts.
 */
export type Conflict = { readonly values: Digests; readonly tries: number }

/**
 * A change that a person has decided not to send: the kinds of change, the fields of a repair among them, and the desired
 * user, as a digest of the same key as the record's. It is kept beside the state, which may tell of another trouble.
 */
export type Discard = {
  readonly kinds: readonly string[]
  readonly fields?: readonly string[]
  readonly desired: string | null
}

/** The ledger's row of a customer without its times: what was last surely known of its user at the service. */
export type LedgerRecord = {
  readonly userId: string | null
  readonly remote: RemoteState
  /** The status that was last acknowledged, or that a GET showed as desired. */
  readonly sentStatus: number | null
  /** The status that the last GET has shown since that acknowledgement. Null: no GET was made since. */
  readonly seenStatus: number | null
  /** Exact digests of acknowledged values. */
  readonly sent: Digests
  /** Digests of the normal forms that the last GET has shown, but for fields written since. */
  readonly seen: Digests
  readonly refused: Digests
  readonly conflict: Conflict | null
  /**
   * Whether the personal fields were cleared, because the row is gone. Null: not erased, or the row has come back. Else no
   * digest is kept: `sent` marks the fields that were cleared a second time, `refused` those that the service refused to clear.
   */
  readonly erased: Erased | null
  /** The user was there, and an absence has not been accepted since; null: as `remote` says. */
  readonly existed: boolean | null
  /**
   * By field: the digest of an acknowledged value, the digest of the other form in which the service showed it, and how
   * often it came back again. Each time the value had been acknowledged once more. See sync/remember.ts.
   */
  readonly observedForms: Readonly<
    Partial<Record<OptionalField, readonly [exact: string, form: string, times: number]>>
  >
  readonly digestKeyId: string | null
  readonly state: CustomerState
  readonly reason: Reason | null
  readonly discard: Discard | null
  readonly issues: readonly FieldIssue[]
}

/**
 * A GET may not show the last write yet. A database whose clock was set back tells a negative age: one far below zero is
 * old, and not young for ever.
 */
export function isJustWritten({ writtenAgoMs }: Pick<KnownRecord, 'writtenAgoMs'>, lagMs: number): boolean {
  return writtenAgoMs !== null && Math.abs(writtenAgoMs) < lagMs
}

/** A record as read, with how long ago the service last acknowledged a write, by the database's clock. */
export type KnownRecord = LedgerRecord & {
  readonly writtenAgoMs: number | null
  /** How long ago a GET last showed all that was desired. */
  readonly verifiedAgoMs: number | null
  /** Digest of all that the mapping made of the customer, as of the last ending. */
  readonly desiredDigest: string | null
  /** No claim has ended for it yet. */
  readonly isNew: boolean
  /** Has been up to date once, be it without a call. */
  readonly settled: boolean
  /** Held, and a person has released all of it: it waits for no person. */
  readonly released: boolean
}

/** A customer without an ending. */
export const NO_RECORD: KnownRecord = {
  userId: null,
  remote: 'unasked',
  sentStatus: null,
  seenStatus: null,
  sent: {},
  seen: {},
  refused: {},
  conflict: null,
  erased: null,
  existed: null,
  observedForms: {},
  digestKeyId: null,
  state: 'idle',
  reason: null,
  discard: null,
  issues: [],
  writtenAgoMs: null,
  verifiedAgoMs: null,
  desiredDigest: null,
  isNew: true,
  settled: false,
  released: false,
}

type RecordColumns = {
  readonly [K in keyof LedgerRecord]: readonly [(typeof ledger)[K]['_']['name'], string]
}

/**
 * Column and type of each part of a record, as the table has them. They are written again here because drizzle-orm takes
 * longer to load than the rest of a command; test/ledger/record.test.ts compares.
 */
export const COLUMNS: RecordColumns = {
  userId: ['user_id', 'text'],
  remote: ['remote', 'text'],
  existed: ['existed', 'boolean'],
  sentStatus: ['sent_status', 'smallint'],
  seenStatus: ['seen_status', 'smallint'],
  sent: ['sent', 'jsonb'],
  seen: ['seen', 'jsonb'],
  refused: ['refused', 'jsonb'],
  conflict: ['conflict', 'jsonb'],
  digestKeyId: ['digest_key', 'text'],
  erased: ['erased', 'text'],
  observedForms: ['observed_forms', 'jsonb'],
  state: ['state', 'text'],
  reason: ['reason', 'jsonb'],
  discard: ['discard', 'jsonb'],
  issues: ['issues', 'jsonb'],
}

const PARTS = Object.keys(COLUMNS) as readonly (keyof LedgerRecord)[]

type Piece = (name: string, column: string, type: string) => string

/** A list for a statement, of each part its name, its column, or both. */
export function listParts(piece: Piece, parts = PARTS): string {
  return parts.map((part) => piece(part, COLUMNS[part][0], COLUMNS[part][1])).join(', ')
}

export const RECORD_COLUMNS = listParts((_, column) => column)
/** For jsonb that is read as a record. */
export const RECORD_PARTS = listParts((name, _, type) => `"${name}" ${type}`)

const AGES = `
  ${ms('clock_timestamp() - verified_at')} AS "verifiedAgoMs",
  ${ms('clock_timestamp() - acknowledged_at')} AS "writtenAgoMs"`

/** The columns of a KnownRecord, over `l`, for every statement that reads one. */
export const RECORD = `${listParts((name, column) => `${column} AS "${name}"`)},
  generation IS NULL AS "isNew", settled_at IS NOT NULL AS settled, desired AS "desiredDigest",
  state = 'held' AND ${OPEN_RELEASE} AS released, ${AGES}`

const READ = `SELECT key, ${RECORD} FROM rollcall.ledger l WHERE key = ANY($1)`

export function makeReadRecord(pool: Pool): (key: CustomerKey) => Promise<KnownRecord> {
  return makeBatch<CustomerKey, KnownRecord>(async (keys) => {
    const { rows } = await pool.query<KnownRecord & { key: CustomerKey }>(READ, [keys])
    const records = new Map(rows.map(({ key, ...record }) => [key, record]))
    return keys.map((key) => records.get(key) ?? NO_RECORD)
  })
}

export type UserRecord = Pick<KnownRecord, 'remote' | 'state' | 'writtenAgoMs' | 'verifiedAgoMs'> & {
  readonly key: CustomerKey
}

/** The records `l` of a user by their index. A join with a table that was never analyzed reads the whole of it. */
export const recordsOf = (user: string) =>
  `LATERAL (SELECT * FROM rollcall.ledger WHERE user_id = ${user} OFFSET 0) l`

const USER_RECORDS = `
SELECT user_id AS "userId", key, remote, state, ${AGES} FROM unnest($1::text[]) AS e (wanted), ${recordsOf('wanted')}`

/** For each `user_id` every customer with a record under it. */
export async function readUserRecords(
  client: Pick<Pool, 'query'>,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, readonly UserRecord[]>> {
  const { rows } = await client.query<UserRecord & { userId: string }>(USER_RECORDS, [[...new Set(userIds)]])
  return Map.groupBy(rows, (row) => row.userId)
}

/** A customer's record, and whose it is. */
export type CustomerRecord = {
  readonly key: CustomerKey
  readonly record: KnownRecord
  /** Status 0 may be the work of a call. */
  readonly statusUnknown: boolean
}

const OF_USER = `
SELECT key, ${RECORD},
  coalesce((SELECT o.status_unknown FROM rollcall.owed o WHERE o.key = l.key COLLATE "C"), false) AS "statusUnknown"
FROM unnest($1::text[]) AS e (wanted), ${recordsOf('wanted')}`

/** The records of all customers with one under this `user_id`. */
export function makeReadRecordsOf(pool: Pool): (userId: string) => Promise<readonly CustomerRecord[]> {
  return makeBatch<string, readonly CustomerRecord[]>(async (userIds) => {
    const { rows } = await pool.query<KnownRecord & Omit<CustomerRecord, 'record'>>(OF_USER, [
      [...new Set(userIds)],
    ])
    const kept = rows.map(({ key, statusUnknown, ...record }) => ({ key, statusUnknown, record }))
    return userIds.map((userId) => kept.filter(({ record }) => record.userId === userId))
  })
}

/** Whether the user existed when that was last known, and its absence has not been accepted since. */
export function existedBefore({ existed: noted, remote }: Pick<LedgerRecord, 'existed' | 'remote'>): boolean {
  return noted ?? remote === 'present'
}
