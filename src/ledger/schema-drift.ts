// The table of what was found to differ. The statements of src/drift write it. Names of fields and keyed digests only, never a value.
import { sql } from 'drizzle-orm'
import { bigserial, check, index, integer, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { at, key, rollcall } from './schema-columns.ts'

/**
 * A user that differs while nothing is owed. With one look it is a suspicion (also with none that was credible),
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
    /** Customers that should have access and have none there, or the other way round. */
    access: text('access'),
    firstSeen: at('first_seen').notNull().default(sql`now()`),
    lastSeen: at('last_seen').notNull().default(sql`now()`),
    looks: integer('looks').notNull().default(1),
    nextLookAt: at('next_look_at'),
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
    index('finding_next_look').on(t.nextLookAt).where(sql`${t.resolvedAt} IS NULL`),
    index('finding_resolved').on(t.resolvedAt).where(sql`${t.resolvedAt} IS NOT NULL`),
    check('finding_access', sql`${t.access} IN ('lost', 'undue')`),
    check(
      'finding_kind',
      sql`${t.kind} IN ('missing', 'differs', 'unexpected-access', 'unreadable', 'trial-ended')`,
    ),
  ],
)
