// Whether a look counts in the share of drift, and whether a repair is owed because of it. Pure.
import { MOST_REPAIRS } from './looks.ts'
import { AGREED, DRIFTED, type Share } from './share.ts'
import { isRepairable } from './words.ts'
import type { Stepped } from './writes.ts'

/** Whether it is a further look of workers, and not because somebody's turn in their round has come. */
export type Looker = { readonly again: boolean }

/** What a look has led to, from what was open before. */
type Led = Pick<Stepped, 'open' | 'step'>

/**
 * Whether it is the customer's turn. A further look is part of the turn that has raised the suspicion. Of what a run
 * suspects, or what stands, it is none: whoever agrees has no such look, and a share of these alone says nothing.
 */
function isTurn({ open }: Led, { again }: Looker): boolean {
  return !again || open?.ofTurn === true
}

/**
 * A look counts as agreeing, or as a difference that was shown twice. That counts again at each turn in a round, since what
 * stands for long is no less of a mass.
 */
export function letterOf(stepped: Led & Pick<Stepped, 'looked' | 'moved'>, looker: Looker): string {
  const { step, looked, moved } = stepped
  if (looked.kind !== 'seen' || moved) return ''
  if (step.do === 'confirm' || step.do === 'keep') {
    if (!isTurn(stepped, looker)) return ''
    return step.told.kind === 'trial-ended' ? AGREED : DRIFTED
  }
  const normal = step.do === 'resolve' && step.how === 'normalised'
  return looked.compared.kind === 'agrees' || normal ? AGREED : ''
}

/** Whether there is something that a repair would mend, whatever the share of drift is. */
export function mayRepair({ open, step }: Led): boolean {
  if (open === null || (step.do !== 'confirm' && step.do !== 'keep')) return false
  return isRepairable(step.told.kind) && open.repairs < MOST_REPAIRS
}

/** `waits`: too many differ for it to be owed now. `none`: it is not to be owed, or not before its turn. */
export type Repair = 'now' | 'waits' | 'none'

/** `share` as of after this look; null: it was not asked, since nothing of this could be repaired. */
type Asked = Looker & { readonly share: Pick<Share, 'over'> | null }

/**
 * What counts nothing repairs nothing either, but for what was repaired before, and what a person has released: else a mass
 * that the share has held back would be repaired once others have agreed for a while.
 */
export function repairFor(led: Led, { share, ...looker }: Asked): Repair {
  if (share === null || !mayRepair(led)) return 'none'
  if (led.open?.released) return 'now'
  if (!isTurn(led, looker) && led.open?.repairs === 0) return 'none'
  return share.over ? 'waits' : 'now'
}
