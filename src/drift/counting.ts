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

/** Whom the round suspects, and as what it has counted them already; null: it has not. */
export type Suspected = ReadonlyMap<CustomerKey, DriftVerdict | null>

type Batch = {
  readonly found: Stretch
  /** Some of these, where it was stopped. */
  readonly verified: readonly Verified[]
  /** As it was before these looks. */
  readonly suspected: Suspected
  readonly nowMs: number
  readonly periodMs: number
}

/**
 * Where a round stands, and what it counts, when these were looked at. One that was stopped goes on with the first who was
 * not. Whoever gave a clear answer is not taken again; the others are, and count anew each time: as a pass comes to them,
 * what the one before said is taken back, and at its end also of whoever was looked at by others in between.
 */
export function afterBatch<R extends Round & Counting>(
  round: R,
  { found, verified, suspected, ...at }: Batch,
): R {
  const taken = upToFirstLeft(found, new Set(verified.map(({ key }) => key)))
  const gone = { ...round, ...(taken && afterTaking(round, { ...at, found: taken })) }
  const keys = new Set(taken?.keys)
  const said = verified.filter((each) => keys.has(each.key) || isClear(each))
  const counted = countedAnew(round, said, suspected)
  return { ...gone, ...(gone.pass > round.pass || gone.ended ? passEnded(counted) : counted) }
}

/**
 * What the second looks at those who were suspected add: an open suspicion has counted as nothing. Who was counted by
 * answers that nobody believed is not counted again for differing in that way still; whatever else is said of it takes the
 * place of that.
 */
export function clearedUp(tally: Tally, verified: readonly Verified[], suspected: Suspected): Tally {
  const ended = verified.filter((each) => suspected.has(each.key) && isClear(each) && !isSuspicion(each))
  const before = (each: Verified) => suspected.get(each.key) ?? null
  const fresh = ended.filter((each) => before(each)?.kind !== each.verdict.kind)
  const replaced = fresh.flatMap((each) => before(each) ?? [])
  return plus(minus(tally, tallyOf(replaced)), tallyOf(fresh.map(({ verdict }) => verdict)))
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

function countedAnew(
  { tally, before }: Counting,
  verified: readonly Verified[],
  suspected: Suspected,
): Counting {
  const back = takenBack(
    before,
    verified.filter(({ key }) => !suspected.has(key)),
  )
  const counts = verified.filter((each) => !isSuspicion(each) && (isClear(each) || !suspected.has(each.key)))
  const said = tallyOf(counts.map(({ verdict }) => toldInRound(verdict)))
  return { tally: plus(without(tally, back), said), before: less(before, back) }
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
