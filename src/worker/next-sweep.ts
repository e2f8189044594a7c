import type { Gap } from '../capture/gap.ts'
import type { MappingStatus } from '../ledger/generation.ts'

export type NextSweep =
  | { readonly kind: 'mapping' | 'check' }
  | { readonly kind: 'gap'; readonly marks: readonly string[] }

type Situation = {
  readonly standing: Pick<MappingStatus, 'current' | 'swept'>
  readonly gap: Gap
  /** A table was truncated, and nobody has said what that means. */
  readonly truncated: boolean
  /** Everybody was looked at last so long ago that capture is to be checked. */
  readonly checkDue: boolean
}

/**
 * What a worker sweeps for next; null: nothing, or nothing by its mapping. A mapping that was applied comes first, since
 * until then some are right by another one; a gap waits until its transactions have ended. Nothing is checked while a
 * person has to decide about a TRUNCATE: who is missing is held for that, and nobody would have missed it.
 */
export function nextSweep({ standing, gap, truncated, checkDue }: Situation): NextSweep | null {
  if (!standing.current) return null
  if (!standing.swept) return { kind: 'mapping' }
  if (gap.ids.length > 0) return gap.ready ? { kind: 'gap', marks: gap.ids } : null
  return checkDue && !truncated ? { kind: 'check' } : null
}
