// One finding as a row of the list: the page's script builds its rows by the same function as the file itself.
import type { Shown } from '../drift/words.ts'
import { minute } from './figures.ts'
import { type Markup, markup, NOTHING } from './markup.ts'
import type { ReportedFinding } from './report.ts'
import { CAUSE, KIND, RESOLUTION } from './words.ts'

/** By title, in their order; a narrow screen shows the titles as labels. */
const CELLS = {
  Customer: ({ key }: ReportedFinding) => markup`<bdi>${key}</bdi>`,
  User: ({ userId }: ReportedFinding) => markup`<bdi>${userId ?? '–'}</bdi>`,
  Kind: ({ kind }: ReportedFinding) => markup`<span class="kind ${kind}">${KIND[kind].name}</span>`,
  Access: ({ access }: ReportedFinding) => markup`${access ?? '–'}`,
  Fields: fieldsOf,
  Cause: ({ cause }: ReportedFinding) => markup`${cause === null ? '–' : CAUSE[cause].name}`,
  'First seen': ({ firstSeen }: ReportedFinding) => timeOf(firstSeen),
  'Last seen': ({ lastSeen }: ReportedFinding) => timeOf(lastSeen),
  State: stateOf,
}
export type Column = keyof typeof CELLS
const COLUMNS = Object.keys(CELLS) as Column[]

/** Where the user ids are the customer keys, as the simplest mapping makes them, a second column tells nothing. */
export function columnsOf(findings: readonly ReportedFinding[]): readonly Column[] {
  const same = findings.every(({ key, userId }) => key === userId)
  return COLUMNS.filter((column) => column !== 'User' || !same)
}

export function rowOf(finding: ReportedFinding, columns: readonly Column[]): Markup {
  const cells = columns.map((column) => {
    const cell = CELLS[column](finding)
    return column === 'Customer'
      ? markup`<th role="rowheader" scope="row" data-label="${column}">${cell}</th>`
      : markup`<td role="cell" data-label="${column}">${cell}</td>`
  })
  return markup`<tr role="row">${cells}</tr>`
}

function timeOf(iso: string): Markup {
  return markup`<time datetime="${iso}">${minute(iso)}</time>`
}

function fieldsOf({ fields, shown }: ReportedFinding): Markup {
  const values = new Map(shown.map((each) => [each.field, each]))
  const named = [...new Set([...fields, ...values.keys()])]
  if (named.length === 0) return markup`–`
  const said = named.map((field) => markup`<div><code>${field}</code>${valuesOf(values.get(field))} </div>`)
  return markup`${said}`
}

function valuesOf(shown: Shown | undefined): Markup {
  if (shown === undefined) return NOTHING
  return markup` <span class="values">${renderValue(shown.here)} here, ${renderValue(shown.service)} at the service</span>`
}

function renderValue(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (value === '') return 'empty'
  return typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
}

function stateOf({ checks, repairs, resolvedAt, resolvedHow }: ReportedFinding): Markup {
  if (resolvedAt !== null)
    return markup`<span class="over">Over: ${resolvedHow === null ? 'no longer seen' : RESOLUTION[resolvedHow]}</span>`
  if (checks < 2) return markup`Suspected`
  const often = repairs === 1 ? 'once' : `${repairs} times`
  return markup`Open${repairs === 0 ? '' : `, repair requested ${often}`}`
}
