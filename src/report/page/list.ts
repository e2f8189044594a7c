// The list of findings, and which of them are listed. All rows are in the document, so that the browser's own search, a screen reader and paper reach
// each of them; the style lets the browser leave out the work for chunks that are out of sight. They are put in by and
// by, since ten thousand at once would make every letter of a search wait.
import { counted, figure, minute } from '../figures.ts'
import type { ReportedFinding } from '../report.ts'
import { type Column, rowOf } from '../row.ts'
import { ACCESS, CAUSE, KIND } from '../words.ts'

/** Only the first ones are listed beyond this; the search goes over all of them. */
const MOST_LISTED = 10_000

const CHUNK = 100
/** Put in between two turns of the browser. */
const CHUNKS_A_TURN = 5

export function makeList(table: HTMLTableElement, columns: readonly Column[]) {
  let waiting: readonly ReportedFinding[] = []
  let turn: ReturnType<typeof setTimeout> | undefined
  let rowHeight = 40
  const append = () => {
    const body = bodyOf(waiting.slice(0, CHUNK), columns)
    waiting = waiting.slice(CHUNK)
    table.append(body)
    return body
  }
  const appendHidden = () => {
    const body = append()
    body.className = 'unseen'
    // Its height until it comes into sight.
    body.style.containIntrinsicSize = `auto ${Math.round(body.rows.length * rowHeight)}px`
  }
  const finish = () => {
    clearTimeout(turn)
    while (waiting.length > 0) appendHidden()
  }
  const goOn = () => {
    for (let chunks = 0; chunks < CHUNKS_A_TURN && waiting.length > 0; chunks++) appendHidden()
    if (waiting.length > 0) turn = setTimeout(goOn)
  }
  return {
    show(findings: readonly ReportedFinding[]) {
      clearTimeout(turn)
      for (const body of [...table.tBodies]) body.remove()
      waiting = findings.slice(0, MOST_LISTED)
      if (waiting.length === 0) return
      const first = append()
      rowHeight = first.getBoundingClientRect().height / first.rows.length || rowHeight
      turn = setTimeout(goOn)
    },
    /** Puts in at once what is still to come. */
    finish,
  }
}

function bodyOf(findings: readonly ReportedFinding[], columns: readonly Column[]): HTMLTableSectionElement {
  const body = document.createElement('tbody')
  body.setAttribute('role', 'rowgroup')
  body.innerHTML = findings.map((finding) => rowOf(finding, columns).html).join('')
  return body
}

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
