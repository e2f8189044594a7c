// The rights on rollcall's own tables that a role needs, as data: the statements in this folder, in pace, brake and capture are
// why. src/cli/grants.ts makes a script of it, test/ledger/grants-needed.full.test.ts takes away each right in turn.
import type { PgTable } from 'drizzle-orm/pg-core'
import type * as core from './schema.ts'
import type * as reported from './schema-reported.ts'

type Schema = typeof core & typeof reported
type Owned = { [K in keyof Schema]: Schema[K] extends PgTable ? Schema[K]['_']['name'] : never }[keyof Schema]
/** `migration` is made by the migrator itself. */
type OwnedTable = Owned | 'migration'

type Privileges = readonly ('SELECT' | 'INSERT' | 'UPDATE' | 'UPDATE (bound_by)' | 'DELETE')[]

export type Rights = {
  readonly tables: Readonly<Record<string, Privileges>>
  /** USAGE: the next number. */
  readonly sequences: readonly string[]
}

/** Every table of ours has an entry, so that a new one cannot be forgotten. */
const WORKER_TABLES: Readonly<Record<OwnedTable, Privileges>> = {
  answer: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  brake: ['SELECT', 'INSERT', 'UPDATE'],
  brake_entry: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  call: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  capture_mark: ['SELECT', 'UPDATE'],
  decided: ['SELECT', 'INSERT', 'UPDATE'],
  decision: ['SELECT', 'INSERT', 'UPDATE'],
  erasure: ['SELECT', 'INSERT', 'UPDATE'],
  finding: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  generation: ['SELECT', 'INSERT', 'UPDATE'],
  ledger: ['SELECT', 'INSERT', 'UPDATE'],
  migration: ['SELECT'],
  outbox: ['SELECT', 'UPDATE', 'DELETE'],
  owed: ['SELECT', 'INSERT', 'UPDATE'],
  pace: ['SELECT', 'INSERT', 'UPDATE'],
  run: ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  target: ['SELECT', 'INSERT', 'UPDATE (bound_by)'],
}

/**
 * For everything but `migrate` and `capture install`. UPDATE is also what a lock on a row takes (FOR UPDATE), and
 * DELETE goes only where rows end: owed and ledger are never deleted from, since versions must not start again.
 * The triggers append to the outbox and set the marks of capture, with the rights of their owner.
 */
export const WORKER: Rights = {
  tables: WORKER_TABLES,
  sequences: 'call_id_seq decision_id_seq erasure_id_seq finding_id_seq owed_id_seq run_id_seq token'.split(
    ' ',
  ),
}

const { brake_entry: _, ...readable } = WORKER_TABLES

/** For those who only look: keys of customers and digests, and no customer. No view shows single entries of the brake. */
export const READER: Rights = {
  tables: Object.fromEntries(Object.keys(readable).map((table) => [table, ['SELECT']])),
  sequences: [],
}
