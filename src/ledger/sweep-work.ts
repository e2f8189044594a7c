// The questions of sweeps and checks to the tables, for many customers at once.
import { type Client, keysBy, oneRow } from '../database/client.ts'
import { ms } from '../database/sql.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Claim } from './claim.ts'
import { type KnownRecord, NO_RECORD, RECORD } from './record.ts'

export type Work = Pick<Claim, 'unknown' | 'hiddenUnknown' | 'statusUnknown'> & {
  readonly key: CustomerKey
  /** Its record is more than the blank one of a customer that waits for its first sync. */
  readonly known: boolean
  readonly record: KnownRecord
  readonly owed: boolean
  /** A claim of a sync was made that has not ended. */
  readonly claimed: boolean
  readonly replanAtMs: number | null
  readonly id: string | null
  /** Rises with each note; null: never noted. */
  readonly version: string | null
  /** An outcome was unknown, and the lookups that follow it are not over. */
  readonly unverified: boolean
  /** The mapping that the last ending went by; null: none has ended. */
  readonly generation: string | null
}

/** The database's time, by which mappings go, in milliseconds since 1970. */
const NOW_MS = ms('now()')

/** In one statement, and so of one moment: read apart, a settle between the two would show half of itself. */
const WORK = `
SELECT k.key, l.key IS NOT NULL AND NOT (l.blank AND o.due_at IS NOT NULL) AS known, l.record,
  o.id::text, o.change_version::text AS version, l.generation::text,
  coalesce(o.verify_left > 0, false) AS unverified,
  o.due_at IS NOT NULL AS owed, o.call_token IS NOT NULL AND o.due_at IS NOT NULL AS claimed,
  coalesce(o.unknown, false) AS unknown, coalesce(o.hidden_unknown, false) AS "hiddenUnknown",
  coalesce(o.status_unknown, false) AS "statusUnknown",
  ${ms('o.replan_at')} AS "replanAtMs",
  ${NOW_MS} AS "nowMs"
FROM unnest($1::text[]) AS k (key)
LEFT JOIN (SELECT * FROM rollcall.owed WHERE key = ANY($1)) o ON o.key = k.key COLLATE "C"
LEFT JOIN (SELECT l.key, l.generation, to_jsonb(c) AS record,
    l.generation IS NULL AND l.remote = 'unasked' AND l.state = 'idle' AS blank
  FROM rollcall.ledger l, LATERAL (SELECT ${RECORD}) c
  WHERE l.key = ANY($1)) l ON l.key = k.key COLLATE "C"`

type WorkNow = { readonly work: readonly Work[]; readonly nowMs: number }
type WorkRow = Omit<Work, 'record'> & { readonly record: KnownRecord | null; readonly nowMs: number }

/** All customers that are asked about, and the database's time at which it was so, in milliseconds since 1970. */
export async function readWork(client: Client, keys: readonly CustomerKey[]): Promise<WorkNow> {
  const { rows } = await client.query<WorkRow>(WORK, [keys])
  const work = rows.map(({ nowMs: _, record, ...rest }) => ({ ...rest, record: record ?? NO_RECORD }))
  return { work, nowMs: rows[0]?.nowMs ?? Number.NaN }
}

/** As `readWork` where nothing is recorded of any customer. */
export async function emptyWork(client: Client, keys: readonly CustomerKey[]): Promise<WorkNow> {
  const { nowMs } = await oneRow<{ nowMs: number }>(client, `SELECT ${NOW_MS} AS "nowMs"`)
  return { work: keys.map((key) => ({ key, ...OF_NONE })), nowMs }
}

const OF_NONE: Omit<Work, 'key'> = {
  ...{ known: false, owed: false, claimed: false, unknown: false, hiddenUnknown: false },
  ...{ statusUnknown: false, unverified: false, record: NO_RECORD },
  ...{ replanAtMs: null, id: null, version: null, generation: null },
}

/** The keys with a captured change that is not noted yet. */
export async function capturedOf(
  client: Client,
  keys: readonly CustomerKey[],
): Promise<ReadonlySet<CustomerKey>> {
  if (keys.length === 0) return new Set()
  return new Set(await keysBy(client, 'SELECT DISTINCT key FROM rollcall.outbox WHERE key = ANY($1)', [keys]))
}

const CHANGED = `
SELECT key FROM rollcall.owed WHERE key = ANY($1) AND changed_at >= $2
UNION SELECT key FROM rollcall.ledger WHERE key = ANY($1) AND changed_at >= $2
UNION SELECT key FROM rollcall.outbox WHERE key = ANY($1) AND at >= $2
UNION SELECT unnest($1::text[]) WHERE EXISTS (SELECT FROM rollcall.capture_mark WHERE kind = 'truncate' AND at >= $2)`

/** The keys with a change captured since then (ISO 8601), whether it is noted or settled by now or not. A TRUNCATE is one of all. */
export async function changedSince(
  client: Client,
  keys: readonly CustomerKey[],
  since: string,
): Promise<ReadonlySet<CustomerKey>> {
  if (keys.length === 0) return new Set()
  return new Set(await keysBy(client, CHANGED, [keys, since]))
}

/** Keys of the ledger in their order, beginning after one of them. */
export async function ledgerKeys(
  client: Client,
  after: CustomerKey | null,
  limit: number,
): Promise<readonly CustomerKey[]> {
  const page = 'SELECT key FROM rollcall.ledger WHERE $1::text IS NULL OR key > $1 ORDER BY key LIMIT $2'
  return await keysBy(client, page, [after, limit])
}
