// The tables for people who ask later: calls, distinct answers, runs over all customers, and what was found to differ. Then
// those of the brake and of erasing: what was let through, who decided what, and what was erased. Names of fields and keyed
// digests only, never a value.
import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  check,
  index,
  integer,
  jsonb,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { at, key, rollcall } from './schema.ts'

/** Every call to the service: who, when, what became of it; names of fields, never a value. Pruned by age. */
export const call = rollcall.table(
  'call',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    key: key('key').notNull(),
    at: at('at').notNull(),
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
  /** A customer who was answered so, for its history. */
  lastKey: key('last_key').notNull(),
})

/** One row for each walk over all customers. An unfinished one goes on where it stopped. */
export const run = rollcall.table(
  'run',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    kind: text('kind').notNull(),
    generation: bigint('generation', { mode: 'bigint' }).notNull(),
    /** The customers it is restricted to, and how it owes; empty: all. One with others does not go on with this one. */
    options: jsonb('options').notNull().default({}),
    /** The gaps in capture that it closes at its end. */
    marks: bigint('marks', { mode: 'bigint' }).array().notNull().default([]),
    /** Which triggers captured when it began: one that stopped goes on only where these have stood all the time. */
    capture: text('capture').notNull().default(''),
    /** Where it goes on: keys of customers, as in the ledger. None once it has ended. */
    cursor: jsonb('cursor'),
    total: bigint('total', { mode: 'number' }),
    tally: jsonb('tally').notNull().default({}),
    startedAt: at('started_at').notNull().default(sql`clock_timestamp()`),
    updatedAt: at('updated_at').notNull().default(sql`clock_timestamp()`),
    endedAt: at('ended_at'),
    /** `replaced`: another one was begun in its place. */
    outcome: text('outcome'),
  },
  (t) => [
    uniqueIndex('run_unfinished').on(t.kind).where(sql`${t.endedAt} IS NULL AND ${t.kind} <> 'drift'`),
    check('run_kind', sql`${t.kind} IN ('backfill', 'mapping', 'gap', 'resync', 'check', 'drift')`),
    check(
      'run_outcome',
      sql`(${t.outcome} IS NULL) = (${t.endedAt} IS NULL) AND (${t.outcome} IS NULL OR ${t.outcome} IN ('done', 'replaced', 'not-credible'))`,
    ),
  ],
)

/**
 * A user that differs while nothing is owed. With one check it is a suspicion (also with none that was credible),
 * which a second one confirms or takes away; it is open until `resolved_at`. At most one is open for a customer.
 */
export const finding = rollcall.table(
  'finding',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    key: key('key').notNull(),
    userId: text('user_id'),
    kind: text('kind').notNull(),
    fields: text('fields').array().notNull(),
    /** Fields that the last check has shown for the first time: the next one confirms them. */
    pending: text('pending').array().notNull().default([]),
    /** Null of a trial that ended. */
    cause: text('cause'),
    /** Customers that should have access and have none there, or the other way round. */
    access: text('access'),
    firstSeen: at('first_seen').notNull().default(sql`now()`),
    lastSeen: at('last_seen').notNull().default(sql`now()`),
    checks: integer('checks').notNull().default(1),
    nextCheckAt: at('next_check_at'),
    /** Digest of all that was desired when it was seen last. */
    desired: text('desired'),
    repairs: integer('repairs').notNull().default(0),
    repairedAt: at('repaired_at'),
    resolvedAt: at('resolved_at'),
    resolvedHow: text('resolved_how'),
  },
  (t) => [
    index('finding_key').on(t.key),
    uniqueIndex('finding_open').on(t.key).where(sql`${t.resolvedAt} IS NULL`),
    index('finding_next_check').on(t.nextCheckAt).where(sql`${t.resolvedAt} IS NULL`),
    index('finding_resolved').on(t.resolvedAt).where(sql`${t.resolvedAt} IS NOT NULL`),
    check('finding_access', sql`${t.access} IN ('lost', 'undue')`),
    check(
      'finding_kind',
      sql`${t.kind} IN ('missing', 'differs', 'unexpected-access', 'unreadable', 'trial-ended')`,
    ),
  ],
)

/** One row for each kind of change. Every reservation locks it: else many workers would read "one below the limit". */
export const brake = rollcall.table('brake', {
  kind: text('kind').primaryKey(),
  /** Customers let through within the window: the rows of `brake_entry`. */
  taken: integer('taken').notNull().default(0),
  /** The base of which a share is the limit, and when it was counted. */
  base: bigint('base', { mode: 'bigint' }),
  basedAt: at('based_at'),
  /** Since when everything of this kind waits for a person. */
  trippedAt: at('tripped_at'),
  trippedAtLimit: integer('tripped_at_limit'),
  /** How many more a person expects: they pass and are not counted, until then. */
  expected: integer('expected').notNull().default(0),
  expectedUntil: at('expected_until'),
})

/** Customers let through under a kind, once in the window; one that a person has released is not counted. */
export const brakeEntry = rollcall.table(
  'brake_entry',
  {
    kind: text('kind').notNull(),
    key: key('key').notNull(),
    at: at('at').notNull().default(sql`clock_timestamp()`),
    /** Counted no more since a person has decided; that a customer lost access by us is known all the same. */
    forgotten: boolean('forgotten').notNull().default(false),
    /** Passed as one of those that a person expects: it is not counted, and passes again within the window. */
    expected: boolean('expected').notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.kind, t.key] }), index('brake_entry_at').on(t.kind, t.at)],
)

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
  (t) => [check('decision_action', sql`${t.action} IN ('release', 'discard', 'credible')`)],
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
  (t) => [primaryKey({ columns: [t.decision, t.key] }), index('decided_key').on(t.key)],
)

/** Receipts: whose personal fields were erased, when, and which a lookup still showed. Names of fields only. */
export const erasure = rollcall.table(
  'erasure',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    key: key('key').notNull(),
    userId: text('user_id').notNull(),
    fields: text('fields').array().notNull(),
    erasedAt: at('erased_at').notNull(),
    /** When a credible GET was made; null: not verified yet. */
    verifiedAt: at('verified_at'),
    left: text('left_fields').array(),
  },
  (t) => [index('erasure_key').on(t.key, t.id)],
)
