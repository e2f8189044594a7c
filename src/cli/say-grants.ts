// The script of `rollcall grants`. Pure: names come in as they are and go out quoted.
import pg from 'pg'
import type { Relation } from '../config/config.ts'
import { PINNED, UNPINNED } from '../database/session.ts'
import type { Rights } from '../ledger/grants.ts'
import { QUEUE_SCHEMA } from '../ledger/migrate.ts'

export type Grants = {
  readonly role: string
  readonly database: string
  readonly rights: Rights
  /** Postgres 17 and later has the right to VACUUM apart from the table's ownership. */
  readonly maintain: boolean
  /** What is read of the customers; null for those who read none. */
  readonly customers: {
    readonly relation: Relation
    readonly columns: readonly string[]
    /** Schemas of the key columns' types besides the relation's own: a cast names them. */
    readonly typeSchemas: readonly string[]
  } | null
  /** The queue is in this database; `sequence` numbers this installation's jobs. */
  readonly queue: { readonly sequence: string } | null
}

const id = pg.escapeIdentifier

/** Adds rights and takes none away, so that it can be run again, also while workers run. */
export function sayGrants({ role, database, rights, maintain, customers, queue }: Grants): string {
  const to = `TO ${id(role)};`
  const parts = [
    '-- The rights that rollcall needs, printed by `rollcall grants`. Run it as the owner of what is named here or as a',
    '-- superuser, and again after each `rollcall migrate` and each change of the columns that are read.',
    PINNED,
    'BEGIN;',
    ...part('To connect.', [`GRANT CONNECT ON DATABASE ${id(database)} ${to}`]),
    ...part("rollcall's own tables.", [
      `GRANT USAGE ON SCHEMA rollcall ${to}`,
      ...Object.entries(rights.tables).flatMap(([table, privileges]) =>
        privileges.length === 0 ? [] : [`GRANT ${privileges.join(', ')} ON rollcall.${id(table)} ${to}`],
      ),
      ...rights.sequences.map((name) => `GRANT USAGE ON SEQUENCE rollcall.${id(name)} ${to}`),
    ]),
    ...(rights.vacuumsOutbox ? vacuum(maintain, to) : []),
    ...(customers ? readCustomers(customers, to) : []),
    ...(queue ? useQueue({ database, sequence: queue.sequence }, to) : []),
    '',
    'COMMIT;',
    UNPINNED,
  ]
  return parts.join('\n')
}

function part(what: string, statements: readonly string[]): readonly string[] {
  return ['', `-- ${what}`, ...statements]
}

function vacuum(maintain: boolean, to: string): readonly string[] {
  return maintain
    ? part('To give back the pages of an outbox that was large.', [`GRANT MAINTAIN ON rollcall.outbox ${to}`])
    : part(
        'The pages of an outbox that was large are given back by autovacuum: before Postgres 17 there is no',
        ['-- right to VACUUM without owning the table.'],
      )
}

function readCustomers(
  { relation, columns, typeSchemas }: NonNullable<Grants['customers']>,
  to: string,
): readonly string[] {
  const schemas = [...new Set([relation.schema, ...typeSchemas])]
  return part('The columns of the customers that the configuration reads, and no other.', [
    ...schemas.map((schema) => `GRANT USAGE ON SCHEMA ${id(schema)} ${to}`),
    `GRANT SELECT (${columns.map(id).join(', ')}) ON ${id(relation.schema)}.${id(relation.name)} ${to}`,
  ])
}

/**
 * The tables are BullMQ's own and change with it, hence all of them. It makes a sequence for a queue when the first job
 * is added; made here, the role need not be allowed to create anything but its temporary tables.
 */
function useQueue(
  { database, sequence }: { readonly database: string; readonly sequence: string },
  to: string,
): readonly string[] {
  const from = to.replace(/^TO/, 'FROM')
  return part('The queue, where it is in this database.', [
    `GRANT USAGE ON SCHEMA ${QUEUE_SCHEMA} ${to}`,
    `CREATE SEQUENCE IF NOT EXISTS ${QUEUE_SCHEMA}.${id(sequence)};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} ${to}`,
    `REVOKE INSERT, UPDATE, DELETE ON ${QUEUE_SCHEMA}.migration ${from}`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA} ${to}`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${QUEUE_SCHEMA} ${to}`,
    `GRANT TEMPORARY ON DATABASE ${id(database)} ${to}`,
  ])
}
