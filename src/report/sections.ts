// The parts of the page besides its headline and charts.
import { silentOf, totalOf } from '../drift/tally.ts'
import { type DriftCause, type DriftField, WRONG_ACCESS } from '../drift/words.ts'
import { agreementOf, conclude, driftingOf, shareOf } from './conclude.ts'
import { counted, figure, percent, tied } from './figures.ts'
import { type Markup, markup, NOTHING } from './markup.ts'
import type { Report } from './report.ts'
import { columnsOf, rowOf } from './row.ts'
import { sayMethod, sayScope, sayUnseen } from './scope.ts'
import { ACCESS, CAUSE, KIND, NO_ANSWER, SKIP, sayAmongHeld } from './words.ts'

/** Whoever prints the page or hands it on is told as well. */
export function personal({ findings }: Report): Markup {
  if (findings.every(({ shown }) => shown.length === 0)) return NOTHING
  return markup`<p class="personal" role="note"><strong>This page holds personal data of customers:</strong> what the fields that differ hold here and at the service. Hand it only to those who may see that, and delete it once it is read.</p>`
}

/** The figures that one looks for first. */
export function cards(report: Report): Markup {
  const { counts, population, suspected } = report
  const drifting = driftingOf(counts)
  const { held } = agreementOf(counts)
  const skipped = totalOf(counts.skipped) - held
  const unclear = silentOf(counts)
  const ended = counts.kinds['trial-ended'] ?? 0
  const doubtful = conclude(report) === 'not-credible'
  const told: readonly (readonly [label: string, many: string, note: string] | null)[] = [
    ...WRONG_ACCESS.map((which) => {
      const many = counts.access[which] ?? 0
      return many === 0 || doubtful
        ? null
        : ([
            ACCESS[which].name,
            figure(many),
            ACCESS[which].means + sayAmongHeld(counts.heldAccess[which] ?? 0, many),
          ] as const)
    }),
    ['Checked', figure(counts.checked), `of ${counted(population, 'customer')}`],
    doubtful ? null : ['Agree', figure(counts.agrees), sharely(counts.agrees, counts.checked)],
    doubtful
      ? ['Drift', '–', 'no conclusion']
      : ['Drift', figure(drifting), sharely(drifting, counts.checked)],
    held === 0 ? null : ['Held', figure(held), 'by the brake: no agreement'],
    ended === 0 || doubtful ? null : ['Trial ended', figure(ended), 'no drift'],
    suspected === 0 || doubtful ? null : ['Suspected', figure(suspected), 'not confirmed'],
    skipped === 0 ? null : ['Skipped', figure(skipped), 'nothing to say now'],
    unclear === 0 ? null : ['No answer', figure(unclear), 'not known'],
  ]
  const shown = told.filter((card) => card !== null)
  return markup`<dl class="cards">${shown.map(
    ([label, many, note]) =>
      markup`<div><dt>${label}</dt><dd>${many}</dd><dd class="note">${tied(note)}</dd></div>`,
  )}</dl>`
}

function sharely(part: number, checked: number): string {
  const share = shareOf(part, checked)
  return share === null ? 'nobody checked' : percent(share)
}

/** Rows that are in the file itself, for whoever opens it where no script may run. */
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
${columns.includes('User') ? NOTHING : markup`<p class="note">The user id of each is the customer's key.</p>\n`}<div class="area${findings.length > FEW ? ' many' : ''}" role="region" aria-labelledby="found" tabindex="0">
<table role="table" id="list" aria-labelledby="found">
<thead role="rowgroup"><tr role="row">${titles}</tr></thead>
<tbody role="rowgroup">${rows}</tbody>
</table>
</div>
${left === 0 ? NOTHING : markup`<noscript><p>and ${figure(left)} more, which it takes a script to show; --format csv has all of them.</p></noscript>`}
</section>`
}

function controls(findings: Report['findings']): Markup {
  const wrong = new Set(findings.flatMap(({ access }) => access ?? []))
  const kinds = new Set(findings.map(({ kind }) => kind))
  const causes = new Set<DriftCause>(findings.flatMap(({ cause }) => cause ?? []))
  const fields = new Set<DriftField>(findings.flatMap(({ fields }) => fields))
  const over = findings.some(({ resolvedAt }) => resolvedAt !== null)
  return markup`<form id="controls" hidden>
<label>Search <input type="search" name="words" placeholder="customer, user, field, date" autocomplete="off" spellcheck="false"></label>
${wrong.size === 0 ? NOTHING : choice('Access', 'access', named(ACCESS, wrong))}
${choice('Kind', 'kind', named(KIND, kinds))}
${choice('Cause', 'cause', named(CAUSE, causes))}
${
  fields.size === 0
    ? NOTHING
    : choice(
        'Field',
        'field',
        [...fields].sort().map((field) => [field, field]),
      )
}
${over ? choice('State', 'state', STATES) : NOTHING}
<button type="reset">Show all</button>
</form>`
}

const STATES = [
  ['open', 'Open'],
  ['over', 'Over'],
] as const

/** In the order of the words. */
function named<Word extends string>(
  names: Readonly<Record<Word, { name: string }>>,
  there: ReadonlySet<Word>,
) {
  const words = (Object.keys(names) as Word[]).filter((word) => there.has(word))
  return words.map((word) => [word, names[word].name] as const)
}

function choice(label: string, name: string, options: readonly (readonly [string, string])[]): Markup {
  return markup`<label>${label} <select name="${name}"><option value="">All</option>${options.map(
    ([value, text]) => markup`<option value="${value}">${text}</option>`,
  )}</select></label>`
}

export function scope(report: Report): Markup {
  const rows = sayScope(report).map(([label, text]) => {
    // Conditions stand as they were written.
    const told = label === 'Customers' ? text : tied(text)
    return markup`<div><dt>${label}</dt><dd>${told}</dd></div>\n`
  })
  return markup`<section><h2>What was checked, and when</h2><dl class="scope">${rows}</dl></section>`
}

/** Of whom nothing is said, and why. */
export function unanswered({ counts }: Report): Markup {
  const rows = [
    ...countsOf(counts.skipped).map(
      ([why, many]) => [why === 'held' ? 'Held' : 'Skipped', SKIP[why], many] as const,
    ),
    ...countsOf(counts.noAnswer).map(([why, many]) => ['No answer', NO_ANSWER[why], many] as const),
  ]
  if (rows.length === 0) return NOTHING
  const cells = rows.map(
    ([what, why, many]) =>
      markup`<tr><th scope="row">${what}</th><td>${why}</td><td>${figure(many)}</td></tr>\n`,
  )
  return markup`<section><h2>Of whom nothing is said</h2>
<table class="plain"><thead><tr><th scope="col">What</th><th scope="col">Why</th><th scope="col">Customers</th></tr></thead>
<tbody>${cells}</tbody></table></section>`
}

function countsOf<Word extends string>(counts: Readonly<Partial<Record<Word, number>>>): [Word, number][] {
  return (Object.entries(counts) as [Word, number][]).filter(([, many]) => many > 0)
}

export function method(report: Report): Markup {
  return markup`<section><h2>How it was found out</h2>${bullets(sayMethod(report))}</section>`
}

export function unseen(report: Report): Markup {
  return markup`<section><h2>What cannot be seen</h2>${bullets(sayUnseen(report))}</section>`
}

function bullets(lines: readonly string[]): Markup {
  return markup`<ul>${lines.map((line) => markup`<li>${line}</li>`)}</ul>`
}
