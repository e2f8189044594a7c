import { createHash } from 'node:crypto'
import pg, { type ClientBase } from 'pg'
import type { Config, Relation } from '../config/config.ts'
import { readEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { findColumns, findRelation, relationNames } from '../customers/catalog.ts'
import { columnUses, neededColumns } from '../customers/columns.ts'
import { noColumn, noRelation } from '../customers/problems.ts'
import { PINNED, UNPINNED } from '../database/session.ts'
import { READER, type Rights, WORKER } from '../ledger/grants.ts'
import { QUEUE_SCHEMA } from '../ledger/migrate.ts'
import { installationName } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import { ownerIn, withPool } from './connect.ts'
import type { AddCommand } from './io.ts'

type Options = {
  readonly to: string
  readonly readOnly?: boolean
  readonly queue?: boolean
  readonly config?: string
}

type Client = Pick<ClientBase, 'query'>

const EXAMPLES = `
It changes nothing: a DBA reads the script and runs it, again after each
\`rollcall migrate\` and whenever the configuration reads another column.

The role may then do what worker, sync, backfill, drift, status, failures, held,
pace, answers, erasures and access need, and nothing else. It does not suffice
for migrate and capture install: those take the owner of rollcall's tables.

With --read-only it may look (status, failures, answers, drift --from-ledger),
but read no customer; then no configuration is read either.

Examples:
  rollcall grants --to rollcall_worker > grants.sql
  rollcall grants --to rollcall_worker --queue > grants.sql
  psql "$ADMIN_URL" --set ON_ERROR_STOP=1 < grants.sql
  rollcall grants --to on_call --read-only`

/** `rollcall grants`: the SQL that gives a role what it needs. */
export const grantsCommand: AddCommand = (program, io) => {
  program
    .command('grants')
    .description('print the SQL that gives a role of Postgres the rights it needs, and no others')
    .requiredOption('--to <role>', 'an existing role')
    .option('--queue', 'with the rights on the queue, where QUEUE_URL is this database')
    .option('--read-only', 'for those who only look')
    .option('-c, --config <file>', 'configuration file (default: rollcall.config.ts)')
    .addHelpText('after', EXAMPLES)
    .action(async ({ to: role, readOnly = false, queue = false, config: file }: Options) => {
      if (readOnly && queue)
        throw new RollcallError('USAGE', ['--read-only goes without --queue: who looks needs no queue'])
      const config = readOnly ? null : await loadConfig(file, io.cwd)
      const env = readEnv(io.env, { need: ['DATABASE_URL'], may: ['MIGRATE_DATABASE_URL'] })
      const asked = config ? ({ kind: 'worker', config, queue } as const) : ({ kind: 'reader' } as const)
      const { grants, warnings } = await withPool({ ...(await ownerIn(env)), stop: io.stop }, (pool) =>
        planGrants(pool, role, asked),
      )
      for (const warning of warnings) io.err(`warning: ${warning}`)
      io.out(sayGrants(grants))
    })
}

export type GrantsAsked =
  | { readonly kind: 'worker'; readonly config: Config; readonly queue: boolean }
  | { readonly kind: 'reader' }

type Server = {
  readonly database: string
  readonly version: number
  /** Of the role; null when there is none of this name. */
  readonly superuser: boolean | null
  /** It may do whatever the owner of rollcall's tables may. */
  readonly owner: boolean
}

/**
 * Reads the catalog and nothing else, so any role may ask.
 *
 * @throws RollcallError USAGE without such a role, CUSTOMERS_UNREADABLE when the configuration names what does not exist
 */
export async function planGrants(
  client: Client,
  role: string,
  asked: GrantsAsked,
): Promise<{ readonly grants: Grants; readonly warnings: readonly string[] }> {
  const { database, version, superuser, owner } = await readServer(client, role)
  if (superuser === null) throw new RollcallError('USAGE', ['--to: there is no role of this name'])
  const warnings =
    superuser || owner
      ? ['the role is a superuser, or owns rollcall’s tables: it has more rights than these already']
      : []
  const common = { role, database, maintain: version >= 170_000 }
  if (asked.kind === 'reader')
    return { grants: { ...common, rights: READER, customers: null, queue: null }, warnings }
  const { config, queue } = asked
  const { customers, invoker } = await readCustomers(client, config)
  if (invoker)
    warnings.push(
      'the view of the customers reads its tables with the rights of its reader: grant those, too',
    )
  const sequence = queue ? sequenceOf(await installationName(client, role)) : null
  return {
    grants: { ...common, rights: WORKER, customers, queue: sequence === null ? null : { sequence } },
    warnings,
  }
}

async function readServer(client: Client, role: string): Promise<Server> {
  const { rows } = await client.query<Server>(
    `SELECT current_database() AS database, current_setting('server_version_num')::int AS version, r.rolsuper AS superuser,
       coalesce((SELECT pg_has_role(r.oid, n.nspowner, 'MEMBER') FROM pg_catalog.pg_namespace n
         WHERE n.nspname = 'rollcall'), false) AS owner
     FROM (SELECT) one LEFT JOIN pg_catalog.pg_roles r ON r.rolname = $1`,
    [role],
  )
  if (!rows[0]) throw new Error('the server tells of itself in one row')
  return rows[0]
}

type FoundCustomers = {
  readonly customers: NonNullable<Grants['customers']>
  /** A view that reads with the rights of whoever reads it. */
  readonly invoker: boolean
}

async function readCustomers(client: Client, config: Config): Promise<FoundCustomers> {
  const { relation, key } = config.customers
  const found = await findRelation(client, relation)
  if (!found) {
    const detail = noRelation('customers', relation, await relationNames(client))
    throw new RollcallError('CUSTOMERS_UNREADABLE', [detail])
  }
  const columns = await findColumns(client, found.oid)
  const missing = columnUses(config).filter(({ column }) => !columns.has(column))
  if (missing.length > 0) {
    const known = [...columns.keys()]
    const details = missing.map((use) => noColumn({ ...use, relation, known }))
    throw new RollcallError('CUSTOMERS_UNREADABLE', details)
  }
  const typeSchemas = key.flatMap((name) => columns.get(name)?.base.schema ?? [])
  const { rows } = await client.query<{ invoker: boolean }>(
    `SELECT coalesce('security_invoker=true' = ANY (reloptions) OR 'security_invoker=on' = ANY (reloptions), false) AS invoker
     FROM pg_catalog.pg_class WHERE oid = $1`,
    [found.oid],
  )
  return {
    customers: {
      relation,
      columns: neededColumns(config),
      typeSchemas: typeSchemas.filter((schema) => schema !== 'pg_catalog'),
    },
    invoker: rows[0]?.invoker ?? false,
  }
}

/** As BullMQ's `job_id_seq_name` has it. */
function sequenceOf(queue: string): string {
  return `bullmq_jid_${createHash('md5').update(queue).digest('hex')}`
}

type Grants = {
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
    ...(customers ? readGrants(customers, to) : []),
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

function readGrants(
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
