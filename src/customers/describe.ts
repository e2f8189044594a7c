// Compares the configuration with the catalog before anything runs. A typing error is then a sentence at the start,
// and not a failed job for every customer.
import pg from 'pg'
import type { Config } from '../config/config.ts'
import type { Client } from '../database/client.ts'
import { roleBehind } from '../database/pool.ts'
import { RollcallError } from '../model/errors.ts'
import {
  type FoundColumn,
  type FoundRelation,
  findColumns,
  findRelation,
  type KeyColumn,
  pathlessFunctions,
  relationNames,
  uniqueBy,
} from './catalog.ts'
import { columnUses, neededColumns } from './columns.ts'
import { describeWatched, keyTypeProblems, noColumn, noRelation, quotedName } from './problems.ts'
import { queryCustomers, quoted, settingsOf } from './query.ts'

export type CustomersShape = Awaited<ReturnType<typeof describeCustomers>>

/** Throws CUSTOMERS_UNREADABLE with all that does not fit. Reads the catalog alone, as the role that reads customers. */
export async function describeCustomers(client: Client, config: Config) {
  const { relation } = config.customers
  const compared = await compareWithCatalog(client, config)
  if (!compared.found) throw new RollcallError('CUSTOMERS_UNREADABLE', compared.misfits)
  const { found, columns, key, warnings } = compared
  const problems = [...unreadable(client, config, { found, columns }), ...compared.misfits]
  if (problems.length === 0) problems.push(...(await probe(client, config)))
  if (problems.length > 0) throw new RollcallError('CUSTOMERS_UNREADABLE', problems)

  return {
    relation,
    kind: isView(found) ? ('view' as const) : ('table' as const),
    settings: settingsOf(config),
    key: key as readonly KeyColumn[],
    // Configurations that work, but may not do what their author thinks; sentences for people.
    warnings: [...(await warningsOf(client, config, found)), ...warnings],
  }
}

/**
 * Finds what the configuration names and the database lacks or has in another form, also for a role that may read no
 * customer: a column renamed while workers run is reported in the words that a start would refuse it with.
 */
export async function findMisfits(client: Client, config: Config): Promise<readonly string[]> {
  const { found, columns, misfits } = await compareWithCatalog(client, config)
  const catalogOnly = found && unreadable(client, config, { found, columns }).length > 0
  return misfits.length > 0 || catalogOnly ? misfits : await probe(client, config)
}

async function compareWithCatalog(client: Client, config: Config) {
  const { relation } = config.customers
  const found = await findRelation(client, relation)
  if (!found) return { misfits: [noRelation('customers', relation, await relationNames(client))] }
  const columns = await findColumns(client, found.oid)
  const key = config.customers.key.flatMap((name) => columns.get(name) ?? [])
  const { problems, warnings } = await describeWatched(client, config, key)
  const known = [...columns.keys()]
  const misfits = [
    ...columnUses(config)
      .filter(({ column }) => !columns.has(column))
      .map((use) => noColumn({ ...use, relation, known })),
    ...keyTypeProblems('customers.key', key),
    ...problems,
  ]
  return { found, columns, key, misfits, warnings }
}

type InCatalog = { readonly found: FoundRelation; readonly columns: ReadonlyMap<string, FoundColumn> }

function unreadable(client: Client, config: Config, { found, columns }: InCatalog): readonly string[] {
  const { relation } = config.customers
  const role = roleBehind(client)
  const hidden = neededColumns(config).filter((column) => columns.get(column)?.readable === false)
  return [
    !found.schemaUsable && `customers: ${role} has no USAGE on the schema ${relation.schema}`,
    hidden.length > 0 &&
      `customers: ${role} may not SELECT these columns of ${quotedName(relation)}: ${hidden.join(', ')}`,
  ].filter((problem) => problem !== false)
}

/** Postgres' words, where a policy would hide rows from a session that has not allowed it. */
export const HIDES = /row-level security/
export const WHEN_HIDDEN =
  "; rows that a policy hides would count as removed customers. Give BYPASSRLS to the role (if customers is a view: to the owner of the view). If the policies let the role see every customer, set customers.rowSecurity to 'apply'"

/** Finds what only Postgres itself can tell: rights behind a view, a view that no longer works. */
async function probe(client: Client, config: Config): Promise<readonly string[]> {
  const columns = neededColumns(config).map((column) => pg.escapeIdentifier(column))
  try {
    const text = `SELECT ${columns.join(', ')} FROM ${quoted(config.customers.relation)} LIMIT 0`
    await queryCustomers(client, settingsOf(config), { text })
    return []
  } catch (error) {
    // Class 42: a name or a right. Postgres' sentence names objects only.
    if (error instanceof pg.DatabaseError && error.code?.startsWith('42'))
      return [
        `customers: for ${roleBehind(client)} Postgres reports "${error.message}"${HIDES.test(error.message) ? WHEN_HIDDEN : ''}`,
      ]
    throw error
  }
}

async function warningsOf(client: Client, config: Config, found: FoundRelation): Promise<readonly string[]> {
  const { relation, key } = config.customers
  const name = quotedName(relation)
  const unique = isView(found) || (await uniqueBy(client, found.oid, key))
  const pathless = found.kind === 'v' && config.customers.searchPath.length === 0
  const functions = pathless ? await pathlessFunctions(client, found.oid) : []
  const warnings = [
    !unique &&
      `customers.key: ${name} has no unique index on ${key.join(', ')}. Create a unique index: without it, reads may be slow, and a key with several rows is not synced`,
    found.filtered &&
      `customers: row-level security applies to this role on ${name}: a customer that it hides counts as removed`,
    found.kind === 'm' &&
      `customers: ${name} is a materialized view: rollcall reads its rows as of the last refresh`,
    functions.length > 0 &&
      `customers: the view ${name} calls functions without a search_path: ${functions.join(', ')}. When rollcall reads the view, these functions find only what is in pg_catalog, unless they name the schema. If they need other schemas (also for types and operators of extensions), name them in customers.searchPath`,
  ]
  return warnings.filter((each) => each !== false)
}

function isView({ kind }: FoundRelation): boolean {
  return kind === 'v' || kind === 'm'
}
