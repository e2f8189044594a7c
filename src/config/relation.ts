/** A table or view; the schema is always named. */
export type Relation = { readonly schema: string; readonly name: string }

/**
 * Reads `schema.name` or `name` (then the schema is public). Written as Postgres stores it: capital letters
 * count, nothing is folded. A part that holds a dot or a quote is written in double quotes, as in SQL.
 * Undefined when it is no such name.
 */
export function parseRelation(text: string): Relation | undefined {
  const { schema, name } = RELATION.exec(text)?.groups ?? {}
  if (name === undefined) return undefined
  const relation = { schema: schema === undefined ? 'public' : unquoted(schema), name: unquoted(name) }
  return isIdentifier(relation.schema) && isIdentifier(relation.name) ? relation : undefined
}

/** A name that Postgres can hold as it is: longer ones would be cut silently and then not be found. */
export function isIdentifier(name: string): boolean {
  return name !== '' && !name.includes('\0') && name.isWellFormed() && Buffer.byteLength(name) <= MAX_BYTES
}

export function sameRelation(a: Relation, b: Relation): boolean {
  return a.schema === b.schema && a.name === b.name
}

const MAX_BYTES = 63
const RELATION = /^(?:(?<schema>"(?:[^"]|"")+"|[^".]+)\.)?(?<name>"(?:[^"]|"")+"|[^".]+)$/

function unquoted(part: string): string {
  return part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part
}
