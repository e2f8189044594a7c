// The charts: tables in which every row has its bar, so that paper and a screen reader get the same figures.
import { conclude, driftingOf, mostFirst, shareOf } from './conclude.ts'
import { figure, minute, percent } from './figures.ts'
import { type Markup, markup, NOTHING, tableOf } from './markup.ts'
import type { PastRun, Report } from './report.ts'
import { CAUSE, KIND, type Named } from './words.ts'

const SEVERAL = markup`<p class="note">A customer may differ in several fields.</p>`

/** Fields stand for themselves. */
const BARS = [
  { by: 'kind', of: 'kinds', names: KIND, note: NOTHING },
  { by: 'cause', of: 'causes', names: CAUSE, note: NOTHING },
  { by: 'field', of: 'fields', names: {}, note: SEVERAL },
] as const

export function charts(report: Report): Markup {
  // Figures that are not credible would be read all the same.
  const found = conclude(report) === 'not-credible' ? [] : BARS.map((each) => bars(report, each))
  const drawn = [...found, trend(report)].filter((each) => each !== NOTHING)
  if (drawn.length === 0) return NOTHING
  return markup`<section class="charts" aria-label="Charts">${drawn}</section>`
}

function bars({ counts }: Report, { by, of, names, note }: (typeof BARS)[number]): Markup {
  const words: Readonly<Partial<Record<string, Named>>> = names
  const entries = mostFirst<string>(counts[of])
  const most = entries[0]?.[1]
  if (most === undefined) return NOTHING
  const rows = entries.map(([value, count]) => {
    const { name, means } = words[value] ?? { name: value, means: '' }
    return markup`<tr><th scope="row">${name}${means === '' ? NOTHING : markup`<small>${means}</small>`}</th>
<td>${figure(count)}${bar(count / most, value)}</td></tr>\n`
  })
  return chart(`By ${by}`, tableOf([by, 'customers'], rows), note)
}

/** The last column of the table has the bars. */
function chart(title: string, table: Markup, note = NOTHING): Markup {
  return markup`<figure><figcaption>${title}</figcaption>${note}${table}</figure>\n`
}

/** In SVG, whose sizes are attributes: the policy of the page lets no element have a style. Kinds have colours of their own. */
function bar(share: number, kind = ''): Markup {
  return markup`<svg class="bar ${kind}" aria-hidden="true"><rect width="${share * 100}%" height="100%"/></svg>`
}

/** Earlier runs and this one, where its figures are credible; one alone is no trend. */
function trend(report: Report): Markup {
  const runs = [...report.trend, ...thisRun(report)].filter(({ checked }) => checked > 0)
  if (runs.length < 2) return NOTHING
  const driftOf = ({ credible, drifting, checked }: PastRun) =>
    credible ? (shareOf(drifting ?? 0, checked) ?? 0) : null
  const most = Math.max(...runs.map((run) => driftOf(run) ?? 0))
  const rows = runs.map((run) => {
    const share = driftOf(run)
    const what = run.kind === 'ledger' ? 'earlier checks' : run.sampled ? 'sample' : 'full run'
    return markup`<tr><th scope="row">${minute(run.endedAt)}</th><td>${figure(run.checked)} (${what})</td>
<td>${share === null ? '–' : figure(run.drifting ?? 0)}</td>
<td>${share === null ? 'not credible' : percent(share)}${share ? bar(share / most) : NOTHING}</td></tr>\n`
  })
  return chart('Customers that differ, over time', tableOf(['ended', 'checked', 'differ', 'share'], rows))
}

function thisRun(report: Report): PastRun[] {
  if (conclude(report) === 'not-credible') return []
  const { endedAt, counts, options, estimate } = report
  const kind = options.from === 'ledger' ? 'ledger' : 'run'
  const sampled = estimate !== null
  return [{ kind, endedAt, checked: counts.checked, drifting: driftingOf(counts), sampled, credible: true }]
}
