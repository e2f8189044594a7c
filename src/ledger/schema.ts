// The tables of the protocol, of pace and target; those of brake, drift and the log of calls are in schema-reported.ts. The
// protocol (docs/protocol.md) says what the columns of `owed` mean together; the statements beside this file write them,
// and pace/stored.ts.
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
export const key = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })
export const at = (name: string) => timestamp(name, { withTimezone: true })
const version = (name: string) => bigint(name, { mode: 'bigint' })

/** Single-use tokens of leases. */
export const token = rollcall.sequence('token')

/**
 * Changes that are captured and not noted yet. The triggers append; the worker deletes. A restore may set the
 * sequence back below rows that are there: with the time in its key no statement of the application fails for that.
 */
export const outbox = rollcall.table(
  'outbox',
  {
    id: bigserial('id', { mode: 'bigint' }).notNull(),
    key: key('key').notNull(),
    lane: smallint('lane').notNull(),
    at: at('at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [primaryKey({ columns: [t.id, t.at] })],
)

/** Changes that capture cannot express as keys: a TRUNCATE, an outbox that was full. Open until `resolved_at` is set. */
export const captureMark = rollcall.table(
  'capture_mark',
  {
    id: bigserial('id', { mode: 'bigint' }).notNull(),
    kind: text('kind').notNull(),
    relation: text('relation').notNull(),
    at: at('at').notNull().default(sql`clock_timestamp()`),
    /** Closed: the triggers may write the next one. */
    resolvedAt: at('resolved_at'),
    /** Transactions before this one may still have trusted the mark; the resync waits for their end. */
    resyncAfter: text('resync_after'),
    resyncedAt: at('resynced_at'),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.at] }),
    check('capture_mark_kind', sql`${t.kind} IN ('truncate', 'overflow')`),
  ],
)

/** Work: one narrow row per customer, never deleted, because versions must not start again. docs/architecture.md has the meaning of each column. */
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
    hiddenUnknown: boolean('hidden_unknown').notNull().default(false),
    /** A write that ends a trial, or another customer's, may have landed: status 0 seen now is no ended trial. */
    statusUnknown: boolean('status_unknown').notNull().default(false),
    verifyLeft: smallint('verify_left').notNull().default(0),
    verifyAt: at('verify_at'),
    checkUntil: at('check_until'),
    lane: smallint('lane').notNull(),
    dueAt: at('due_at'),
    notBefore: at('not_before'),
    replanAt: at('replan_at'),
    token: bigint('token', { mode: 'bigint' }),
    callToken: bigint('call_token', { mode: 'bigint' }),
    attempts: integer('attempts').notNull().default(0),
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
    sent: jsonb('sent').$type<Record<string, string>>().notNull().default({}),
    seen: jsonb('seen').$type<Record<string, string>>().notNull().default({}),
    /** Digest of a value that the service refused, by field; not sent again until it changes. */
    refused: jsonb('refused').$type<Record<string, string>>().notNull().default({}),
    /** Values that another user has, by field, and how often they were refused; see record.ts. */
    conflict: jsonb('conflict').$type<{ readonly values: Record<string, string>; readonly tries: number }>(),
    /** Key id and normal-form version of the digests above. */
    digestKeyId: text('digest_key'),
    state: text('state').notNull().default('idle'),
    since: at('since'),
    reason: jsonb('reason'),
    /** A change that a person has decided not to send; null: none. */
    discard: jsonb('discard'),
    issues: jsonb('issues').notNull().default([]),
    lastAnswer: jsonb('last_answer'),
    /** Digest of the desired user at the last ending, for the sweep. */
    desired: text('desired'),
    generation: bigint('generation', { mode: 'bigint' }),
    /** The proof: when the change was made that was settled last, when the service acknowledged a write, when a GET
     * showed all of it. */
    changedAt: at('changed_at'),
    acknowledgedAt: at('acknowledged_at'),
    /** When a claim last left nothing to do; the brake tells a repeated attempt from another change by it. */
    settledAt: at('settled_at'),
    verifiedAt: at('verified_at'),
    /** When a GET first showed all of the change that was settled last. */
    provedAt: at('proved_at'),
    /** When a check last had an answer, whatever it said. */
    checkedAt: at('checked_at'),
    /** When a check was last wanted, whatever came of it; workers ask about the longest ago first. */
    askedAt: at('asked_at'),
    /** By field: the digest of an acknowledged value, that of the form that a GET showed of it, and how often one did. */
    observedForms: jsonb('observed_forms')
      .$type<Record<string, readonly [exact: string, form: string, times: number]>>()
      .notNull()
      .default({}),
    /** Its personal fields were erased at the service: acknowledged, or seen by a GET as well; null: not erased. */
    erased: text('erased'),
    /** The user was there, and an absence has not passed the brake since. */
    existed: boolean('existed'),
  },
  (t) => [
    check('ledger_erased', sql`${t.erased} IN ('sent', 'verified')`),
    index('ledger_user_id').on(t.userId),
    index('ledger_conflict').on(t.key).where(sql`${t.conflict} IS NOT NULL`),
    index('ledger_asked').on(t.askedAt),
    index('ledger_state').on(t.state).where(sql`${t.state} <> 'idle'`),
    check('ledger_remote', sql`${t.remote} IN ('unasked', 'unknown', 'absent', 'present')`),
    check('ledger_state_known', sql`${t.state} IN ('idle', 'rejected', 'failing', 'held', 'discarded')`),
  ],
)

