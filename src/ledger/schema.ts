// Every table that rollcall owns, all in the schema `rollcall`. The protocol (docs/protocol.md) says what the
// columns of `owed` mean together; the statements beside this file are the only ones that write them.
import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  check,
  customType,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  smallint,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'

export const rollcall = pgSchema('rollcall')

/** Keys compare byte by byte, so that every process sorts, and therefore locks, in the same order. */
const key = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })
const at = (name: string) => timestamp(name, { withTimezone: true })
const version = (name: string) => bigint(name, { mode: 'bigint' })

/** Single-use tokens of leases. */
export const token = rollcall.sequence('token')

/** Changes that capture has seen and nobody has noted yet. The triggers append; the worker deletes. */
export const outbox = rollcall.table('outbox', {
  id: bigserial('id', { mode: 'bigint' }).primaryKey(),
  key: key('key').notNull(),
  lane: smallint('lane').notNull(),
  at: at('at').notNull().default(sql`clock_timestamp()`),
})

/** What capture cannot express as keys: a TRUNCATE, an outbox that was full. Open until `resolved_at` is set. */
export const captureMark = rollcall.table(
  'capture_mark',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    kind: text('kind').notNull(),
    relation: text('relation').notNull(),
    at: at('at').notNull().default(sql`clock_timestamp()`),
    /** Closed: the triggers may write the next one. */
    resolvedAt: at('resolved_at'),
    /** Transactions before this one may still have trusted the mark; the resync waits for their end. */
    resyncAfter: text('resync_after'),
    resyncedAt: at('resynced_at'),
  },
  (t) => [check('capture_mark_kind', sql`${t.kind} IN ('truncate', 'overflow')`)],
)

/** Work: one narrow row per customer, never deleted, because versions must not start again. */
export const owed = rollcall.table(
  'owed',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    key: key('key').notNull().unique(),
    changeVersion: version('change_version').notNull(),
    syncedVersion: version('synced_version').notNull().default(sql`0`),
    suspectVersion: version('suspect_version').notNull().default(sql`0`),
    unknown: boolean('unknown').notNull().default(false),
    /** A crash hides what the last call carried: what a GET cannot show counts as never acknowledged. */
    blind: boolean('blind').notNull().default(false),
    /** A write that ends a trial, or another customer's, may have landed: status 0 seen now is no ended trial. */
    statusDoubted: boolean('status_doubted').notNull().default(false),
    /** Looks still to come after an outcome that was unknown, and when the next of them is. */
    verifyLeft: smallint('verify_left').notNull().default(0),
    verifyAt: at('verify_at'),
    lane: smallint('lane').notNull(),
    dueAt: at('due_at'),
    notBefore: at('not_before'),
    replanAt: at('replan_at'),
    token: bigint('token', { mode: 'bigint' }),
    callToken: bigint('call_token', { mode: 'bigint' }),
    /** Calls in a row that settled nothing. */
    attempts: integer('attempts').notNull().default(0),
    /** The oldest change that is not settled. */
    changedAt: at('changed_at'),
  },
  (t) => [
    index('owed_due').on(t.lane, t.dueAt).where(sql`${t.dueAt} IS NOT NULL`),
    index('owed_out').on(t.dueAt).where(sql`${t.token} IS NOT NULL`),
    index('owed_replan').on(t.replanAt).where(sql`${t.replanAt} IS NOT NULL`),
    index('owed_verify').on(t.verifyAt).where(sql`${t.verifyAt} IS NOT NULL`),
  ],
)

