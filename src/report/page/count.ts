import { counted, figure } from '../figures.ts'

type Counted = {
  readonly found: number
  readonly all: number
  /** The most that are listed. */
  readonly most: number
  /** What the controls ask for; on paper nobody sees those. */
  readonly by: readonly string[]
}

/** Whoever reads, prints or searches the list must not take a part for the whole. */
export function sayCount({ found, all, most, by }: Counted): string {
  const findings = counted(all, 'finding')
  const said = by.length === 0 ? findings : `${figure(found)} of ${findings}: ${by.join(', ')}`
  if (found <= most) return said
  return `${said}. Only the first ${figure(most)} are listed here; the search above looks at all, and --format csv has them.`
}
