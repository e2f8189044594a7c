// Which findings the list has, and what is said about their number.
import { counted, figure, minute } from '../figures.ts'
import type { ReportedFinding } from '../report.ts'
import { ACCESS, CAUSE, KIND } from '../words.ts'

/** Only the first ones are listed beyond this, since more rows would make every letter of a search wait. */
export const MOST_LISTED = 1000

/**
 * A reader who prints or searches the list must not take a part for the whole. `by`: what the controls ask for; on
 * paper those cannot be seen.
 */
export function renderCount(found: number, all: number, by: readonly string[]): string {
  const findings = counted(all, 'finding')
  const said = by.length === 0 ? findings : `${figure(found)} of ${findings}: ${by.join(', ')}`
  if (found <= MOST_LISTED) return said
  return `${said}. Only the first ${figure(MOST_LISTED)} are listed here; the search above checks all, and --format csv has them.`
}

/** By the name of a control; an empty text asks for nothing. */
type Wanted = Readonly<Record<string, string>>

/** `text`: whatever a row shows, in small letters. `choices`: what each control finds it by. */
type Indexed = {
  readonly finding: ReportedFinding
  readonly text: string
  readonly choices: Readonly<Record<string, readonly (string | null)[]>>
}

export function indexOf(findings: readonly ReportedFinding[]): Indexed[] {
  return findings.map((finding) => {
    const { key, userId, kind, access, cause, fields, firstSeen, lastSeen, resolvedAt, shown } = finding
    const values = shown.flatMap(({ here, service }) => [here, service]).map(String)
    const why = cause === null ? [] : [cause, CAUSE[cause].name]
    const wrong = access === null ? [] : [ACCESS[access].name, ACCESS[access].means]
    const names = [kind, KIND[kind].name, ...wrong, ...why, ...fields]
    const times = [minute(firstSeen), minute(lastSeen)]
    const state = [resolvedAt === null ? 'open' : 'over']
    return {
      finding,
      text: plain([key, userId ?? '', ...names, ...times, ...values].join('\n')),
      choices: { access: [access], kind: [kind], cause: [cause], field: fields, state },
    }
  })
}

/** Every word has to be somewhere in the row, in any order. */
export function matching(index: readonly Indexed[], { words = '', ...wanted }: Wanted): ReportedFinding[] {
  const asked = plain(words).split(/\s+/).filter(Boolean)
  const chosen = Object.entries(wanted).filter(([, value]) => value !== '')
  return index
    .filter(({ choices }) => chosen.every(([name, value]) => choices[name]?.includes(value)))
    .filter(({ text }) => asked.every((word) => text.includes(word)))
    .map(({ finding }) => finding)
}

function plain(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
