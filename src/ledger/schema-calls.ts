// The tables for people who ask later: every call, and every distinct answer.
import { bigint, bigserial, index, integer, smallint, text } from 'drizzle-orm/pg-core'
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
  /** A customer who was answered so, for a look at its history. */
  lastKey: key('last_key').notNull(),
})
