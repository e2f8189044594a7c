// One finding as a row of the list: the page's script builds its rows by the same function as the file itself.
import type { DriftField, Shown } from '../drift/words.ts'
import { minute } from './figures.ts'
import { type Markup, markup, NOTHING } from './markup.ts'
import type { ReportedFinding } from './report.ts'
import { CAUSE, KIND, RESOLUTION } from './words.ts'

/** In the order of the cells; a narrow screen shows them as labels. */
const LIST_COLUMNS = [
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
export type Column = (typeof LIST_COLUMNS)[number]

/** Where the user ids are the customer keys, as the simplest mapping makes them, a second column tells nothing. */
export function columnsOf(findings: readonly ReportedFinding[]): readonly Column[] {
  const same = findings.every(({ key, userId }) => key === userId)
  return LIST_COLUMNS.filter((column) => column !== 'User' || !same)
}

export function rowOf(finding: ReportedFinding, columns: readonly Column[]): Markup {
  const { key, userId, kind, access, cause, firstSeen, lastSeen } = finding
  const cells: readonly Markup[] = [
    markup`<bdi>${key}</bdi>`,
    markup`<bdi>${userId ?? '–'}</bdi>`,
    markup`<span class="kind ${kind}">${KIND[kind].name}</span>`,
    access === null ? markup`–` : markup`${access}`,
    fieldsOf(finding),
    cause === null ? markup`–` : markup`${CAUSE[cause].name}`,
    timeOf(firstSeen),
    timeOf(lastSeen),
    stateOf(finding),
  ]
  const labelled = cells.map((cell, n) => {
    const column = LIST_COLUMNS[n] ?? 'Customer'
    if (!columns.includes(column)) return NOTHING
    // Whom a row is about stands in its title.
    return column === 'Customer'
      ? markup`<th role="rowheader" scope="row" data-label="${column}">${cell}</th>`
      : markup`<td role="cell" data-label="${column}">${cell}</td>`
  })
  return markup`<tr role="row">${labelled}</tr>`
}

/** A narrow column breaks it between day and time alone. */
function timeOf(iso: string): Markup {
  const [day = '', ...time] = minute(iso).split(' ')
  return markup`<time datetime="${iso}"><span>${day}</span> <span>${time.join(' ')}</span></time>`
}

function fieldsOf({ fields, shown }: ReportedFinding): Markup {
  const values = new Map<DriftField, Shown>(shown.map((each) => [each.field, each]))
  const named = new Set([...fields, ...values.keys()])
  if (named.size === 0) return markup`–`
  return markup`${[...named].map((field) => markup`<span class="field"><code>${field}</code>${valuesOf(values.get(field))}</span> `)}`
}

function valuesOf(shown: Shown | undefined): Markup {
  if (shown === undefined) return NOTHING
  return markup` <span class="values">${sayValue(shown.here)} here, ${sayValue(shown.service)} there</span>`
}

function sayValue(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (value === '') return 'empty'
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
