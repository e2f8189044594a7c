// Which findings are listed: pure, and quick enough for every letter that is typed.
import { minute } from '../figures.ts'
import type { ReportedFinding } from '../report.ts'
import { ACCESS, CAUSE, KIND } from '../words.ts'

/** As the controls have it; an empty text asks for nothing. */
export type Wanted = {
  readonly words: string
  readonly access: string
  readonly kind: string
  readonly cause: string
  readonly field: string
  readonly state: string
}

type Indexed = { readonly finding: ReportedFinding; readonly text: string }

/** Once for all searches: whatever a row shows, in small letters. */
export function indexOf(findings: readonly ReportedFinding[]): Indexed[] {
  return findings.map((finding) => {
    const { key, userId, kind, access, cause, fields, firstSeen, lastSeen, shown } = finding
    const values = shown.flatMap(({ here, service }) => [here, service]).map(String)
    const why = cause === null ? [] : [cause, CAUSE[cause].name]
    const wrong = access === null ? [] : [ACCESS[access].name, ACCESS[access].means]
    const names = [kind, KIND[kind].name, ...wrong, ...why, ...fields]
    const times = [minute(firstSeen), minute(lastSeen)]
    return { finding, text: plain([key, userId ?? '', ...names, ...times, ...values].join('\n')) }
  })
}

/** Every word has to be somewhere in the row, in any order. */
export function matching(index: readonly Indexed[], wanted: Wanted): ReportedFinding[] {
  const words = plain(wanted.words).split(/\s+/).filter(Boolean)
  return index
    .filter(({ finding, text }) => chosen(finding, wanted) && words.every((word) => text.includes(word)))
    .map(({ finding }) => finding)
}

function chosen({ access, kind, cause, fields, resolvedAt }: ReportedFinding, wanted: Wanted): boolean {
  if (wanted.access !== '' && access !== wanted.access) return false
  if (wanted.kind !== '' && kind !== wanted.kind) return false
  if (wanted.cause !== '' && cause !== wanted.cause) return false
  if (wanted.field !== '' && !fields.some((field) => field === wanted.field)) return false
  return wanted.state === '' || (wanted.state === 'over') === (resolvedAt !== null)
}

function plain(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
