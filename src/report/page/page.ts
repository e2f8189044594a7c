// What the page does once it is open: draws the charts, and lists and searches the findings.
import type { ReportedFinding } from '../report.ts'
import { makeDrawing } from './charts.ts'
import { makeList } from './list.ts'
import { indexOf, matching, type Wanted } from './search.ts'

const root = document.documentElement
const data = document.getElementById('findings')
const table = document.getElementById('list')
const controls = document.getElementById('controls')

const listed =
  data !== null && table instanceof HTMLTableElement && controls instanceof HTMLFormElement
    ? openList(JSON.parse(data.textContent ?? '[]') as ReportedFinding[], table, controls)
    : null

const draw = makeDrawing((filter, value) => listed?.choose(filter, value))

// With the chart above it the table is for whoever asks for it.
for (const details of document.querySelectorAll('figure details')) details.removeAttribute('open')
draw()
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)

addEventListener('beforeprint', () => {
  root.classList.add('printing')
  for (const details of document.querySelectorAll('figure details')) details.setAttribute('open', '')
  listed?.fillAll()
  draw()
})
addEventListener('afterprint', () => {
  root.classList.remove('printing')
  for (const details of document.querySelectorAll('figure details')) details.removeAttribute('open')
  listed?.refresh()
  draw()
})

function openList(findings: readonly ReportedFinding[], table: HTMLTableElement, controls: HTMLFormElement) {
  const list = makeList(table)
  const index = indexOf(findings)
  const count = document.getElementById('count')
  const many = (size: number) => new Intl.NumberFormat('en-GB').format(size)
  const refresh = () => {
    const found = matching(index, wantedOf(new FormData(controls)))
    list.show(found)
    const all = `${many(findings.length)} ${findings.length === 1 ? 'finding' : 'findings'}`
    if (count !== null)
      count.textContent = found.length === findings.length ? all : `${many(found.length)} of ${all}`
  }
  controls.hidden = false
  controls.addEventListener('input', refresh)
  controls.addEventListener('submit', (event) => event.preventDefault())
  // The fields are empty only when the event is over.
  controls.addEventListener('reset', () => setTimeout(refresh))
  refresh()
  return {
    refresh,
    fillAll: list.fillAll,
    choose(filter: string, value: string) {
      const control = controls.elements.namedItem(filter)
      if (!(control instanceof HTMLSelectElement)) return
      control.value = value
      refresh()
      controls.scrollIntoView({ block: 'start' })
    },
  }
}

function wantedOf(form: FormData): Wanted {
  const text = (name: keyof Wanted) => String(form.get(name) ?? '')
  return {
    words: text('words'),
    kind: text('kind'),
    cause: text('cause'),
    field: text('field'),
    state: text('state'),
  }
}
