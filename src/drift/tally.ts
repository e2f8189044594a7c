// Counts of what verifications said, and whether the service answers at all. Pure.
import { type CheckVerdict, type Doubt, type DriftTally, type DriftVerdict, isDrift } from './words.ts'

export const EMPTY_TALLY: DriftTally = {
  ...{ checked: 0, agrees: 0, hidden: 0, vanished: 0 },
  ...{ kinds: {}, access: {}, heldAccess: {}, causes: {}, fields: {}, skipped: {}, noAnswer: {} },
}

export function tallyOf(verdicts: readonly CheckVerdict[]): DriftTally {
  return verdicts.map(one).reduce(plus, EMPTY_TALLY)
}

function one(verdict: CheckVerdict): DriftTally {
  if (isDrift(verdict)) return { ...EMPTY_TALLY, checked: 1, ...oneDrift(verdict) }
  switch (verdict.kind) {
    case 'agrees':
      return {
        ...EMPTY_TALLY,
        ...{ checked: 1, agrees: 1, hidden: verdict.hidden ? 1 : 0 },
        vanished: verdict.nobody === 'gone' ? 1 : 0,
      }
    case 'skipped':
      return { ...EMPTY_TALLY, ...heldAccessOf(verdict), skipped: { [verdict.why]: 1 } }
    case 'no-answer':
      return { ...EMPTY_TALLY, noAnswer: { [verdict.why]: 1 } }
    default:
      return verdict satisfies never
  }
}

function heldAccessOf(verdict: Extract<CheckVerdict, { kind: 'skipped' }>): Partial<DriftTally> {
  if (verdict.why !== 'held' || verdict.access === null) return {}
  const access = { [verdict.access]: 1 }
  return { access, heldAccess: access }
}

/** Causes and fields are those of drift, so that each of them adds up with it; a trial that ended is none. */
function oneDrift({ kind, cause, access, fields }: DriftVerdict): Partial<DriftTally> {
  if (kind === 'trial-ended') return { kinds: { [kind]: 1 } }
  return {
    kinds: { [kind]: 1 },
    vanished: kind === 'missing' && wasRegistered(cause) ? 1 : 0,
    access: access === null ? {} : { [access]: 1 },
    causes: cause === null ? {} : { [cause]: 1 },
    fields: Object.fromEntries(fields.map((field) => [field, 1])),
  }
}

/** Of somebody who is missing. */
export function wasRegistered(cause: DriftVerdict['cause']): boolean {
  return cause !== 'never-delivered'
}

export function plus(a: DriftTally, b: DriftTally): DriftTally {
  return {
    checked: a.checked + b.checked,
    hidden: a.hidden + b.hidden,
    vanished: a.vanished + b.vanished,
    agrees: a.agrees + b.agrees,
    kinds: added(a.kinds, b.kinds),
    access: added(a.access, b.access),
    heldAccess: added(a.heldAccess, b.heldAccess),
    causes: added(a.causes, b.causes),
    fields: added(a.fields, b.fields),
    skipped: added(a.skipped, b.skipped),
    noAnswer: added(a.noAnswer, b.noAnswer),
  }
}

type Counts<K extends string> = Readonly<Partial<Record<K, number>>>

function added<K extends string>(a: Counts<K>, b: Counts<K>): Counts<K> {
  const sum: Partial<Record<K, number>> = { ...a }
  for (const key of Object.keys(b) as K[]) sum[key] = (sum[key] ?? 0) + (b[key] ?? 0)
  return sum
}

/** Of whom the service gave no clear answer, whatever it gave instead. */
export function silentOf({ noAnswer }: Pick<DriftTally, 'noAnswer'>): number {
  return totalOf(noAnswer)
}

export function totalOf(counts: Counts<string>): number {
  return Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

/** From so many on who were asked about, silence is the service's and not bad luck. */
const ENOUGH = 10

/**
 * A service that takes our keys no more, or answers most questions with nothing that can be read, is out of order, or
 * another one. Of few it says nothing until there are no more of them. Null: it answers.
 */
export function silenceOf(
  tally: Pick<DriftTally, 'checked' | 'kinds' | 'noAnswer'>,
  { over }: { readonly over: boolean },
): Extract<Doubt, 'denied' | 'no-answers'> | null {
  const silent = silentOf(tally)
  const asked = tally.checked + silent
  const unclear = silent + (tally.kinds.unreadable ?? 0)
  // Of a handful only all of them tell.
  const most = asked < HARDLY_ANY ? silent === asked : unclear * 2 > asked
  if (asked === 0 || !most || (asked < ENOUGH && !over)) return null
  return (tally.noAnswer.denied ?? 0) * 2 > silent ? 'denied' : 'no-answers'
}

const HARDLY_ANY = 5
