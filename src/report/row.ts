// One finding as a row of the list: the page's script builds its rows by the same function as the file itself.
import type { Shown } from '../drift/words.ts'
import { minute } from './figures.ts'
import { type Markup, markup, NOTHING } from './markup.ts'
import type { ReportedFinding } from './report.ts'
import { CAUSE, KIND, RESOLUTION } from './words.ts'

/** In the order of the cells; a narrow screen shows them as labels. */
export const COLUMNS = [
  'Customer',
  'User',
  'Kind',
  'Access',
  'Fields',
  'Cause',
  'First seen',
  'Last seen',
  'State',
] as const

/** `position` counts from 1 in what is listed now: most rows are not in the document while nobody sees them. */
export function rowOf(finding: ReportedFinding, position: number): Markup {
  const { key, userId, kind, access, cause, firstSeen, lastSeen } = finding
  const cells: readonly Markup[] = [
    markup`<bdi>${key}</bdi>`,
    markup`<bdi>${userId ?? '–'}</bdi>`,
    markup`<span class="kind ${kind}">${KIND[kind].name}</span>`,
    access === null ? markup`–` : markup`${access}`,
    fieldsOf(finding),
    cause === null ? markup`–` : markup`${CAUSE[cause].name}`,
    markup`${minute(firstSeen)}`,
    markup`${minute(lastSeen)}`,
    stateOf(finding),
  ]
  const labelled = cells.map(
    (cell, n) => markup`<td role="cell" data-label="${COLUMNS[n] ?? ''}"><div>${cell}</div></td>`,
  )
  // The row of titles is the first.
  return markup`<tr role="row" aria-rowindex="${position + 1}">${labelled}</tr>`
}

function fieldsOf({ fields, shown }: ReportedFinding): Markup {
  if (fields.length === 0) return markup`–`
  const values = new Map(shown.map((each) => [each.field, each]))
  return markup`${fields.map((field) => markup`<span class="field"><code>${field}</code>${valuesOf(values.get(field))}</span> `)}`
}

function valuesOf(shown: Shown | undefined): Markup {
  if (shown === undefined) return NOTHING
  return markup` <span class="values">${sayValue(shown.here)} here, ${sayValue(shown.service)} there</span>`
}

function sayValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty'
  return typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
}

function stateOf({ looks, repairs, resolvedAt, resolvedHow }: ReportedFinding): Markup {
  if (resolvedAt !== null)
    return markup`<span class="over">Over: ${resolvedHow === null ? 'no longer seen' : RESOLUTION[resolvedHow]}</span>`
  if (looks < 2) return markup`Suspected`
  return repairs === 0
    ? markup`Open`
    : markup`Open, repair owed ${repairs === 1 ? 'once' : `${repairs} times`}`
}
