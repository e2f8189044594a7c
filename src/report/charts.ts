// The charts as tables, which is what they are without a script, on paper and to a screen reader; the page's script
// draws each from its table, so that no figure is there twice.
import { conclude, driftingOf, mostFirst, shareOf } from './conclude.ts'
import { figure, minute, percent, tied } from './figures.ts'
import { type Markup, markup, NOTHING } from './markup.ts'
import type { PastRun, Report } from './report.ts'
import { CAUSE, KIND, type Named } from './words.ts'

/** `filter`: the control of the list that a click on a bar sets. Fields stand for themselves. */
const BARS = [
  { filter: 'kind', of: 'kinds', names: KIND, note: undefined },
  { filter: 'cause', of: 'causes', names: CAUSE, note: undefined },
  { filter: 'field', of: 'fields', names: {}, note: 'A customer may differ in several fields.' },
] as const

export function charts(report: Report): Markup {
  // Figures that are not credible would be read all the same.
  const found = conclude(report) === 'not-credible' ? [] : BARS.map((each) => bars(report, each))
  const drawn = [...found, trend(report)].filter((each) => each !== NOTHING)
  if (drawn.length === 0) return NOTHING
  return markup`<section class="charts" aria-label="Charts">${drawn}</section>`
}

function bars({ counts }: Report, { filter, of, names, note }: (typeof BARS)[number]): Markup {
  const words: Readonly<Partial<Record<string, Named>>> = names
  const entries = mostFirst<string>(counts[of])
  if (entries.length === 0) return NOTHING
  const rows = entries.map(([value, count]) => ({
    value,
    count,
    ...(words[value] ?? { name: value, means: '' }),
  }))
  const cells = rows.map(
    ({ value, name, means, count }) =>
      markup`<tr data-value="${value}" data-label="${name}" data-count="${count}">
<th scope="row">${name}${means === '' ? NOTHING : markup`<small>${means}</small>`}</th><td>${figure(count)}</td></tr>\n`,
  )
  const said = rows.map(({ name, count }) => `${name} ${figure(count)}`).join(', ')
  return chart({
    data: markup`data-chart="bars" data-filter="${filter}"`,
    ...{ title: `By ${filter}`, label: `By ${filter}: ${said}`, note, rows: cells },
    columns: [filter, 'customers'],
  })
}

type Chart = {
  readonly data: Markup
  readonly title: string
  readonly label: string
  readonly note?: string | undefined
  readonly columns: readonly string[]
  readonly rows: readonly Markup[]
}

function chart({ data, title, label, note, columns, rows }: Chart): Markup {
  return markup`<figure ${data}>
<figcaption>${title}</figcaption>
<div class="drawing" hidden><canvas role="img" aria-label="${label}"></canvas></div>
${note === undefined ? NOTHING : markup`<p class="note">${note}</p>`}
<details open><summary>As a table</summary>
<table><thead><tr>${columns.map((column) => markup`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></details>
</figure>
`
}

/** Earlier runs and this one, where its figures are credible; one alone is no trend. */
function trend(report: Report): Markup {
  const runs = [...report.trend, ...thisRun(report)].filter(({ checked }) => checked > 0)
  if (runs.length < 2) return NOTHING
  const rows = runs.map((run) => {
    const drifting = run.drifting ?? 0
    const share = shareOf(drifting, run.checked) ?? 0
    const what = run.kind === 'ledger' ? 'what is known' : run.sampled ? 'sample' : 'all customers'
    const drawn = run.credible ? markup` data-at="${run.endedAt}" data-share="${share}"` : NOTHING
    return markup`<tr${drawn}${run.sampled ? markup` data-sampled` : NOTHING}>
<th scope="row">${tied(minute(run.endedAt))}</th><td>${what}</td><td>${figure(run.checked)}</td>
<td>${run.credible ? figure(drifting) : '–'}</td><td>${run.credible ? tied(percent(share)) : 'not credible'}</td></tr>\n`
  })
  const sampled = runs.some((run) => run.sampled && run.credible)
  return chart({
    data: markup`data-chart="trend"`,
    title: 'Share of drift over time',
    label: 'Share of drift over time; the table below has the figures',
    note: sampled ? 'A hollow point is the estimate of a sample.' : undefined,
    columns: ['ended', 'what', 'checked', 'drift', 'share'],
    rows,
  })
}

function thisRun(report: Report): PastRun[] {
  if (conclude(report) === 'not-credible') return []
  const { endedAt, counts, options, estimate } = report
  const kind = options.from === 'ledger' ? 'ledger' : 'run'
  const sampled = estimate !== null
  return [{ kind, endedAt, checked: counts.checked, drifting: driftingOf(counts), sampled, credible: true }]
}
