// What the page does once it is open: draws the charts, and lists and searches the findings.
import type { ReportedFinding } from '../report.ts'
import { columnsOf } from '../row.ts'
import { makeDrawing } from './charts.ts'
import { sayCount } from './count.ts'
import { MOST_LISTED, makeList } from './list.ts'
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
  listed?.finish()
  draw()
})
addEventListener('afterprint', () => {
  root.classList.remove('printing')
  for (const details of document.querySelectorAll('figure details')) details.removeAttribute('open')
  draw()
})

function openList(findings: readonly ReportedFinding[], table: HTMLTableElement, controls: HTMLFormElement) {
  const list = makeList(table, columnsOf(findings))
  const index = indexOf(findings)
  const count = document.getElementById('count')
  const area = table.parentElement
  const refresh = () => {
    const form = new FormData(controls)
    const found = matching(index, wantedOf(form))
    area?.scrollTo(0, 0)
    list.show(found)
    if (count === null) return
    const asked = { found: found.length, all: findings.length, by: namesOf(controls) }
    count.textContent = sayCount({ ...asked, most: MOST_LISTED })
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

/** What is asked for, in the words of the controls. */
function namesOf(controls: HTMLFormElement): string[] {
  return [...controls.elements].flatMap((control) => {
    if (control instanceof HTMLInputElement) return control.value.trim() ? [`“${control.value.trim()}”`] : []
    if (!(control instanceof HTMLSelectElement) || control.value === '') return []
    return [...control.selectedOptions].map(({ text }) => text)
  })
}

function wantedOf(form: FormData): Wanted {
  const text = (name: keyof Wanted) => String(form.get(name) ?? '')
  return {
    words: text('words'),
    access: text('access'),
    kind: text('kind'),
    cause: text('cause'),
    field: text('field'),
    state: text('state'),
  }
}
