// The charts as tables, which is what they are without a script, on paper and to a screen reader; the page's script
// draws each from its table, so that no figure is there twice.
import type { DriftTally } from '../drift/words.ts'
import { conclude, driftingOf, shareOf } from './conclude.ts'
import { figure, minute, percent, tied } from './figures.ts'
import { type Markup, markup, NOTHING } from './markup.ts'
import type { PastRun, Report } from './report.ts'
import { CAUSE, KIND } from './words.ts'

export function charts(report: Report): Markup {
  const { kinds, causes, fields } = report.counts
  // Figures of answers that nobody can believe would be looked at all the same.
  const found = conclude(report) === 'not-credible' ? [] : [byKind(kinds), byCause(causes), byField(fields)]
  const drawn = [...found, trend(report)].filter((chart) => chart !== NOTHING)
  if (drawn.length === 0) return NOTHING
  return markup`<section class="charts" aria-label="Charts">${drawn}</section>`
}

function byKind(kinds: DriftTally['kinds']): Markup {
  const rows = entriesOf(kinds).map(([kind, count]) => ({ value: kind, ...KIND[kind], count }))
  return bars({ title: 'By kind', filter: 'kind', rows })
}

function byCause(causes: DriftTally['causes']): Markup {
  const rows = entriesOf(causes).map(([cause, count]) => ({ value: cause, ...CAUSE[cause], count }))
  return bars({ title: 'By cause', filter: 'cause', rows })
}

function byField(fields: DriftTally['fields']): Markup {
  const rows = entriesOf(fields).map(([field, count]) => ({ value: field, name: field, means: '', count }))
  return bars({ title: 'By field', filter: 'field', rows, note: 'A customer may differ in several fields.' })
}

type Bars = {
  readonly title: string
  /** The control of the list that a click on a bar sets. */
  readonly filter: 'kind' | 'cause' | 'field'
  readonly rows: readonly {
    readonly value: string
    readonly name: string
    readonly means: string
    readonly count: number
  }[]
  readonly note?: string
}

function bars({ title, filter, rows, note }: Bars): Markup {
  if (rows.length === 0) return NOTHING
  const cells = rows.map(
    ({
      value,
      name,
      means,
      count,
    }) => markup`<tr data-value="${value}" data-label="${name}" data-count="${count}">
<th scope="row">${name}${means === '' ? NOTHING : markup`<small>${means}</small>`}</th><td>${figure(count)}</td></tr>\n`,
  )
  const told = rows.map(({ name, count }) => `${name} ${figure(count)}`).join(', ')
  return markup`<figure data-chart="bars" data-filter="${filter}">
<figcaption>${title}</figcaption>
<div class="drawing" hidden><canvas role="img" aria-label="${title}: ${told}"></canvas></div>
${note === undefined ? NOTHING : markup`<p class="note">${note}</p>`}
<details open><summary>As a table</summary>
<table><thead><tr><th scope="col">${title.replace('By ', '')}</th><th scope="col">customers</th></tr></thead>
<tbody>${cells}</tbody></table></details>
</figure>
`
}

/** Earlier runs and this one, where its figures can be believed; one alone is no trend. */
function trend(report: Report): Markup {
  const runs = [...report.trend, ...thisRun(report)].filter(({ checked }) => checked > 0)
  if (runs.length < 2) return NOTHING
  const rows = runs.map((run) => {
    const drifting = run.drifting ?? 0
    const share = shareOf(drifting, run.checked) ?? 0
    const drawn = run.credible ? markup` data-at="${run.endedAt}" data-share="${share}"` : NOTHING
    return markup`<tr${drawn}${run.sampled ? markup` data-sampled` : NOTHING}>
<th scope="row">${tied(minute(run.endedAt))}</th><td>${whatRan(run)}</td><td>${figure(run.checked)}</td>
<td>${run.credible ? figure(drifting) : '–'}</td><td>${run.credible ? tied(percent(share)) : 'not credible'}</td></tr>\n`
  })
  const sampled = runs.some((run) => run.sampled && run.credible)
  return markup`<figure data-chart="trend">
<figcaption>Share of drift over time</figcaption>
<div class="drawing" hidden><canvas role="img" aria-label="Share of drift over time; the table below has the figures"></canvas></div>
${sampled ? markup`<p class="note">A hollow point is the estimate of a sample.</p>\n` : NOTHING}<details open><summary>As a table</summary>
<table><thead><tr><th scope="col">ended</th><th scope="col">what</th><th scope="col">checked</th>
<th scope="col">drift</th><th scope="col">share</th></tr></thead>
<tbody>${rows}</tbody></table></details>
</figure>
`
}

function thisRun(report: Report): PastRun[] {
  if (conclude(report) === 'not-credible') return []
  const { endedAt, counts, options, estimate } = report
  const kind = options.from === 'ledger' ? 'ledger' : 'run'
  const sampled = estimate !== null
  return [{ kind, endedAt, checked: counts.checked, drifting: driftingOf(counts), sampled, credible: true }]
}

function whatRan({ kind, sampled }: PastRun): string {
  if (kind === 'ledger') return 'what is known'
  return sampled ? 'sample' : 'everybody'
}

/** The most first. */
function entriesOf<Word extends string>(counts: Readonly<Partial<Record<Word, number>>>): [Word, number][] {
  const entries = (Object.entries(counts) as [Word, number][]).filter(([, count]) => count > 0)
  return entries.sort(([, one], [, other]) => other - one)
}
