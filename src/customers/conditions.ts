// What `--where` means for the customers that there are: the columns' own types, and values that fit them.
import { createHmac } from 'node:crypto'
import pg, { type ClientBase } from 'pg'
import type { Config } from '../config/config.ts'
import { closest } from '../model/closest.ts'
import { RollcallError } from '../model/errors.ts'
import { type FoundColumn, findColumns, findRelation } from './catalog.ts'
import { neededColumns } from './columns.ts'
import { type Condition, conditionSql } from './condition.ts'
import { queryCustomers, settingsOf } from './query.ts'
import { type ParsedWhere, parseWhere } from './where.ts'

type Client = Pick<ClientBase, 'query'>

/** @throws RollcallError USAGE with a line for each that cannot be understood; none of them shows a value */
export async function readConditions(
  client: Client,
  config: Config,
  texts: readonly string[],
): Promise<readonly Condition[]> {
  if (texts.length === 0) return []
  const found = await findRelation(client, config.customers.relation)
  const columns = found ? await findColumns(client, found.oid) : new Map<string, FoundColumn>()
  const read = texts.map((text) => resolve(text, columns, neededColumns(config)))
  const problems = read.flatMap((each) => (typeof each === 'string' ? [each] : []))
  const conditions = read.flatMap((each) => (typeof each === 'string' ? [] : [each]))
  for (const { condition, type } of conditions) {
    const problem = await tried(client, config, condition)
    if (problem) problems.push(`--where: ${problem.replace('{type}', type)}`)
  }
  if (problems.length > 0) throw new RollcallError('USAGE', problems)
  return conditions.map(({ condition }) => condition)
}

const FORMS =
  '--where: expected a column, then =, !=, <, <=, >, >= and a value, or "in" and values with commas between, or "is null", or "is not null"'

type Resolved = { readonly condition: Condition; readonly type: string }

function resolve(
  text: string,
  columns: ReadonlyMap<string, FoundColumn>,
  known: readonly string[],
): Resolved | string {
  const said: ParsedWhere | null = parseWhere(text)
  if (!said) return FORMS
  const column = known.includes(said.column) ? columns.get(said.column) : undefined
  if (!column) return unknownColumn(said.column, known)
  const { operator, values } = said
  return {
    condition: {
      ...{ column: said.column, type: column.cast, operators: column.operators, domain: column.domain },
      ...{ operator, values },
    },
    type: column.type,
  }
}

/** Only what a sync reads is told of: the other columns are none of our business, and no right is needed to them. */
function unknownColumn(name: string, known: readonly string[]): string {
  const near = closest(name, known)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  return `--where: neither the mapping nor the key has a column ${JSON.stringify(name)}.${meant} There are ${known.join(', ')}`
}

/** Postgres' class for a value that does not fit its type, and its code for a comparison that there is none of. */
const UNFIT = /^22/
const UNCOMPARABLE = /^428(83|04)$/

/** Postgres knows its types best. Its own sentence quotes the value, and is not told. */
async function tried(client: Client, config: Config, condition: Condition): Promise<string | null> {
  const { schema, name } = config.customers.relation
  const relation = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`
  try {
    await queryCustomers(client, settingsOf(config), {
      text: `SELECT FROM ${relation} c WHERE ${conditionSql(condition, 1)} LIMIT 0`,
      values: [...condition.values],
    })
    return null
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
    if (UNFIT.test(code)) return `the value for ${condition.column} is no {type}`
    if (UNCOMPARABLE.test(code))
      return `${condition.column} ({type}) cannot be compared by ${condition.operator}`
    throw error
  }
}

/**
 * What is recorded of conditions, to tell one run from another; order and spelling say nothing. A condition may hold a
 * value of a customer, which is in no table of ours: a keyed digest tells whether it is the same. Null: there are none.
 */
export function digestOf(conditions: readonly Condition[], digestKey: string): string | null {
  if (conditions.length === 0) return null
  const said = conditions.map(({ column, operator, values }) => JSON.stringify([column, operator, values]))
  return createHmac('sha256', digestKey)
    .update(JSON.stringify(['where', said.toSorted()]))
    .digest('base64url')
}
