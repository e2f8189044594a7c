// One tick of the workers' rounds: a few customers at a time, for as long as somebody is due and nothing speaks against it.
import type { Pool } from 'pg'
import { alone } from '../ledger/alone.ts'
import type { Binding } from '../ledger/target.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Allowance, refill, type Standstill, standstill } from './allowance.ts'
import { readCircumstances } from './circumstances.ts'
import { afterBatch, clearedUp } from './counting.ts'
import {
  beginRound,
  keepRound,
  keepTally,
  nextOfRound,
  notedIn,
  readRound,
  recount,
  type StoredRound,
} from './rounds.ts'
import { speedOfRounds } from './speed.ts'
import type { Verification } from './verify.ts'
import { countedForMs, turnOf } from './window.ts'

/** `busy`: another process is at it. `rest`: nobody is due. `time`: the next tick goes on. */
export type TickEnd = Standstill | 'busy' | 'rest' | 'time'

type Options = {
  readonly pool: Pool
  readonly fingerprint: string
  readonly binding: Binding
  readonly credentials: string
  readonly periodMs: number
  /** How long a tick lasts. */
  readonly lastsMs: number
  /** At most so many are looked at at once. */
  readonly most: number
  /** Customers whose second look is due, at most so many. */
  readonly dueLooks: (limit: number) => Promise<readonly CustomerKey[]>
  readonly verify: (keys: readonly CustomerKey[], looking: Looking) => Promise<Verification>
  /** A round has come to its end. */
  readonly onRound: (round: StoredRound) => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly signal: AbortSignal
}

/** What is found is the round's; null: there is none yet. `again`: not because their turn in it has come. */
export type Looking = { readonly round: StoredRound | null; readonly again: boolean }

const BEAT_MS = 250

/** `took`: it goes on after a moment. */
type Beat = Standstill | 'rest' | 'took' | 'time'

function endOf(stopped: NonNullable<Verification['stopped']>): Beat {
  switch (stopped) {
    case 'asked':
      return 'time'
    case 'pace':
      return 'stopped'
    case 'mapping':
      return 'mapping'
    default:
      return stopped satisfies never
  }
}

export function makeTick(options: Options): () => Promise<TickEnd> {
  const { pool, periodMs, most, dueLooks, verify, onRound, now, signal } = options
  let allowance: Allowance = { left: 1, at: now() }
  let countedAt = Number.NEGATIVE_INFINITY

  return async () => (await alone(pool, 'round', run)) ?? 'busy'

  async function run(): Promise<TickEnd> {
    const until = now() + options.lastsMs
    for (;;) {
      const end = await beat()
      if (end !== 'took') return end
      if (now() + BEAT_MS >= until) return 'time'
      await options.sleep(BEAT_MS, signal)
      if (signal.aborted) return 'time'
    }
  }

  async function beat(): Promise<Beat> {
    const { nowMs, ...circumstances } = await readCircumstances(pool, options)
    const why = standstill(circumstances)
    if (why !== null) return why
    allowance = refill(allowance, speedOfRounds(circumstances.rate), now())
    const room = Math.min(most, Math.floor(allowance.left))
    if (room < 1) return 'took'
    // A suspicion is cleared up before another one is raised.
    const again = await dueLooks(room)
    const stopped = await lookAgain(again)
    if (stopped) return endOf(stopped)
    const next = await takeNext(nowMs, room - again.length)
    return next === 'rest' && again.length > 0 ? 'took' : next
  }

  async function look(keys: readonly CustomerKey[], looking: Looking): Promise<Verification> {
    if (keys.length === 0) return { verified: [], stopped: null }
    allowance = { ...allowance, left: allowance.left - keys.length }
    return verify(keys, looking)
  }

  async function lookAgain(keys: readonly CustomerKey[]): Promise<Verification['stopped']> {
    if (keys.length === 0) return null
    const round = await readRound(pool)
    const notes = round ? await notedIn(pool, round, keys) : null
    const { verified, stopped } = await look(keys, { round, again: true })
    if (round && notes) await keepTally(pool, clearedUp(round, verified, notes))
    return stopped
  }

  async function takeNext(nowMs: number, room: number): Promise<Beat> {
    const round = await readRound(pool)
    const turn = turnOf(round, { nowMs, periodMs, room })
    if (turn.kind === 'begin' || !round) {
      await beginRound(pool)
      return 'took'
    }
    await count(round)
    return turn.kind === 'rest' ? 'rest' : takeSome(round, nowMs, turn.count)
  }

  /** What a crash in between takes away is the count of these few; whom they were is in the ledger. */
  async function takeSome(round: StoredRound, nowMs: number, most: number): Promise<Beat> {
    const found = await nextOfRound(pool, round, most)
    const notes = await notedIn(pool, round, found.keys)
    const { verified, stopped } = await look(found.keys, { round, again: false })
    const after = afterBatch(round, { found, verified, notes, nowMs, periodMs })
    await keepRound(pool, after)
    if (after.ended) onRound(after)
    if (stopped) return endOf(stopped)
    return after.ended ? 'rest' : 'took'
  }

  async function count({ id, ended }: StoredRound): Promise<void> {
    if (ended || now() - countedAt < countedForMs(periodMs)) return
    countedAt = now()
    await recount(pool, id)
  }
}
