import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Config } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import { findColumns, findRelation, relationNames } from '../customers/catalog.ts'
import { columnUses, neededColumns } from '../customers/columns.ts'
import { noColumn, noRelation } from '../customers/problems.ts'
import type { Client } from '../database/client.ts'
import { PINNED, UNPINNED } from '../database/session.ts'
import { READER, type Rights, WORKER } from '../ledger/grants.ts'
import { QUEUE_SCHEMA } from '../ledger/migrate.ts'
import { installationName } from '../ledger/target.ts'
import { RollcallError } from '../model/errors.ts'
import { withDatabase } from './connect.ts'
import type { AddCommand } from './io.ts'
import { CONFIG_OPTION, usage } from './option-values.ts'
import { applying, warn } from './render.ts'

const EXAMPLES = `
The command changes nothing. A DBA reads the script and runs it: after each
\`rollcall migrate\`, and when the configuration reads another column.

The script gives the role exactly the rights for worker, sync, backfill, drift,
status, failures, held, pace, answers, erasures, explain, access, capture status
and capture resync. Run migrate and capture install as the owner of rollcall's
tables.

With --read-only the role may run status, failures, held, held log, pace,
answers, erasures, capture status and drift --from-ledger. It may not read
customers. If one of these commands tells you to run a command that changes
something, run that one with the worker's role. With --read-only, grants needs
no configuration.

Examples:
  rollcall grants --to rollcall_worker > grants.sql
  psql "$ADMIN_URL" --set ON_ERROR_STOP=1 < grants.sql
  rollcall grants --to on_call --read-only`

