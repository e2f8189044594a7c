// Runs once the page is open: draws the charts, and lists and searches the findings.
import type { ReportedFinding } from '../report.ts'
import { columnsOf } from '../row.ts'
import { makeDrawing } from './charts.ts'
import { indexOf, makeList, matching, renderCount } from './list.ts'

const root = document.documentElement
const data = document.getElementById('findings')
const table = document.getElementById('list')
const controls = document.getElementById('controls')

const listed =
  data !== null && table instanceof HTMLTableElement && controls instanceof HTMLFormElement
    ? openList(JSON.parse(data.textContent ?? '[]') as ReportedFinding[], table, controls)
    : null

const draw = makeDrawing((filter, value) => listed?.choose(filter, value))

/** With the chart above it a table is for a reader who asks for it; on paper it has the figures. */
function drawWith(tables: 'open' | 'closed') {
  for (const details of document.querySelectorAll('figure details'))
    details.toggleAttribute('open', tables === 'open')
  draw()
}

drawWith('closed')
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)

addEventListener('beforeprint', () => {
  root.classList.add('printing')
  listed?.finish()
  drawWith('open')
})
addEventListener('afterprint', () => {
  root.classList.remove('printing')
  drawWith('closed')
})

function openList(findings: readonly ReportedFinding[], table: HTMLTableElement, controls: HTMLFormElement) {
  const list = makeList(table, columnsOf(findings))
  const index = indexOf(findings)
  const count = document.getElementById('count')
  const area = table.parentElement
  const refresh = () => {
    const wanted = [...new FormData(controls)].map(([name, value]) => [name, String(value)])
    const found = matching(index, Object.fromEntries(wanted))
    area?.scrollTo(0, 0)
    list.show(found)
    if (count !== null) count.textContent = renderCount(found.length, findings.length, namesOf(controls))
  }
  controls.hidden = false
  controls.addEventListener('input', refresh)
  controls.addEventListener('submit', (event) => event.preventDefault())
  // The fields are empty only when the event is over.
  controls.addEventListener('reset', () => setTimeout(refresh))
  refresh()
  return {
    finish: list.finish,
    choose(filter: string, value: string) {
      const control = controls.elements.namedItem(filter)
      if (!(control instanceof HTMLSelectElement)) return
      control.value = value
      refresh()
      controls.scrollIntoView({ block: 'start' })
    },
  }
}

/** The chosen filters, in the words of the controls. */
function namesOf(controls: HTMLFormElement): string[] {
  return [...controls.elements].flatMap((control) => {
    if (control instanceof HTMLInputElement) return control.value.trim() ? [`“${control.value.trim()}”`] : []
    if (!(control instanceof HTMLSelectElement) || control.value === '') return []
    return [...control.selectedOptions].map(({ text }) => text)
  })
}
