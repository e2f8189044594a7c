// Whether a look counts in the share of drift, and whether a repair is owed because of it. Pure.
import type { Counted } from './halt.ts'
import { MOST_REPAIRS } from './looks.ts'
import { AGREED, DRIFTED } from './share.ts'
import { isRepairable } from './words.ts'
import type { Stepped } from './writes.ts'

/** Who looks, and whether that is a further look of workers rather than somebody's turn in their round. */
export type Looker = { readonly by: string | null; readonly again: boolean }

/** What a look has led to, from what was open before. */
type Led = Pick<Stepped, 'open' | 'step'>

/**
 * What somebody else's run has suspected is only found when a worker looks once more: it does not count, since that run
 * has looked at many more who agree and are not counted either, and so it is not repaired before its turn in a round.
 */
function ofAnother({ open, step }: Led, { by, again }: Looker): boolean {
  return again && step.do === 'confirm' && open !== null && open.ofRun !== null && open.ofRun !== by
}

/**
 * A look counts as agreeing, or as a difference that was shown twice. That counts again at each turn in a round, since what
 * stands for long is no less of a mass; and not at looks in between, which nobody has who agrees.
 */
export function letterOf(stepped: Led & Pick<Stepped, 'looked' | 'moved'>, looker: Looker): string {
  const { step, looked, moved } = stepped
  if (looked.kind !== 'seen' || moved || ofAnother(stepped, looker)) return ''
  if (step.do === 'keep' && looker.again) return ''
  if (step.do === 'confirm' || step.do === 'keep') return step.told.kind === 'trial-ended' ? AGREED : DRIFTED
  const normal = step.do === 'resolve' && step.how === 'normalised'
  return looked.compared.kind === 'agrees' || normal ? AGREED : ''
}

/** Whether there is something that a repair would mend, whatever the share of drift is. */
export function mayRepair(stepped: Led, looker: Looker): boolean {
  const { open, step } = stepped
  if (ofAnother(stepped, looker)) return false
  if (open === null || (step.do !== 'confirm' && step.do !== 'keep')) return false
  return isRepairable(step.told.kind) && open.repairs < MOST_REPAIRS
}

/**
 * Of what stands and was never repaired a look between two turns counts nothing, so it repairs nothing either, unless a
 * person has released it: else a mass that the share has held back would be repaired once others have agreed for a while.
 */
function waitsForTurn({ open, step }: Led, { again }: Pick<Looker, 'again'>): boolean {
  return again && step.do === 'keep' && open?.repairs === 0
}

/** `waits`: too many differ for it to be owed now. `none`: it is not to be owed, or not before its turn. */
export type Repair = 'now' | 'waits' | 'none'

/** `share` as of after this look; null: it was not asked, since nothing of this could be repaired. */
type Asked = Looker & { readonly share: Pick<Counted, 'over' | 'releasedTo'> | null }

export function repairFor(stepped: Led, { share, ...looker }: Asked): Repair {
  if (share === null || !mayRepair(stepped, looker)) return 'none'
  if (BigInt(stepped.open?.id ?? 0) <= share.releasedTo) return 'now'
  if (waitsForTurn(stepped, looker)) return 'none'
  return share.over ? 'waits' : 'now'
}