export const grantsCommand: AddCommand = (program, io) => {
  program
    .command('grants')
    .requiredOption('--to <role>', 'the Postgres role that gets the rights; the role must exist')
    .option(
      '--queue',
      'also the rights on a queue in Postgres; before that, run `rollcall migrate` with the QUEUE_URL of this queue',
    )
    .option('--read-only', "only the rights to read rollcall's own tables, as for status and failures")
    .option(...CONFIG_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(async ({ to: role, readOnly = false, queue = false, config: file }) => {
      if (readOnly && queue) throw usage('--queue: not with --read-only, which needs no rights on the queue')
      const asked: GrantsAsked = readOnly
        ? { kind: 'reader' }
        : { kind: 'worker', config: await loadConfig(file, io.cwd), queue }
      const { script, warnings } = await withDatabase(io, { owner: true }, (pool) =>
        grantsScript(pool, role, asked),
      )
      warn(io, warnings)
      io.out(script)
    })
}

export type GrantsAsked =
  | { readonly kind: 'worker'; readonly config: Config; readonly queue: boolean }
  | { readonly kind: 'reader' }

const id = pg.escapeIdentifier

/**
 * Adds rights and takes none away, so that it can be run again, also while workers run. Making it takes the catalog and
 * nothing else, so any role may ask.
 *
 * @throws RollcallError USAGE without such a role, CUSTOMERS_UNREADABLE when the configuration names what does not exist
 */
export async function grantsScript(client: Client, role: string, asked: GrantsAsked) {
  const { database, version, superuser, owner } = await readServer(client, role)
  if (superuser === null) throw usage('--to: Postgres has no role of this name')
  const to = `TO ${id(role)}`
  const worker = asked.kind === 'worker' ? asked : null
  const customers = worker && (await readCustomers(client, worker.config))
  const queue = worker?.queue ? await installationName(client, role) : null
  const parts: readonly (Part | null)[] = [
    ['To connect to the database.', [`GRANT CONNECT ON DATABASE ${id(database)} ${to};`]],
    ["rollcall's own tables.", ownTables(worker ? WORKER : READER, to)],
    worker && version >= 170_000 ? [VACUUM, [`GRANT MAINTAIN ON rollcall.outbox ${to};`]] : null,
    worker && customers && readGrants(worker.config, customers.typeSchemas, to),
    queue === null ? null : useQueue(database, queue, role),
  ]
  const script = [
    '-- The rights that rollcall needs, printed by `rollcall grants`. Run this script',
    '-- as the owner of these objects or as a superuser. Run it again after each',
    '-- `rollcall migrate`, and when the configuration reads another column.',
    PINNED,
    'BEGIN;',
    ...parts.flatMap((part) => (part ? ['', `-- ${part[0]}`, ...part[1]] : [])),
    '',
    'COMMIT;',
    UNPINNED,
  ]
  const warnings = applying([
    (superuser || owner) &&
      "the role is a superuser or owns rollcall's tables, so it already has more rights than these",
    customers?.invoker === true &&
      'the customer view reads its tables with the rights of the role (security_invoker): also grant SELECT on these tables',
  ])
  return { script: script.join('\n'), warnings }
}

/** `superuser` is null when there is no role of this name. `owner`: it may do what the owner of rollcall's tables may. */
async function readServer(client: Client, role: string) {
  type Server = { database: string; version: number; superuser: boolean | null; owner: boolean }
  const { rows } = await client.query<Server>(
    `SELECT current_database() AS database, current_setting('server_version_num')::int AS version, r.rolsuper AS superuser,
       coalesce((SELECT pg_has_role(r.oid, n.nspowner, 'MEMBER') FROM pg_catalog.pg_namespace n
         WHERE n.nspname = 'rollcall'), false) AS owner
     FROM (SELECT) one LEFT JOIN pg_catalog.pg_roles r ON r.rolname = $1`,
    [role],
  )
  if (!rows[0]) throw new Error('the server answers in one row')
  return rows[0]
}

async function readCustomers(client: Client, config: Config) {
  const { relation, key } = config.customers
  const found = await findRelation(client, relation)
  if (!found) {
    const detail = noRelation('customers', relation, await relationNames(client))
    throw new RollcallError('CUSTOMERS_UNREADABLE', [detail])
  }
  const columns = await findColumns(client, found.oid)
  const known = [...columns.keys()]
  const missing = columnUses(config).filter(({ column }) => !columns.has(column))
  const details = missing.map((use) => noColumn({ ...use, relation, known }))
  if (details.length > 0) throw new RollcallError('CUSTOMERS_UNREADABLE', details)
  const { rows } = await client.query<{ invoker: boolean }>(
    `SELECT coalesce('security_invoker=true' = ANY (reloptions) OR 'security_invoker=on' = ANY (reloptions), false) AS invoker
     FROM pg_catalog.pg_class WHERE oid = $1`,
    [found.oid],
  )
  return {
    /** Schemas of the key columns' types: a cast names them. */
    typeSchemas: key.flatMap((name) => columns.get(name)?.base.schema ?? []),
    invoker: rows[0]?.invoker ?? false,
  }
}

type Part = readonly [comment: string, statements: readonly string[]]

/** Before Postgres 17 only autovacuum gives them back: there is no right to VACUUM without owning the table. */
const VACUUM = 'To give back the pages of an outbox that was large.'

function ownTables({ tables, sequences }: Rights, to: string): readonly string[] {
  return [
    `GRANT USAGE ON SCHEMA rollcall ${to};`,
    ...Object.entries(tables).map(
      ([table, privileges]) => `GRANT ${privileges.join(', ')} ON rollcall.${id(table)} ${to};`,
    ),
    ...sequences.map((name) => `GRANT USAGE ON SEQUENCE rollcall.${id(name)} ${to};`),
  ]
}

function readGrants(config: Config, typeSchemas: readonly string[], to: string): Part {
  const { schema, name } = config.customers.relation
  const schemas = new Set([schema, ...typeSchemas.filter((each) => each !== 'pg_catalog')])
  const columns = neededColumns(config).map(id).join(', ')
  const usages = [...schemas].map((each) => `GRANT USAGE ON SCHEMA ${id(each)} ${to};`)
  const select = `GRANT SELECT (${columns}) ON ${id(schema)}.${id(name)} ${to};`
  return ['Only the customer columns that the configuration reads.', [...usages, select]]
}

/**
 * The tables are BullMQ's own and change with it, hence all of them. It makes a sequence for a queue when the first job
 * is added (its `job_id_seq_name`); made here, the role need not be allowed to create anything but temporary tables.
 */
function useQueue(database: string, queue: string, role: string): Part {
  const sequence = id(`bullmq_jid_${createHash('md5').update(queue).digest('hex')}`)
  const to = `TO ${id(role)};`
  const statements = [
    `GRANT USAGE ON SCHEMA ${QUEUE_SCHEMA} ${to}`,
    `CREATE SEQUENCE IF NOT EXISTS ${QUEUE_SCHEMA}.${sequence};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${QUEUE_SCHEMA} ${to}`,
    `REVOKE INSERT, UPDATE, DELETE ON ${QUEUE_SCHEMA}.migration FROM ${id(role)};`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${QUEUE_SCHEMA} ${to}`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${QUEUE_SCHEMA} ${to}`,
    `GRANT TEMPORARY ON DATABASE ${id(database)} ${to}`,
  ]
  return ['The queue in this database.', statements]
}
