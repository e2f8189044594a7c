// The tables of verification: what was found to differ, the runs that looked, and how much of what they saw was drift.
// The statements of src/drift write them. Names of fields and keyed digests only, never a value.
import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  check,
  index,
  integer,
  jsonb,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { at, key, rollcall } from './schema-columns.ts'

/**
 * A user that differs while nothing is owed. With one look it is a suspicion (with none that anybody believed, too),
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
    /** Fields that the last look has shown for the first time: the next one confirms them. */
    pending: text('pending').array().notNull().default([]),
    /** Null of a trial that ended. */
    cause: text('cause'),
    /** Who should have access and has none there, or the other way round. */
    access: text('access'),
    firstSeen: at('first_seen').notNull().default(sql`now()`),
    lastSeen: at('last_seen').notNull().default(sql`now()`),
    looks: integer('looks').notNull().default(1),
    nextLookAt: at('next_look_at'),
    /** Digest of all that was desired when it was seen last. */
    desired: text('desired'),
    /** By field: the digest of the form that the service shows, and how often it came back after a write. */
    forms: jsonb('forms')
      .$type<Record<string, readonly [form: string, times: number]>>()
      .notNull()
      .default({}),
    repairs: integer('repairs').notNull().default(0),
    repairedAt: at('repaired_at'),
    /** A person has said that it is to be repaired, whatever the share of drift is. */
    released: boolean('released').notNull().default(false),
    resolvedAt: at('resolved_at'),
    resolvedHow: text('resolved_how'),
    /** Of the run or round whose it is: where that cannot be believed it is not told (drift/believed.ts). */
    runId: bigint('run_id', { mode: 'bigint' }),
    /** Of the run or round whose look has shown its end: where that cannot be believed it is open again. */
    resolvedIn: bigint('resolved_in', { mode: 'bigint' }),
  },
  (t) => [
    uniqueIndex('finding_open').on(t.key).where(sql`${t.resolvedAt} IS NULL`),
    index('finding_next_look').on(t.nextLookAt).where(sql`${t.resolvedAt} IS NULL`),
    index('finding_resolved').on(t.resolvedAt).where(sql`${t.resolvedAt} IS NOT NULL`),
    check('finding_access', sql`${t.access} IN ('lost', 'undue')`),
    check(
      'finding_kind',
      sql`${t.kind} IN ('missing', 'differs', 'unexpected-access', 'unreadable', 'trial-ended')`,
    ),
  ],
)

/** One that a person or a job asked for (`run`), or one time around by the workers (`round`). */
export const driftRun = rollcall.table(
  'drift_run',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    kind: text('kind').notNull(),
    /** What it was asked for; no secret, no value. */
    options: jsonb('options').notNull().default({}),
    /** Where it goes on after a stop. */
    cursor: jsonb('cursor'),
    startedAt: at('started_at').notNull().default(sql`clock_timestamp()`),
    updatedAt: at('updated_at').notNull().default(sql`clock_timestamp()`),
    endedAt: at('ended_at'),
    /** `unjudged`: a run before its end; `not-credible`: also of a round that goes on. */
    outcome: text('outcome'),
    /** Of how many customers, and of how many of these it is a sample; null: of all. */
    population: bigint('population', { mode: 'bigint' }),
    sampled: bigint('sampled', { mode: 'bigint' }),
    /** See `Tally` in drift/words.ts. */
    tally: jsonb('tally').notNull().default({}),
  },
  (t) => [
    index('drift_run_kind').on(t.kind, t.id),
    uniqueIndex('drift_run_round').on(t.kind).where(sql`${t.kind} = 'round' AND ${t.endedAt} IS NULL`),
    check('drift_run_kind_known', sql`${t.kind} IN ('round', 'run')`),
  ],
)

/** One row: how much of what was verified lately is drift. Above a share nothing is repaired. */
export const driftShare = rollcall.table(
  'drift_share',
  {
    id: smallint('id').primaryKey().default(1),
    /** A letter for each customer: `a` agreed, `d` was found to differ; the latest last. */
    recent: text('recent').notNull().default(''),
    /** Since when repairs wait. */
    haltedAt: at('halted_at'),
    /** When a person has said last of what a run had found that it is to be repaired all the same. */
    releasedAt: at('released_at'),
    releasedBy: text('released_by'),
    releasedWhy: text('released_why'),
  },
  (t) => [check('drift_share_one_row', sql`${t.id} = 1`)],
)
