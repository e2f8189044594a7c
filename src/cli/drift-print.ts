import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { EMPTY_TALLY } from '../drift/tally.ts'
import { DRIFT_KINDS } from '../drift/words.ts'
import { RollcallError } from '../model/errors.ts'
import { nameOf } from '../model/name-of.ts'
import { mostFirst, wrongAccess } from '../report/conclude.ts'
import { csv } from '../report/csv.ts'
import { figure, minute } from '../report/figures.ts'
import { htmlPage, readAssets } from '../report/html.ts'
import { jsonForm, ndjson } from '../report/json.ts'
import { notReached, renderHeadline } from '../report/render.ts'
import type { Report, ReportedFinding } from '../report/report.ts'
import { renderScope, renderUnverifiable } from '../report/scope.ts'
import { CAUSE, KIND, NO_ANSWER, SKIP } from '../report/words.ts'
import type { ReportFormat } from './drift-options.ts'
import { usage } from './option-values.ts'
import { asJson, columns, details, hanging, renderValue, shown } from './render.ts'

export const FORMS: Readonly<
  Record<ReportFormat, (report: Report) => readonly string[] | Promise<readonly string[]>>
> = {
  table: renderReport,
  json: (report) => [asJson(jsonForm(report))],
  ndjson,
  csv,
  html: async (report) => [htmlPage(report, await readAssets()).trimEnd()],
}

/** Before anything is asked: a run of hours must not end in a file that cannot be written. @throws RollcallError USAGE */
export async function checkOutput(cwd: string, output: string): Promise<string> {
  const file = resolve(cwd, output)
  const found = await stat(file).catch(() => null)
  if (found && !found.isFile()) throw usage('--output: this path is no file')
  await access(dirname(file), constants.W_OK | constants.X_OK).catch(() => {
    throw usage('--output: its folder does not exist, or you may not write to it')
  })
  return file
}

/**
 * Beside the file first, and in its place once it is whole. For the owner alone: keys of customers are in it, and values
 * where they were asked for.
 */
export async function writeWhole(file: string, lines: readonly string[]): Promise<void> {
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}`)
  try {
    await writeFile(draft, pieces(lines), { flag: 'wx', mode: 0o600, flush: true })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw new RollcallError('OUTPUT_FAILED', [Object.values(nameOf(error)).join(' ')])
  }
}

/** A write for each line would be a million of them. */
const LINES = 1000

function* pieces(lines: readonly string[]): Generator<string> {
  for (let at = 0; at < lines.length; at += LINES) yield `${lines.slice(at, at + LINES).join('\n')}\n`
}

/** Begins with the conclusion, like every format; the list of customers may be long. */
export function renderReport(report: Report): string[] {
  const { text, more } = renderHeadline(report)
  const resume = report.outcome.kind === 'stopped' ? report.outcome.resume : null
  // A folded command runs as half of it.
  const isCommand = (line: string) => resume !== null && line.endsWith(resume)
  return [
    ...hanging('', text),
    ...more.flatMap((line) => (isCommand(line) ? [shown(line)] : hanging('', line))),
    '',
    ...details(Object.fromEntries(renderScope(report).map(([label, said]) => [label.toLowerCase(), said]))),
    '',
    ...renderCounts(report),
    ...renderFindings(report),
    'This report does not show:',
    ...renderUnverifiable(report).flatMap((line) => hanging('  - ', line)),
  ]
}

function renderCounts(report: Report): string[] {
  const { outcome, counts, findings } = report
  const { checked, skipped, noAnswer } = counts
  // Figures of answers that are not credible would be read all the same.
  const credible = outcome.kind === 'not-credible' ? EMPTY_TALLY : counts
  const { agrees, kinds, causes, fields } = credible
  const rows = [
    ...wrongAccess(credible).map(({ which, many, means }) => [`access ${which}`, many, means] as const),
    ['checked', checked, ''],
    ['agree', agrees, ''],
    ...DRIFT_KINDS.map((kind) => [kind, kinds[kind] ?? 0, KIND[kind].means] as const),
    ...mostFirst(causes).map(([cause, many]) => [`cause: ${cause}`, many, CAUSE[cause].means] as const),
    ...mostFirst(fields).map(([field, many]) => [`field: ${field}`, many, ''] as const),
    ...mostFirst(skipped).map(
      ([why, many]) => [why === 'held' ? why : `skipped: ${why}`, many, SKIP[why]] as const,
    ),
    ...mostFirst(noAnswer).map(([why, many]) => [`not checked: ${why}`, many, NO_ANSWER[why]] as const),
    ['not checked lately', notReached(report), 'not checked yet, or too long ago'] as const,
  ].filter(([label, many]) => many !== 0 || label === 'checked')
  const width = Math.max(...rows.map(([label]) => String(label).length))
  const digits = Math.max(...rows.map(([, many]) => figure(Number(many)).length))
  const said = rows.flatMap(([label, many, means]) =>
    hanging(`${String(label).padEnd(width)}  ${figure(Number(many)).padStart(digits)}  `, String(means)),
  )
  return [...said.map((line) => line.trimEnd()), ...(findings.length > 0 ? [''] : [])]
}

/** Customers who are named one by one in a terminal; the other formats have all of them. */
const NAMED = 50
const HEAD = ['CUSTOMER', 'KIND', 'ACCESS', 'CAUSE', 'FIRST SEEN, UTC'] as const

/** A row is one line with the whole key, for the next command. Values that only some have stand in lines below it. */
function renderFindings({ findings }: Pick<Report, 'findings'>): string[] {
  if (findings.length === 0) return ['']
  const rows = findings
    .slice(0, NAMED)
    .map(({ key, kind, access, cause, firstSeen }) => [
      key,
      kind,
      access ?? '–',
      cause ?? '–',
      minute(firstSeen).replace(' UTC', ''),
    ])
  const left = findings.length - rows.length
  return [
    ...columns([HEAD, ...rows], {
      width: Infinity,
      below: (row) => findings.slice(row, row + 1).flatMap(below),
    }),
    ...(left > 0 ? [`and ${figure(left)} more; --format html, csv or json has all of them`] : []),
    '',
  ]
}

function below({ fields, resolvedHow, shown: values }: ReportedFinding): string[] {
  return [
    ...(resolvedHow === null ? [] : [`    ended: ${resolvedHow}`]),
    ...(values.length > 0 || fields.length === 0 ? [] : hanging('    ', fields.join(', '))),
    ...values.map(
      ({ field, here, service }) =>
        `    ${field}: ${renderValue(here)} here, ${renderValue(service)} at the service`,
    ),
  ]
}
