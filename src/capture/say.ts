// Words for people about capture.
import { quotedName } from '../customers/problems.ts'
import type { CaptureMark } from './marks.ts'
import type { TableState, TableStatus } from './status.ts'

export function sayStatus(tables: readonly TableStatus[]): readonly string[] {
  if (tables.length === 0) return ['No table is watched, and no capture trigger is installed.']
  const width = Math.max(...tables.map(({ relation }) => quotedName(relation).length))
  return tables.map(({ relation, state, reasons }) => {
    const why = reasons.length > 0 ? ` (${reasons.join('; ')})` : ''
    return `${quotedName(relation).padEnd(width)}  ${sayState(state)}${why}`
  })
}

function sayState(state: TableState): string {
  switch (state) {
    case 'fits':
      return 'captured'
    case 'missing':
      return 'not captured; run `rollcall capture install`'
    case 'misnamed':
      return 'is not what the configuration says; correct one of them, then run `rollcall capture install`'
    case 'outdated':
      return 'does not fit the configuration; run `rollcall capture install`'
    case 'disabled':
      return 'triggers are disabled; run `rollcall capture install`'
    case 'leftover':
      return 'more is captured than is watched; `rollcall capture install` removes it'
    default:
      return state satisfies never
  }
}

export function sayMarks(marks: readonly CaptureMark[]): readonly string[] {
  return marks.map(({ kind, relation, since }) =>
    kind === 'truncate'
      ? `${relation} was truncated at ${since}; nobody was revoked for it. Run \`rollcall capture resync\`.`
      : `${relation}: changes since ${since} were not captured. A running worker looks at everybody again.`,
  )
}
