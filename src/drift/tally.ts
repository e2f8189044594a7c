// Counts of what checks said, and whether the service answers at all. Pure.
import { type CheckVerdict, type DriftTally, type DriftVerdict, isDrift, type NotCredible } from './words.ts'

export const EMPTY_TALLY: DriftTally = {
  ...{ checked: 0, agrees: 0, unverifiable: 0, vanished: 0 },
  ...{ kinds: {}, access: {}, heldAccess: {}, causes: {}, fields: {}, skipped: {}, noAnswer: {} },
}

export function tallyOf(verdicts: readonly CheckVerdict[]): DriftTally {
  return verdicts.map((each) => ({ ...EMPTY_TALLY, ...countsOf(each) })).reduce(plus, EMPTY_TALLY)
}

function countsOf(verdict: CheckVerdict): Partial<DriftTally> {
  if (isDrift(verdict)) return { checked: 1, kinds: one(verdict.kind), ...driftCounts(verdict) }
  switch (verdict.kind) {
    case 'agrees': {
      const { unverifiable = false, absent } = verdict
      return {
        checked: 1,
        agrees: 1,
        unverifiable: Number(unverifiable),
        vanished: Number(absent === 'gone'),
      }
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
  if (kind === 'trial-ended') return {}
  return {
    vanished: Number(kind === 'missing' && wasRegistered(cause)),
    access: one(access),
    causes: one(cause),
    fields: Object.fromEntries(fields.map((field) => [field, 1])),
  }
}

function one(word: string | null): Readonly<Record<string, number>> {
  return word === null ? {} : { [word]: 1 }
}

/** Whether a missing user was there once. */
export function wasRegistered(cause: DriftVerdict['cause']): boolean {
  return cause !== 'never-delivered'
}

type Sums = { readonly [name: string]: number | Sums | undefined }

/** Counts and groups of counts, name by name. */
export function plus<T extends Sums>(a: T, b: T): T {
  const added = Object.entries(b).map(([name, one = 0]) => {
    const other = a[name]
    if (typeof one === 'object') return [name, plus<Sums>(typeof other === 'object' ? other : {}, one)]
    return [name, one + (typeof other === 'number' ? other : 0)]
  })
  return { ...a, ...Object.fromEntries(added) }
}

export function totalOf(counts: Readonly<Partial<Record<string, number>>>): number {
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
): Extract<NotCredible, 'denied' | 'no-answers'> | null {
  const silent = totalOf(tally.noAnswer)
  const asked = tally.checked + silent
  const unclear = silent + (tally.kinds.unreadable ?? 0)
  const most = asked < HANDFUL ? silent === asked : unclear * 2 > asked
  if (asked === 0 || !most || (asked < ENOUGH && !over)) return null
  return (tally.noAnswer.denied ?? 0) * 2 > silent ? 'denied' : 'no-answers'
}
