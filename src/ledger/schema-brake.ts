// The tables of the brake and of erasing: what was let through, who decided what, and what was erased. The statements of
// src/brake and of erasures.ts write them, and the ending of a claim.
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
  text,
} from 'drizzle-orm/pg-core'
import { at, key, rollcall } from './schema-columns.ts'

/**
 * One row for each kind of change that a mass of which would be an accident. Every reservation locks it, so that many
 * workers cannot all read "one below the limit".
 */
export const brake = rollcall.table('brake', {
  kind: text('kind').primaryKey(),
  /** Customers let through within the window: the rows of `brake_entry`. */
  taken: integer('taken').notNull().default(0),
  /** The base of which a share is the limit, and when it was counted. */
  base: bigint('base', { mode: 'bigint' }),
  basedAt: at('based_at'),
  /** Since when everything of this kind waits for a person. */
  trippedAt: at('tripped_at'),
  /** The limit that it met then. */
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

/** Decisions of people about held customers: who, when, why. */
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
    /** The fields that the call cleared. */
    fields: text('fields').array().notNull(),
    /** When the service acknowledged it. */
    erasedAt: at('erased_at').notNull(),
    /** When a credible GET was made; null: not verified yet. */
    verifiedAt: at('verified_at'),
    /** Fields that it still showed. */
    left: text('left_fields').array(),
  },
  (t) => [index('erasure_key').on(t.key, t.id)],
)