/** Record: what is known of each customer at the service. No field value stands here, only keyed digests. */
export const ledger = rollcall.table(
  'ledger',
  {
    key: key('key').primaryKey(),
    userId: text('user_id'),
    remote: text('remote').notNull().default('unasked'),
    sentStatus: smallint('sent_status'),
    seenStatus: smallint('seen_status'),
    /** Digest of what was last acknowledged, by field. */
    sent: jsonb('sent').$type<Record<string, string>>().notNull().default({}),
    /** Digest of the normal form that a GET last showed, by field. */
    seen: jsonb('seen').$type<Record<string, string>>().notNull().default({}),
    /** Digest of a value that the service refused, by field; not sent again until it changes. */
    refused: jsonb('refused').$type<Record<string, string>>().notNull().default({}),
    /** Key id and normal-form version of the digests above. */
    digestKey: text('digest_key'),
    state: text('state').notNull().default('idle'),
    /** Since when it is in this state for this reason. */
    since: at('since'),
    /** Why, in codes and field names. */
    reason: jsonb('reason'),
    issues: jsonb('issues').notNull().default([]),
    lastAnswer: jsonb('last_answer'),
    /** Digest of the desired user at the last ending, for the sweep. */
    desired: text('desired'),
    generation: bigint('generation', { mode: 'bigint' }),
    /** The proof: when the change was made that was settled last, when the service acknowledged a write, when a GET
     * showed all of it. */
    changedAt: at('changed_at'),
    acknowledgedAt: at('acknowledged_at'),
    /** Written by workers of 0.1.0 before this column moved to `owed`; they may still run while we migrate. */
    verifyAt: at('verify_at'),
    verifiedAt: at('verified_at'),
    /** Its personal fields were erased at the service: acknowledged, or seen by a GET as well; null: not erased. */
    erased: text('erased'),
    /** The user was there, and an absence has not passed the brake since. */
    wasThere: boolean('was_there'),
  },
  (t) => [
    check('ledger_erased', sql`${t.erased} IN ('sent', 'verified')`),
    index('ledger_user_id').on(t.userId),
    index('ledger_state').on(t.state).where(sql`${t.state} <> 'idle'`),
    check('ledger_remote', sql`${t.remote} IN ('unasked', 'unknown', 'absent', 'present')`),
    check('ledger_state_known', sql`${t.state} IN ('idle', 'rejected', 'failing', 'held', 'discarded')`),
  ],
)

/** One row: the pace of all processes together. */
export const pace = rollcall.table(
  'pace',
  {
    id: smallint('id').primaryKey().default(1),
    /** The most that may be made in a second; the rate moves below it. */
    ceiling: doublePrecision('ceiling').notNull(),
    /** The ceiling that a configuration last asked for; one that was set by hand stands until that changes. */
    configured: doublePrecision('configured'),
    rate: doublePrecision('rate').notNull(),
    /** When the rate was last raised. */
    raisedAt: at('raised_at').notNull().default(sql`now()`),
    /** When the next permit becomes free. */
    nextFree: at('next_free').notNull().default(sql`now()`),
    /** No call before this: the service said so (Retry-After). */
    notBefore: at('not_before'),
    /** Counts how often the rate was lowered: a call that was begun before the last time says nothing new. */
    epoch: bigint('epoch', { mode: 'bigint' }).notNull().default(sql`0`),
    /** `open`: nobody calls, but for a probe; `trying`: calls are made again, and few failures are enough to open. */
    breaker: text('breaker').notNull().default('closed'),
    /** Why it opened: `outage`, for everybody; `credentials`, for those processes that have these. */
    cause: text('cause'),
    /** Keyed digests of the credentials that were refused, with a space between them. */
    credentials: text('credentials'),
    openedAt: at('opened_at'),
    /** When the next probe is due, and until when the process that makes it is waited for. */
    probeAt: at('probe_at'),
    probeUntil: at('probe_until'),
    /** What the breaker counts; see pace/breaker.ts. Row ids and numbers only. */
    trouble: jsonb('trouble').notNull().default({}),
  },
  (t) => [
    check('pace_one_row', sql`${t.id} = 1`),
    // NaN is above infinity.
    check(
      'pace_rate',
      sql`${t.rate} > 0 AND ${t.rate} < 'Infinity' AND ${t.ceiling} > 0 AND ${t.ceiling} < 'Infinity'`,
    ),
    check('pace_breaker', sql`${t.breaker} IN ('closed', 'open', 'trying')`),
  ],
)

