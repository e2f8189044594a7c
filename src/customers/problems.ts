// The words for what does not fit between the configuration and the database: names and types, never values.

import { closest } from '../config/closest.ts'
import type { Config } from '../config/config.ts'
import { type Relation, sameRelation } from '../config/relation.ts'
import type { Client } from '../database/client.ts'
import { type FoundColumn, findColumns, findRelation, relationNames } from './catalog.ts'
import { keyFamily } from './key.ts'

/** A relation's name for people; not quoted, so not for SQL. */
export function quotedName({ schema, name }: Relation): string {
  return `${schema}.${name}`
}

/** `known`: names with their schema. The same name in another schema is the likeliest slip. */
export function noRelation(where: string, relation: Relation, known: readonly string[]): string {
  const elsewhere = known.find((name) => name.endsWith(`.${relation.name}`))
  const meant = elsewhere ?? closest(quotedName(relation), known)
  return `${where}: there is no table or view ${quotedName(relation)}${didYouMean(meant)}`
}

type Missing = {
  readonly where: string
  readonly relation: Relation
  readonly column: string
  readonly known: readonly string[]
}

export function noColumn({ where, relation, column, known }: Missing): string {
  return `${where}: ${lacksColumn(relation, column)}${didYouMean(closest(column, known))}`
}

export function lacksColumn(relation: Relation, column: string): string {
  return `there is no column "${column}" in ${quotedName(relation)}`
}

export function keyTypeProblems(where: string, key: readonly FoundColumn[]): readonly string[] {
  return key
    .filter(({ base, domain }) => keyFamily(base) === undefined || (domain && base.name === 'bpchar'))
    .map(
      ({ name, type, domain }) =>
        `${where}: ${name} is of type ${type}${domain ? ', a domain' : ''}. This type cannot be a key, because one value can be written in several ways; expected a column of type integer, numeric, text, uuid or enum`,
    )
}

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/**
 * Whether the watched tables exist, carry triggers and hold keys that the customers' own key columns can have.
 * A customer is found again only by the same text, so columns whose texts may differ for one customer are
 * worth a warning.
 */
export async function describeWatched(client: Client, config: Config, customersKey: readonly FoundColumn[]) {
  const problems: string[] = []
  const warnings: string[] = []
  for (const [i, { relation, key, columns = [] }] of config.watch.entries()) {
    const where = `watch[${i}]`
    const found = await findRelation(client, relation)
    const isTable = found?.kind === 'r' || found?.kind === 'p'
    if (!found) problems.push(noRelation(where, relation, await relationNames(client)))
    else if (!isTable)
      problems.push(`${where}: ${quotedName(relation)} is no table; name the tables behind it`)
    if (!isTable) continue
    const existing = await findColumns(client, found.oid)
    const known = [...existing.keys()]
    const keyColumns = key.flatMap((name) => existing.get(name) ?? [])
    const missing = [
      ...key.map((column) => ({ where: `${where}.key`, column })),
      ...columns.map((column) => ({ where: `${where}.columns`, column })),
    ].filter(({ column }) => !existing.has(column))
    problems.push(
      ...missing.map((use) => noColumn({ ...use, relation, known })),
      ...keyTypeProblems(`${where}.key`, keyColumns),
      ...keyColumns
        .filter(({ virtual }) => virtual)
        .map(({ name }) => `${where}.key: ${name} is a virtual generated column, which triggers cannot see`),
    )
    if (missing.length === 0 && !sameRelation(relation, config.customers.relation))
      warnings.push(...spellingWarnings(where, keyColumns, customersKey))
  }
  return { problems, warnings }
}

function spellingWarnings(where: string, watched: readonly FoundColumn[], customers: readonly FoundColumn[]) {
  return watched.flatMap((column, i) => {
    const other = customers[i]
    if (!other || !mayDiffer(column, other)) return []
    return `${where}.key: ${column.name} (${column.type}) must hold each key in exactly the same spelling as customers.key (${other.name}, ${other.type}), or changes of this table are missed`
  })
}

function mayDiffer(a: FoundColumn, b: FoundColumn): boolean {
  const family = keyFamily(a.base)
  if (family !== keyFamily(b.base) || a.loose || b.loose) return true
  // char(n) is read without its padding.
  const padded = (column: FoundColumn) => column.base.name === 'bpchar'
  return (family === 'numeric' && a.type !== b.type) || padded(a) !== padded(b)
}
