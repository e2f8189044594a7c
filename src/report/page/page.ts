// Runs once the page is open: lists and searches the findings.
import type { ReportedFinding } from '../report.ts'
import { columnsOf, rowOf } from '../row.ts'
import { indexOf, MOST_LISTED, matching, renderCount } from './list.ts'

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