/** Of versions before the brake, whose workers may still run while we migrate. */
export const revocation = rollcall.table(
  'revocation',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    key: key('key').notNull(),
    version: version('version').notNull(),
    at: at('at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [index('revocation_at').on(t.at)],
)

/**
 * One row for each kind of change that a mass of which would be an accident. Every reservation locks it, so that many
 * workers cannot all read "one below the limit".
 */
export const brake = rollcall.table('brake', {
  kind: text('kind').primaryKey(),
  /** Customers let through within the window: the rows of `brake_entry`. */
  taken: integer('taken').notNull().default(0),
  /** Of how many a share is the limit, and when they were counted. */
  base: bigint('base', { mode: 'bigint' }),
  basedAt: at('based_at'),
  /** Since when everything of this kind waits for a person. */
  trippedAt: at('tripped_at'),
  /** The limit that it met then. */
  trippedAtLimit: integer('tripped_at_limit'),
})

/** Who was let through under a kind, once in the window; whoever a person has released is not counted. */
export const brakeEntry = rollcall.table(
  'brake_entry',
  {
    kind: text('kind').notNull(),
    key: key('key').notNull(),
    at: at('at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [primaryKey({ columns: [t.kind, t.key] }), index('brake_entry_at').on(t.kind, t.at)],
)

/** What people decided about customers who were held: who, when, why. */
export const decision = rollcall.table(
  'decision',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    action: text('action').notNull(),
    /** The kind that was decided on as a whole; null: single customers. */
    kind: text('kind'),
    customers: integer('customers').notNull().default(0),
    by: text('by').notNull(),
    why: text('why').notNull(),
    at: at('at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [check('decision_action', sql`${t.action} IN ('release', 'discard')`)],
)

/** A customer that a decision was about. A release holds for what the mapping made of it then, until a claim settles. */
export const decided = rollcall.table(
  'decided',
  {
    decision: bigint('decision', { mode: 'bigint' }).notNull(),
    key: key('key').notNull(),
    /** Digest of the desired user that was held, and for which kinds it was. */
    desired: text('desired'),
    kinds: jsonb('kinds').$type<readonly string[]>().notNull().default([]),
    /** A release that a claim has settled, or that no longer fits. */
    spentAt: at('spent_at'),
  },
  (t) => [
    primaryKey({ columns: [t.decision, t.key] }),
    index('decided_open').on(t.key).where(sql`${t.spentAt} IS NULL`),
  ],
)

/** Whose personal fields were erased at the service, when, and what a look after it still showed. Names of fields only. */
export const erasure = rollcall.table(
  'erasure',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    key: key('key').notNull(),
    userId: text('user_id').notNull(),
    /** The fields that the call cleared. */
    fields: text('fields').array().notNull(),
    /** When the service acknowledged it. */
    erasedAt: at('erased_at').notNull(),
    /** When a GET was made that could be believed; null: not verified yet. */
    verifiedAt: at('verified_at'),
    /** Fields that it still showed. */
    left: text('left_fields').array(),
  },
  (t) => [index('erasure_key').on(t.key, t.id)],
)

/**
 * The mapping and configuration that syncs go by: the row with the highest id. A process whose own has another
 * fingerprint sends nothing.
 */
export const generation = rollcall.table('generation', {
  id: bigint('id', { mode: 'bigint' }).primaryKey(),
  fingerprint: text('fingerprint').notNull(),
  appliedAt: at('applied_at').notNull().default(sql`clock_timestamp()`),
  /** When everybody who differs under it had been noted; until then a worker that goes by it sees to that. */
  sweptAt: at('swept_at'),
})

/** Every call to the service: who, when, what became of it; names of fields, never a value. Pruned by age. */
export const call = rollcall.table(
  'call',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    key: key('key').notNull(),
    at: at('at').notNull(),
    /** The process: what it is, host and pid. */
    by: text('by').notNull(),
    plan: text('plan').notNull(),
    method: text('method').notNull(),
    status: smallint('status'),
    error: text('error'),
    meaning: text('meaning').notNull(),
    ms: integer('ms').notNull(),
    fields: text('fields').array().notNull(),
    /** Fingerprint of the answer; see the table `answer`. */
    answer: text('answer').notNull(),
  },
  (t) => [index('call_key').on(t.key, t.id), index('call_at').using('brin', t.at)],
)

/** Every distinct answer that the service ever gave: its shape, without values, and what it was taken for. */
export const answer = rollcall.table('answer', {
  fingerprint: text('fingerprint').primaryKey(),
  method: text('method').notNull(),
  status: smallint('status'),
  error: text('error'),
  /** Kind of the body, and its shape where it is JSON. */
  body: text('body'),
  shape: text('shape'),
  meaning: text('meaning').notNull(),
  count: bigint('count', { mode: 'bigint' }).notNull(),
  firstAt: at('first_at').notNull(),
  lastAt: at('last_at').notNull(),
  /** A customer who was answered so, for a look at its history. */
  lastKey: key('last_key').notNull(),
})

/** One row: the service that this ledger is about. */
export const target = rollcall.table(
  'target',
  {
    id: smallint('id').primaryKey().default(1),
    origin: text('origin').notNull(),
    apiKeyMac: text('api_key_mac').notNull(),
    systemIdentifier: text('system_identifier'),
    timeline: integer('timeline'),
    databaseOid: bigint('database_oid', { mode: 'bigint' }),
    boundAt: at('bound_at').notNull().default(sql`now()`),
  },
  (t) => [check('target_one_row', sql`${t.id} = 1`)],
)
