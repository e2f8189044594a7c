// What a round counts: each customer once, by what was said of it last. Pure.
import type { CustomerKey } from '../model/customer.ts'
import { less, minus, plus, tallyOf } from './tally.ts'
import { afterTaking, type Round, type Stretch } from './window.ts'
import {
  type DriftVerdict,
  isDrift,
  NO_ANSWERS,
  type NoAnswer,
  SKIPPED,
  type Skipped,
  type Tally,
  type Verdict,
  type Verified,
} from './words.ts'

type Unclear = Skipped | NoAnswer
const UNCLEAR: readonly Unclear[] = [...SKIPPED, ...NO_ANSWERS]
type Said = Readonly<Partial<Record<Unclear, number>>>

export type Counting = {
  readonly tally: Tally
  /** Of the tally, what the pass before has said of those to whom this pass has not come yet. */
  readonly before: Said
}

/** What the round has made of a customer so far. */
export type Noted = {
  readonly counted: boolean
  /** Its turn has raised a suspicion, which has not counted yet. */
  readonly suspected: boolean
  /** As what answers that nobody believed have made it count, while that is a suspicion again; null: they have not. */
  readonly doubted: DriftVerdict | null
}
export type Notes = ReadonlyMap<CustomerKey, Noted>

/** Who has had a clear answer at its turn, and who of them counts by now. */
export type Marks = { readonly taken: readonly CustomerKey[]; readonly counted: readonly CustomerKey[] }

type Batch = {
  readonly found: Stretch
  /** Some of these, where it was stopped. */
  readonly verified: readonly Verified[]
  /** As it was before these looks. */
  readonly notes: Notes
  readonly nowMs: number
  readonly periodMs: number
}

/**
 * Where a round stands, and what it counts, when these were looked at. One that was stopped goes on with the first who was
 * not. Each customer counts once, by its first clear answer that is no suspicion; the others are taken again, and count
 * anew each time: as a pass comes to them, what the one before said is taken back, and at its end also of whoever was
 * looked at by others in between.
 */
export function afterBatch<R extends Round & Counting>(
  round: R,
  { found, verified, notes, ...at }: Batch,
): R & { readonly marks: Marks } {
  const had = upToFirstLeft(found, new Set(verified.map(({ key }) => key)))
  const gone = { ...round, ...(had && afterTaking(round, { ...at, found: had })) }
  const keys = new Set(had?.keys)
  const said = verified.filter((each) => keys.has(each.key) || isClear(each))
  const counted = countedAnew(round, said, notes)
  const clear = said.filter(isClear)
  const marks = { taken: clear.map(keyOf), counted: clear.filter((each) => !isSuspicion(each)).map(keyOf) }
  return { ...gone, ...(gone.pass > round.pass || gone.ended ? passEnded(counted) : counted), marks }
}

/** What further looks add, and at whom: at those whose turn has raised a suspicion, or was not believed. */
export function clearedUp(
  tally: Tally,
  verified: readonly Verified[],
  notes: Notes,
): { readonly tally: Tally; readonly counted: readonly CustomerKey[] } {
  const ended = verified.filter((each) => isClear(each) && !isSuspicion(each))
  const open = ended.filter(({ key }) => notes.get(key)?.suspected || notes.get(key)?.doubted)
  return { tally: counting(tally, open, notes), counted: ended.map(keyOf) }
}

/** What was said of some by answers that nobody believed is taken back for what is said now. */
function counting(tally: Tally, verified: readonly Verified[], notes: Notes): Tally {
  const replaced = verified.flatMap(({ key }) => notes.get(key)?.doubted ?? [])
  return plus(minus(tally, tallyOf(replaced)), tallyOf(verified.map(({ verdict }) => toldInRound(verdict))))
}

function keyOf({ key }: Verified): CustomerKey {
  return key
}

function upToFirstLeft(found: Stretch, looked: ReadonlySet<CustomerKey>): Stretch | null {
  const left = found.keys.findIndex((key) => !looked.has(key))
  if (left < 0) return found
  const keys = found.keys.slice(0, left)
  const last = keys.at(-1)
  return last === undefined ? null : { keys, upTo: last }
}

function isClear({ verdict }: Verified): boolean {
  return verdict.kind === 'agrees' || isDrift(verdict)
}

/** It counts once its second look has said what it is, which comes before anybody new is taken. */
function isSuspicion({ standing }: Verified): boolean {
  return standing === 'suspected'
}

function countedAnew({ tally, before }: Counting, verified: readonly Verified[], notes: Notes): Counting {
  const isNew = ({ key }: Verified) => {
    const { counted = false, doubted = null } = notes.get(key) ?? {}
    return !counted || doubted !== null
  }
  const isSuspect = ({ key }: Verified) => notes.get(key)?.suspected === true
  const back = takenBack(
    before,
    verified.filter((each) => !isSuspect(each)),
  )
  const counts = verified.filter(
    (each) => isNew(each) && (isClear(each) ? !isSuspicion(each) : !isSuspect(each)),
  )
  return { tally: counting(without(tally, back), counts, notes), before: less(before, back) }
}

/**
 * Rounds leave out who is held, and meet who is from a moment ago on: the access of them `rollcall held` and the
 * records tell.
 */
function toldInRound(verdict: Verdict): Verdict {
  return verdict.kind === 'skipped' && verdict.why === 'held' ? { ...verdict, access: null } : verdict
}

/**
 * One for each. Nobody keeps what was said of whom, so the same is taken back where there is such a one, and of silence
 * last: the service is doubted for rather too long than too short. At the end of the pass all of it is exact.
 */
function takenBack(before: Said, verified: readonly Verified[]): Said {
  let left = before
  for (const { verdict } of verified) {
    const same = 'why' in verdict ? verdict.why : null
    const some = UNCLEAR.filter((why) => (left[why] ?? 0) > 0)
    const [first] = some
    if (first === undefined) break
    left = less(left, { [same !== null && some.includes(same) ? same : first]: 1 })
  }
  return less(before, left)
}

function passEnded({ tally, before }: Counting): Counting {
  const left = without(tally, before)
  return { tally: left, before: { ...left.skipped, ...left.noAnswer } }
}

function without(tally: Tally, said: Said): Tally {
  return { ...tally, skipped: less(tally.skipped, said), noAnswer: less(tally.noAnswer, said) }
}
