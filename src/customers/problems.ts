// The words for what does not fit between the configuration and the database: names and types, never values.
import type { Relation } from '../config/config.ts'
import { closest } from '../model/closest.ts'
import type { FoundColumn } from './catalog.ts'
import { keyFamily } from './key-type.ts'

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
  return `there is no column ${column} in ${quotedName(relation)}`
}

export function keyTypeProblems(where: string, key: readonly FoundColumn[]): readonly string[] {
  return key
    .filter(({ base, domain }) => keyFamily(base) === undefined || (domain && base.name === 'bpchar'))
    .map(
      ({ name, type }) =>
        `${where}: ${name} is of type ${type}, which has no one text for a value; expected an integer, numeric, text, uuid or enum column (of char(n) itself, not of a domain over it)`,
    )
}

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : `; did you mean ${meant}?`
}
