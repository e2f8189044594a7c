// Runs once the page is open: lists and searches the findings, and says how many are listed.
import { counted, figure, minute } from '../figures.ts'
import type { ReportedFinding } from '../report.ts'
import { columnsOf, rowOf } from '../row.ts'
import { ACCESS, CAUSE, KIND } from '../words.ts'

/** Only the first ones are listed beyond this, since more rows would make every letter of a search wait. */
const MOST_LISTED = 1000

const data = document.getElementById('findings')
const table = document.getElementById('list')
const controls = document.getElementById('controls')

if (data !== null && table instanceof HTMLTableElement && controls instanceof HTMLFormElement)
  openList(JSON.parse(data.textContent ?? '[]') as ReportedFinding[], table, controls)

function openList(findings: readonly ReportedFinding[], table: HTMLTableElement, controls: HTMLFormElement) {
  const columns = columnsOf(findings)
  const index = indexOf(findings)
  const [body] = table.tBodies
  const count = document.getElementById('count')
  const refresh = () => {
    const wanted = [...new FormData(controls)].map(([name, value]) => [name, String(value)])
    const found = matching(index, Object.fromEntries(wanted))
    const rows = found.slice(0, MOST_LISTED).map((finding) => rowOf(finding, columns).html)
    table.parentElement?.scrollTo(0, 0)
    if (body !== undefined) body.innerHTML = rows.join('')
    if (count !== null) count.textContent = renderCount(found.length, findings.length, namesOf(controls))
  }
  controls.hidden = false
  controls.addEventListener('input', refresh)
  controls.addEventListener('submit', (event) => event.preventDefault())
  // The fields are empty only when the event is over.
  controls.addEventListener('reset', () => setTimeout(refresh))
  refresh()
}

/** The chosen filters, in the words of the controls. */
function namesOf(controls: HTMLFormElement): string[] {
  return [...controls.elements].flatMap((control) => {
    if (control instanceof HTMLInputElement) return control.value.trim() ? [`“${control.value.trim()}”`] : []
    if (!(control instanceof HTMLSelectElement) || control.value === '') return []
    return [...control.selectedOptions].map(({ text }) => text)
  })
}

/**
 * A reader who prints or searches the list must not take a part for the whole. `by`: what the controls ask for; on
 * paper those cannot be seen.
 */
function renderCount(found: number, all: number, by: readonly string[]): string {
  const findings = counted(all, 'finding')
  const said = by.length === 0 ? findings : `${figure(found)} of ${findings}: ${by.join(', ')}`
  if (found <= MOST_LISTED) return said
  return `${said}. Only the first ${figure(MOST_LISTED)} are listed here; the search above checks all, and --format csv has them.`
}

/** `text`: what a row shows apart from its state, in small letters. `choices`: what each control finds it by. */
type Indexed = {
  readonly finding: ReportedFinding
  readonly text: string
  readonly choices: Readonly<Record<string, readonly (string | null)[]>>
}

function indexOf(findings: readonly ReportedFinding[]): Indexed[] {
  return findings.map((finding) => {
    const { key, userId, kind, access, cause, fields, firstSeen, lastSeen, resolvedAt, shown } = finding
    const values = shown.flatMap(({ here, service }) => [here, service]).map(String)
    const why = cause === null ? [] : [cause, CAUSE[cause].name]
    const wrong = access === null ? [] : [ACCESS[access].name, ACCESS[access].means]
    const names = [kind, KIND[kind].name, ...wrong, ...why, ...fields]
    const times = [minute(firstSeen), minute(lastSeen)]
    const state = [resolvedAt === null ? 'open' : 'over']
    return {
      finding,
      text: plain([key, userId ?? '', ...names, ...times, ...values].join('\n')),
      choices: { access: [access], kind: [kind], cause: [cause], field: fields, state },
    }
  })
}

type Wanted = Readonly<Record<string, string>>

/** Every word has to be somewhere in the row, in any order. `wanted`: by control; an empty text asks for nothing. */
function matching(index: readonly Indexed[], { words = '', ...wanted }: Wanted): ReportedFinding[] {
  const asked = plain(words).split(/\s+/).filter(Boolean)
  const chosen = Object.entries(wanted).filter(([, value]) => value !== '')
  return index
    .filter(({ choices }) => chosen.every(([name, value]) => choices[name]?.includes(value)))
    .filter(({ text }) => asked.every((word) => text.includes(word)))
    .map(({ finding }) => finding)
}

function plain(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
