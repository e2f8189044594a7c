// The parts of the page besides its headline and charts.
import { totalOf } from '../drift/tally.ts'
import { agreementOf, conclude, driftingOf, mostFirst, wrongAccess } from './conclude.ts'
import { counted, figure, percent } from './figures.ts'
import { type Markup, markup, NOTHING, prose, tableOf } from './markup.ts'
import { notReached } from './render.ts'
import type { Report, ReportedFinding } from './report.ts'
import { columnsOf, rowOf } from './row.ts'
import { renderScope } from './scope.ts'
import { ACCESS, CAUSE, KIND, type Named, NO_ANSWER, SKIP } from './words.ts'

export function personal({ findings }: Report): Markup {
  if (findings.every(({ shown }) => shown.length === 0)) return NOTHING
  return markup`<p class="personal" role="note"><strong>This page holds personal data of customers:</strong> the values of fields that differ. Give it only to people who may see them, and delete it after use.</p>`
}

/** Shown also where they are 0; and where the answers are not credible. */
const ALWAYS = ['Checked', 'Agree', 'Differ']
const WITHOUT_CREDIT = ['Checked', 'Held', 'Skipped', 'No answer']

export function cards(report: Report): Markup {
  const { counts, population, suspected } = report
  const { held } = agreementOf(counts)
  const credible = conclude(report) !== 'not-credible'
  const drifting = driftingOf(counts)
  const share = (part: number) =>
    counts.checked === 0 ? 'none checked' : `${percent(part / counts.checked)} of checked`
  const cards: readonly (readonly [label: string, many: number, note: string])[] = [
    ...wrongAccess(counts).map(({ which, many, means }) => [ACCESS[which].name, many, means] as const),
    ['Checked', counts.checked, `of ${counted(population, 'customer')}`],
    ['Agree', counts.agrees, share(counts.agrees)],
    ['Differ', drifting, share(drifting)],
    ['Held', held, 'by the brake: not checked'],
    ['Trial ended', counts.kinds['trial-ended'] ?? 0, 'no drift'],
    ['Suspected', suspected, 'not confirmed'],
    ['Skipped', totalOf(counts.skipped) - held, 'not compared'],
    ['No answer', totalOf(counts.noAnswer), 'not known'],
  ]
  const shown = cards.filter(
    ([label, many]) => (many > 0 || ALWAYS.includes(label)) && (credible || WITHOUT_CREDIT.includes(label)),
  )
  return markup`<dl class="cards">${shown.map(
    ([label, many, note]) =>
      markup`<div><dt>${label}</dt><dd>${figure(many)}</dd><dd class="note">${note}</dd></div>`,
  )}</dl>`
}

/** Rows that are in the file itself, for a reader without scripts. */
const STATIC = 100

/** More than these scroll in an area of their own: what follows the list stays near, also on a phone. */
const FEW = 10

/** The script takes the rows over, and shows the controls. */
export function list({ findings }: Report): Markup {
  if (findings.length === 0) return NOTHING
  const columns = columnsOf(findings)
  const rows = findings.slice(0, STATIC).map((finding) => rowOf(finding, columns))
  const left = findings.length - rows.length
  const titles = columns.map(
    (title) => markup`<th role="columnheader" scope="col" data-label="${title}">${title}</th>`,
  )
  return markup`<section class="list">
<h2 id="found">Findings</h2>
${controls(findings)}
<p id="count" role="status">${counted(findings.length, 'finding')}</p>
${columns.includes('User') ? NOTHING : markup`<p class="note">Each customer's user_id is the customer's key.</p>\n`}<div class="area${findings.length > FEW ? ' many' : ''}" role="region" aria-labelledby="found" tabindex="0">
<table role="table" id="list" aria-labelledby="found">
<thead role="rowgroup"><tr role="row">${titles}</tr></thead>
<tbody role="rowgroup">${rows}</tbody>
</table>
</div>
${left === 0 ? NOTHING : markup`<noscript><p>and ${figure(left)} more, shown only with JavaScript; --format csv has all of them.</p></noscript>`}
</section>`
}

function controls(findings: readonly ReportedFinding[]): Markup {
  const fields = [...new Set(findings.flatMap(({ fields }) => fields))].sort()
  const over = findings.some(({ resolvedAt }) => resolvedAt !== null)
  type Choice = readonly (readonly [value: string, text: string])[]
  const choices: Readonly<Record<string, Choice>> = {
    Access: named(ACCESS, ({ access }) => access),
    Kind: named(KIND, ({ kind }) => kind),
    Cause: named(CAUSE, ({ cause }) => cause),
    Field: fields.map((field) => [field, field]),
    State: over ? Object.entries({ open: 'Open', over: 'Over' }) : [],
  }
  /** The names that occur, in the order of the words. */
  function named(names: Readonly<Record<string, Named>>, of: (finding: ReportedFinding) => string | null) {
    const there = findings.map(of)
    const words = Object.entries(names).filter(([word]) => there.includes(word))
    return words.map(([word, { name }]) => [word, name] as const)
  }
  const selects = Object.entries(choices).flatMap(([label, options]) =>
    options.length === 0
      ? []
      : markup`<label>${label} <select name="${label.toLowerCase()}"><option value="">All</option>${options.map(
          ([value, text]) => markup`<option value="${value}">${text}</option>`,
        )}</select></label>\n`,
  )
  return markup`<form id="controls" hidden>
<label>Search <input type="search" name="words" placeholder="customer, user, field, date" autocomplete="off" spellcheck="false"></label>
${selects}<button type="reset">Show all</button>
</form>`
}

export function scope(report: Report): Markup {
  const rows = renderScope(report).map(([label, text]) => markup`<dt>${label}</dt><dd>${text}</dd>\n`)
  return markup`<section><h2>What was checked, and when</h2><dl class="scope">${rows}</dl></section>`
}

export function unanswered(report: Report): Markup {
  const { counts } = report
  const lately = notReached(report)
  const rows = [
    ...mostFirst(counts.skipped).map(
      ([why, many]) => [why === 'held' ? 'Held' : 'Skipped', SKIP[why], many] as const,
    ),
    ...mostFirst(counts.noAnswer).map(([why, many]) => ['No answer', NO_ANSWER[why], many] as const),
    ...(lately > 0 ? [['Not checked lately', 'not checked yet, or too long ago', lately] as const] : []),
  ]
  if (rows.length === 0) return NOTHING
  const cells = rows.map(
    ([what, why, many]) =>
      markup`<tr><th scope="row">${what}</th><td>${prose(why)}</td><td>${figure(many)}</td></tr>`,
  )
  const table = tableOf(['What', 'Why', 'Customers'], cells)
  return markup`<section><h2>Customers without a result</h2>${table}</section>`
}

export function bullets(title: string, lines: readonly string[]): Markup {
  return markup`<section><h2>${title}</h2><ul>${lines.map((line) => markup`<li>${prose(line)}</li>`)}</ul></section>`
}
