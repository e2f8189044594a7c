import { DRIFT_KINDS, type DriftTally, WRONG_ACCESS } from '../drift/words.ts'
import { figure } from '../report/figures.ts'
import type { Report } from '../report/report.ts'
import { sayHeadline } from '../report/say.ts'
import { sayScope, sayUnseen } from '../report/scope.ts'
import { ACCESS, CAUSE, KIND, NO_ANSWER, SKIP, sayAmongHeld } from '../report/words.ts'
import { sayFindings } from './say-findings.ts'
import { hanging, TERMINAL_COLUMNS, wrapped } from './say-wrapped.ts'

/**
 * A report as `--format table`: who it is about first, the conclusion last, where the eye of whoever scrolls ends. One that
 * did not come to its end says that before anything else.
 */
export function sayReport(report: Report, width = TERMINAL_COLUMNS): string[] {
  const { text, more } = sayHeadline(report)
  const headline = hanging('', text)
  const ended = report.outcome.kind === 'complete'
  return [
    ...(ended ? [] : [...headline, '']),
    ...sayScope(report).flatMap(([label, said]) => wrapped(label.toLowerCase(), said)),
    '',
    ...sayCounts(report),
    ...sayFindings(report, width),
    ...sayUnseen(report).flatMap((unseen, n) => wrapped(n === 0 ? 'not seen' : '', unseen)),
    '',
    ...(ended ? headline : []),
    ...more.flatMap((line) => hanging('', line)),
  ]
}

function sayCounts({ outcome, counts, findings }: Report): string[] {
  const { checked, skipped, noAnswer } = counts
  // Figures of answers that nobody can believe would be looked at all the same.
  const believed = outcome.kind === 'not-credible' ? NOTHING : counts
  const { agrees, kinds, access, heldAccess, causes, fields } = believed
  const rows = [
    ...WRONG_ACCESS.map((which) => {
      const many = access[which] ?? 0
      const held = sayAmongHeld(heldAccess[which] ?? 0, many)
      return [`access ${which}`, many, ACCESS[which].means + held] as const
    }),
    ['checked', checked, ''],
    ['agree', agrees, ''],
    ...DRIFT_KINDS.map((kind) => [kind, kinds[kind] ?? 0, KIND[kind].means] as const),
    ...entriesOf(causes).map(([cause, many]) => [`cause: ${cause}`, many, CAUSE[cause].means] as const),
    ...entriesOf(fields).map(([field, many]) => [`field: ${field}`, many, ''] as const),
    ...entriesOf(skipped).map(
      ([why, many]) => [why === 'held' ? why : `skipped: ${why}`, many, SKIP[why]] as const,
    ),
    ...entriesOf(noAnswer).map(([why, many]) => [`no answer: ${why}`, many, NO_ANSWER[why]] as const),
  ].filter(([label, many]) => many !== 0 || label === 'checked')
  const width = Math.max(...rows.map(([label]) => String(label).length))
  const digits = Math.max(...rows.map(([, many]) => figure(Number(many)).length))
  const said = rows.flatMap(([label, many, means]) =>
    hanging(`${String(label).padEnd(width)}  ${figure(Number(many)).padStart(digits)}  `, String(means)),
  )
  return [...said.map((line) => line.trimEnd()), ...(findings.length > 0 ? [''] : [])]
}

const NOTHING: Pick<DriftTally, 'agrees' | 'kinds' | 'access' | 'heldAccess' | 'causes' | 'fields'> = {
  agrees: 0,
  kinds: {},
  access: {},
  heldAccess: {},
  causes: {},
  fields: {},
}

/** The most first. */
function entriesOf<Word extends string>(counts: Readonly<Partial<Record<Word, number>>>): [Word, number][] {
  const entries = Object.entries(counts) as [Word, number][]
  return entries.sort(([, one], [, other]) => other - one)
}
