// The table of runs: how far each has come, and what it found. The statements of runs.ts write it.
import { sql } from 'drizzle-orm'
import { bigint, bigserial, check, jsonb, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { at, rollcall } from './schema-columns.ts'

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
    /** What it has found so far: counts. */
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
