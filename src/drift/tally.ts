// Counts of what checks said, and whether the service answers at all. Pure.
import { type CheckVerdict, type Doubt, type DriftTally, type DriftVerdict, isDrift } from './words.ts'

export const EMPTY_TALLY: DriftTally = {
  ...{ checked: 0, agrees: 0, hidden: 0, vanished: 0 },
  ...{ kinds: {}, access: {}, heldAccess: {}, causes: {}, fields: {}, skipped: {}, noAnswer: {} },
}

export function tallyOf(verdicts: readonly CheckVerdict[]): DriftTally {
  return verdicts.map((each) => ({ ...EMPTY_TALLY, ...countsOf(each) })).reduce(plus, EMPTY_TALLY)
}

function countsOf(verdict: CheckVerdict): Partial<DriftTally> {
  if (isDrift(verdict)) return { checked: 1, ...driftCounts(verdict) }
  switch (verdict.kind) {
    case 'agrees': {
      const { hidden = false, nobody } = verdict
      return { checked: 1, agrees: 1, hidden: Number(hidden), vanished: nobody === 'gone' ? 1 : 0 }
    }
    case 'skipped': {
      const access = verdict.why === 'held' ? one(verdict.access) : {}
      return { access, heldAccess: access, skipped: one(verdict.why) }
    }
    case 'no-answer':
      return { noAnswer: one(verdict.why) }
    default:
      return verdict satisfies never
  }
}

/** Causes and fields are those of drift, so that each adds up with it; an ended trial is none. */
function driftCounts({ kind, cause, access, fields }: DriftVerdict): Partial<DriftTally> {
  if (kind === 'trial-ended') return { kinds: one(kind) }
  return {
    kinds: one(kind),
    vanished: kind === 'missing' && wasRegistered(cause) ? 1 : 0,
    access: one(access),
    causes: one(cause),
    fields: Object.fromEntries(fields.map((field) => [field, 1])),
  }
}

function one(word: string | null): Readonly<Record<string, number>> {
  return word === null ? {} : { [word]: 1 }
}

/** Of a user who is missing. */
export function wasRegistered(cause: DriftVerdict['cause']): boolean {
  return cause !== 'never-delivered'
}

export function plus(a: DriftTally, b: DriftTally): DriftTally {
  return {
    checked: a.checked + b.checked,
    agrees: a.agrees + b.agrees,
    hidden: a.hidden + b.hidden,
    vanished: a.vanished + b.vanished,
    kinds: added(a.kinds, b.kinds),
    access: added(a.access, b.access),
    heldAccess: added(a.heldAccess, b.heldAccess),
    causes: added(a.causes, b.causes),
    fields: added(a.fields, b.fields),
    skipped: added(a.skipped, b.skipped),
    noAnswer: added(a.noAnswer, b.noAnswer),
  }
}

type Counts<Word extends string> = Readonly<Partial<Record<Word, number>>>

function added<Word extends string>(a: Counts<Word>, b: Counts<Word>): Counts<Word> {
  const sum: Partial<Record<Word, number>> = { ...a }
  for (const word of Object.keys(b) as Word[]) sum[word] = (sum[word] ?? 0) + (b[word] ?? 0)
  return sum
}

/** Customers of whom the service gave no clear answer. */
export function silentOf({ noAnswer }: Pick<DriftTally, 'noAnswer'>): number {
  return totalOf(noAnswer)
}

export function totalOf(counts: Counts<string>): number {
  return Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

/** From so many calls on silence is the service's and not bad luck; of fewer than a handful only all of them tell. */
const ENOUGH = 10
const HANDFUL = 5

/**
 * A service that refuses our keys, or gives most calls no answer that can be read, is out of order, or another one. Few
 * calls say nothing until the run is over. Null: it answers.
 */
export function silenceOf(
  tally: Pick<DriftTally, 'checked' | 'kinds' | 'noAnswer'>,
  { over }: { readonly over: boolean },
): Extract<Doubt, 'denied' | 'no-answers'> | null {
  const silent = silentOf(tally)
  const asked = tally.checked + silent
  const unclear = silent + (tally.kinds.unreadable ?? 0)
  const most = asked < HANDFUL ? silent === asked : unclear * 2 > asked
  if (asked === 0 || !most || (asked < ENOUGH && !over)) return null
  return (tally.noAnswer.denied ?? 0) * 2 > silent ? 'denied' : 'no-answers'
}
