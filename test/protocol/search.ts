// Many runs, one after the other.
import { type Outcome, run } from './run.ts'
import { NAMES, type WorldParams } from './world.ts'

type Kind = Omit<WorldParams, 'seed' | 'withHistory'>

export type Found = { readonly seed: number; readonly what: string; readonly history: readonly string[] }

const bad = ({ wrong, broken }: Outcome): string | null => wrong ?? broken

/** The first run from a seed on that goes wrong, with its history; null when none of so many does. */
export function find(kind: Kind, runs: number, first = 1): Found | null {
  for (let seed = first; seed < first + runs; seed++) {
    if (bad(run({ ...kind, seed })) === null) continue
    const again = run({ ...kind, seed, withHistory: true })
    return { seed, what: bad(again) ?? 'not the same again', history: again.history }
  }
  return null
}

/** For a person: the seed, what went wrong, and step by step what happened to the customer that it is about. */
export function tell({ seed, what, history }: Found): string {
  const about = NAMES.find((name) => what.startsWith(`${name}: `))
  const others = NAMES.filter((name) => name !== about)
  const lines = about
    ? history.filter((line) => !others.some((name) => line.includes(` ${name}: `)))
    : history
  return [`seed ${seed}: ${what}`, ...lines].join('\n')
}

export type Count = {
  /** Either of the two. */
  readonly bad: number
  readonly wrong: number
  readonly broken: number
  readonly firstSeed: number | null
}

/** How many of so many runs end wrong, and in how many a state or a claim was broken on the way. */
export function count(kind: Kind, runs: number): Count {
  let failed = 0
  let wrong = 0
  let broken = 0
  let firstSeed: number | null = null
  for (let seed = 1; seed <= runs; seed++) {
    const outcome = run({ ...kind, seed })
    if (outcome.wrong !== null) wrong++
    if (outcome.broken !== null) broken++
    if (bad(outcome) === null) continue
    failed++
    firstSeed ??= seed
  }
  return { bad: failed, wrong, broken, firstSeed }
}