export const pace = rollcall.table(
  'pace',
  {
    id: smallint('id').primaryKey().default(1),
    /** The most that may be made in a second; the rate moves below it. */
    ceiling: doublePrecision('ceiling').notNull(),
    /** The ceiling that a configuration last asked for; one that was set by hand stands until that changes. */
    configured: doublePrecision('configured'),
    rate: doublePrecision('rate').notNull(),
    raisedAt: at('raised_at').notNull().default(sql`now()`),
    nextFree: at('next_free').notNull().default(sql`now()`),
    /** No call before this: the service said so (Retry-After). */
    notBefore: at('not_before'),
    /** Counts how often the rate was lowered: a call that was begun before the last time says nothing new. */
    epoch: bigint('epoch', { mode: 'bigint' }).notNull().default(sql`0`),
    /** `open`: no process calls, but for a probe; `trying`: calls are made again, and few failures are enough to open. */
    breaker: text('breaker').notNull().default('closed'),
    openedAt: at('opened_at'),
    /** When the next probe is due, and until when the process that makes it is waited for. */
    probeAt: at('probe_at'),
    probeUntil: at('probe_until'),
    /** Since when workers check all customers. */
    checksSince: at('checks_since'),
    /** When users at random were last asked whether they are there, and what they said; see drift/evidence.ts. */
    sampledAt: at('sampled_at'),
    sample: jsonb('sample'),
    /** The counts of the breaker; see pace/breaker.ts. Row ids and numbers only. */
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

/** The active mapping: the row with the highest id. A process with another fingerprint sends nothing. */
export const generation = rollcall.table('generation', {
  id: bigint('id', { mode: 'bigint' }).primaryKey(),
  fingerprint: text('fingerprint').notNull(),
  appliedAt: at('applied_at').notNull().default(sql`clock_timestamp()`),
  /** When all customers that differ under it had been noted. Until then a worker with this mapping sweeps for it. */
  sweptAt: at('swept_at'),
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
    /** The transaction that wrote the row; see target.ts. A migration that rewrites this table has to write the row anew. */
    boundBy: bigint('bound_by', { mode: 'bigint' })
      .notNull()
      .default(sql`pg_current_xact_id()::text::bigint`),
  },
  (t) => [check('target_one_row', sql`${t.id} = 1`)],
)
