import type { Gap } from '../capture/gap.ts'
import type { Standing } from '../ledger/generation.ts'

export type NextSweep =
  | { readonly kind: 'mapping' | 'check' }
  | { readonly kind: 'gap'; readonly marks: readonly string[] }

type Situation = {
  readonly standing: Pick<Standing, 'current' | 'swept'>
  readonly gap: Gap
  /** Everybody was looked at last so long ago that capture is to be checked. */
  readonly checkDue: boolean
}

/**
 * What a worker sweeps for next; null: nothing, or nothing by its mapping. A mapping that was applied comes first, since
 * until then some are right by another one; a gap waits until its transactions have ended.
 */
export function nextSweep({ standing, gap, checkDue }: Situation): NextSweep | null {
  if (!standing.current) return null
  if (!standing.swept) return { kind: 'mapping' }
  if (gap.ids.length > 0) return gap.ready ? { kind: 'gap', marks: gap.ids } : null
  return checkDue ? { kind: 'check' } : null
}
