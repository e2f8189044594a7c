// What a round counts: each customer once, by what was said of it last. Pure.
import type { CustomerKey } from '../model/customer.ts'
import { doubtOf } from './doubt.ts'
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
  /** Its answers were not believed at some time: of drift that it has counted what is said last takes the place. */
  readonly doubted: boolean
}

/** What a round has made of somebody who has had a clear answer at its turn. Not counted: that was a suspicion. */
export type Noted = {
  readonly counted: boolean
  /** As what, where that is drift. */
  readonly as: DriftVerdict | null
}
export type Notes = ReadonlyMap<CustomerKey, Noted>

/** Who has had a clear answer at its turn, and as what who of them counts; null: as agreeing. */
export type Marks = {
  readonly taken: readonly CustomerKey[]
  readonly counted: readonly { readonly key: CustomerKey; readonly as: DriftVerdict | null }[]
}

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
  const back = takenBack(
    round.before,
    said.filter(({ key }) => !notes.has(key)),
  )
  const counts = said.filter((each) => (isClear(each) ? ends(round, each, notes) : !notes.has(each.key)))
  const { tally, doubted } = counting({ ...round, tally: without(round.tally, back) }, counts, notes)
  const counted = { tally, doubted, before: less(round.before, back) }
  return {
    ...{ ...gone, ...(gone.pass > round.pass || gone.ended ? passEnded(counted) : counted) },
    marks: {
      taken: said.filter(isClear).map(({ key }) => key),
      counted: counts.filter(isClear).map(asCounted),
    },
  }
}

/** What further looks add, and of whom: whose turn has raised a suspicion, or had an answer that was not believed. */
export function clearedUp<R extends Counting>(
  round: R,
  verified: readonly Verified[],
  notes: Notes,
): R & { readonly marks: Marks } {
  const counts = verified.filter((each) => notes.has(each.key) && ends(round, each, notes))
  const marks = { taken: counts.map(({ key }) => key), counted: counts.map(asCounted) }
  return { ...round, ...counting(round, counts, notes), marks }
}

/** Whether that is the answer by which the customer counts. */
function ends({ doubted }: Pick<Counting, 'doubted'>, each: Verified, notes: Notes): boolean {
  if (!isClear(each) || isSuspicion(each)) return false
  const noted = notes.get(each.key)
  return !noted?.counted || (doubted && noted.as !== null)
}

/** What was counted of them before is taken back for what is said now. */
function counting({ tally, doubted }: Omit<Counting, 'before'>, verified: readonly Verified[], notes: Notes) {
  const replaced = verified.flatMap(({ key }) => notes.get(key)?.as ?? [])
  const said = tallyOf(verified.map(({ verdict }) => toldInRound(verdict)))
  const after = plus(minus(tally, tallyOf(replaced)), said)
  return { tally: after, doubted: doubted || doubtOf(after) !== null }
}

function asCounted({ key, verdict }: Verified): Marks['counted'][number] {
  return { key, as: isDrift(verdict) ? verdict : null }
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

function passEnded({ tally, before, doubted }: Counting): Counting {
  const left = without(tally, before)
  return { tally: left, doubted, before: { ...left.skipped, ...left.noAnswer } }
}

function without(tally: Tally, said: Said): Tally {
  return { ...tally, skipped: less(tally.skipped, said), noAnswer: less(tally.noAnswer, said) }
}
