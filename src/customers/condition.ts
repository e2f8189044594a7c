// A restriction to some customers, by one of their columns.
import pg from 'pg'
import type { KeyColumn } from './catalog.ts'
import { asBase } from './key.ts'

export type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=' | 'in' | 'is null' | 'is not null'

/** What has to hold of a customer's row; `values` as text, cast to the column's type by Postgres. */
export type Condition = Omit<KeyColumn, 'base'> & {
  readonly operator: Operator
  readonly values: readonly string[]
}

/** The condition on `c`, its values as parameters from number `first` on; every value is one parameter. */
export function conditionSql({ operators, operator, values, ...column }: Condition, first: number): string {
  const name = asBase(`c.${pg.escapeIdentifier(column.name)}`, column)
  const at = (_: string, index: number) => `$${first + index}::${column.cast}`
  switch (operator) {
    case 'is null':
    case 'is not null':
      return `${name} ${operator}`
    case 'in':
      return `${name} OPERATOR(${operators}.=) ANY (ARRAY[${values.map(at).join(', ')}])`
    default:
      return `${name} OPERATOR(${operators}.${operator}) ${at('', 0)}`
  }
}

/** Each of several, its values as the parameters after those of the ones before it. */
export function conditionsSql(conditions: readonly Condition[], first: number): readonly string[] {
  let next = first
  return conditions.map((condition) => {
    const sql = conditionSql(condition, next)
    next += condition.values.length
    return sql
  })
}
