// The tables for people who ask later: calls, distinct answers, runs over all customers, and what was found to differ. Names of
// fields and keyed digests only, never a value.
import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  check,
  index,
  integer,
  jsonb,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { at, key, rollcall } from './schema-columns.ts'

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
  /** A customer who was answered so, for its history. */
  lastKey: key('last_key').notNull(),
})

/** One row for each walk over all customers. An unfinished one goes on where it stopped. */
export const run = rollcall.table(
  'run',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    kind: text('kind').notNull(),
    /** The mapping that it plans by. */
    generation: bigint('generation', { mode: 'bigint' }).notNull(),
    /** The customers it is restricted to, and how it owes; empty: all. One with others does not go on with this one. */
    options: jsonb('options').notNull().default({}),
    /** The gaps in capture that it closes at its end. */
    marks: bigint('marks', { mode: 'bigint' }).array().notNull().default([]),
    /** Which triggers captured when it began: one that stopped goes on only where these have stood all the time. */
    capture: text('capture').notNull().default(''),
    /** Where it goes on: keys of customers, as in the ledger. None once it has ended. */
    cursor: jsonb('cursor'),
    /** Customers, as counted at its start. */
    total: bigint('total', { mode: 'number' }),
    /** The counts so far. */
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
