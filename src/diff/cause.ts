// How a field compares, and why it differs: pure, over closed unions alone.

/** What is desired. `cleared`: the mapping does not set it, and `unmanaged: 'clear'` wants it empty. */
export const HERE = ['set', 'empty', 'cleared', 'unmanaged', 'left-out', 'refused'] as const
export type Here = (typeof HERE)[number]

/** What the GET shows; `not-shown`: the field is in no GET (section 2.6, rule 1). */
export const THERE = ['set', 'empty', 'not-shown'] as const
export type There = (typeof THERE)[number]

/** How near the two come: letter by letter, in normal form, or not. */
export const LIKENESS = ['letters', 'form', 'none'] as const
export type Likeness = (typeof LIKENESS)[number]

/** Whether something is what a call last carried, or a GET last showed. `unknown`: nothing to compare with can be had. */
export const AS = ['yes', 'no', 'never', 'unknown'] as const
export type As = (typeof AS)[number]

/** Whether what is desired is what was last sent; `doubted`: a call of unknown outcome may have changed it. */
export const CURRENT = [...AS, 'doubted'] as const
export type Current = (typeof CURRENT)[number]

export const VERDICTS = [
  'same',
  'spelling',
  'differs',
  'trial-ended',
  'cannot-be-seen',
  'left-out',
  'not-ours',
] as const
export type FieldVerdict = (typeof VERDICTS)[number]

/**
 * What a field without a valid value holds at the service is left as it is, so there is nothing to compare it with;
 * one that the mapping does not set is somebody else's.
 */
export function verdictOf(here: Here, there: There, likeness: Likeness): FieldVerdict {
  switch (here) {
    case 'unmanaged':
      return 'not-ours'
    case 'left-out':
      return 'left-out'
    case 'set':
    case 'empty':
    case 'cleared':
    case 'refused':
      return there === 'not-shown' ? 'cannot-be-seen' : LIKE[likeness]
    default:
      return here satisfies never
  }
}

const LIKE = { letters: 'same', form: 'spelling', none: 'differs' } as const

export type Cause =
  | 'refused'
  /** The mapping does not set it, and the next full update takes it away. */
  | 'to-be-cleared'
  /** Left out, because its value is none that can be sent. */
  | 'left-out'
  | 'not-known'
  /** A call of unknown outcome may have changed it. */
  | 'in-doubt'
  | 'never-delivered'
  /** A GET has shown another value, and nothing was sent since. */
  | 'not-delivered-since'
  | 'owed'
  /** Changed here since it was sent, and nothing is owed. */
  | 'changed-here'
  /** The service may go on showing for a while what was there before the last write. */
  | 'just-written'
  | 'changed-there'
  /** The service shows what was sent in a form of its own. */
  | 'own-form'
  /** In no GET, and acknowledged as it is here. */
  | 'acknowledged'

export type Facts = {
  readonly here: Here
  readonly verdict: FieldVerdict
  readonly current: Current
  readonly asSeen: As
  /** The outcome of a call is not known. */
  readonly unknown: boolean
  readonly owed: boolean
  /** Written so lately that a GET may show the state before. */
  readonly fresh: boolean
}

/** Null where there is nothing to explain. */
export function causeOf(facts: Facts): Cause | null {
  const { verdict, here, current } = facts
  switch (verdict) {
    case 'same':
    case 'trial-ended':
    case 'not-ours':
      return null
    case 'left-out':
      return 'left-out'
    case 'spelling':
      if (current === 'yes') return 'own-form'
      return current === 'no' && here !== 'refused' ? changedHere(facts) : null
    case 'cannot-be-seen':
      if (here === 'refused') return 'refused'
      return current === 'yes' ? 'acknowledged' : undelivered(current, facts)
    case 'differs':
      if (here === 'refused') return 'refused'
      if (here === 'cleared') return 'to-be-cleared'
      if (current === 'yes' && !facts.unknown) return facts.fresh ? 'just-written' : 'changed-there'
      return undelivered(current === 'yes' ? 'doubted' : current, facts)
    default:
      return verdict satisfies never
  }
}

/** What was changed here is owed whatever became of the call before; the rest of a doubt is settled by a look. */
function undelivered(current: Exclude<Current, 'yes'>, facts: Facts): Cause {
  switch (current) {
    case 'unknown':
      return 'not-known'
    case 'doubted':
      return 'in-doubt'
    case 'no':
      return changedHere(facts)
    case 'never':
      if (facts.unknown) return 'in-doubt'
      return facts.asSeen === 'yes' || facts.asSeen === 'no' ? 'not-delivered-since' : 'never-delivered'
    default:
      return current satisfies never
  }
}

function changedHere({ owed }: Facts): Cause {
  return owed ? 'owed' : 'changed-here'
}

/** Why a user who is wanted is not there. */
export type AbsenceCause = Extract<
  Cause,
  'not-known' | 'in-doubt' | 'just-written' | 'never-delivered' | 'not-delivered-since' | 'changed-there'
>
