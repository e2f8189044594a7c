// A restriction to some customers, by one of their columns.
import pg from 'pg'
import { asBase } from './key-sql.ts'

export type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=' | 'in' | 'is null' | 'is not null'

/** What has to hold of a customer's row; `values` as text, cast to the column's type by Postgres. */
export type Condition = {
  readonly column: string
  /** The column's type, as a cast; see `describeCustomers`. */
  readonly type: string
  /** The schema of this type's operators, quoted; see `FoundColumn`. */
  readonly operators: string
  /** The column is of a domain over that type. */
  readonly domain: boolean
  readonly operator: Operator
  readonly values: readonly string[]
}

/** The condition on `c`, its values as parameters from number `first` on; every value is one parameter. */
export function conditionSql(
  { column, type, operators, domain, operator, values }: Condition,
  first: number,
): string {
  const name = asBase(`c.${pg.escapeIdentifier(column)}`, { cast: type, domain })
  const at = (_: string, index: number) => `$${first + index}::${type}`
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
