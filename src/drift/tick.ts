// One tick of the workers' rounds: a few customers at a time, for as long as somebody is due and nothing speaks against it.
import type { Pool } from 'pg'
import { alone, ROUNDS } from '../ledger/alone.ts'
import type { Binding } from '../ledger/target.ts'
import type { CustomerKey } from '../model/customer.ts'
import { type Allowance, refill, type Standstill, standstill } from './allowance.ts'
import { readCircumstances } from './circumstances.ts'
import { beginRound, keepRound, nextOfRound, readRound, recount, type StoredRound } from './rounds.ts'
import { plus, tallyOf } from './tally.ts'
import { afterTaking, countedForMs, turnOf } from './window.ts'
import type { Verified } from './words.ts'

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
  readonly verify: (keys: readonly CustomerKey[]) => Promise<readonly Verified[]>
  /** A round has come to its end. */
  readonly onRound: (round: StoredRound) => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly signal: AbortSignal
}

const BEAT_MS = 250

/** `took`: nobody may have been due at this moment, but somebody is soon. */
type Beat = Standstill | 'rest' | 'took'

export function makeTick(options: Options): () => Promise<TickEnd> {
  const { pool, periodMs, most, dueLooks, verify, onRound, now, signal } = options
  let allowance: Allowance = { left: 1, at: now() }
  let countedAt = Number.NEGATIVE_INFINITY

  return async () => (await alone(pool, ROUNDS, run)) ?? 'busy'

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
    allowance = refill(allowance, circumstances.rate, now())
    const room = Math.min(most, Math.floor(allowance.left))
    if (room < 1) return 'took'
    // A suspicion is cleared up before another one is raised.
    const again = await dueLooks(room)
    const looked = await look(again)
    const taken = await takeNext(nowMs, room - again.length)
    return looked || taken ? 'took' : 'rest'
  }

  async function look(keys: readonly CustomerKey[]): Promise<readonly Verified[] | null> {
    if (keys.length === 0) return null
    allowance = { ...allowance, left: allowance.left - keys.length }
    return verify(keys)
  }

  /** What a crash in between takes away is the count of these few; whom they were is in the ledger. */
  async function takeNext(nowMs: number, room: number): Promise<boolean> {
    const round = await readRound(pool)
    const turn = turnOf(round, { nowMs, periodMs, room })
    if (turn.kind === 'begin') await beginRound(pool)
    if (turn.kind !== 'take' || !round) {
      if (round && turn.kind === 'rest') await count(round)
      return turn.kind === 'begin'
    }
    await count(round)
    const found = await nextOfRound(pool, round, turn.count)
    const verified = (await look(found.keys)) ?? []
    const tally = plus(round.tally, tallyOf(verified.map(({ verdict }) => verdict)))
    const after = { ...round, ...afterTaking(round, { nowMs, periodMs, found }), tally }
    await keepRound(pool, after)
    if (after.ended) onRound(after)
    return !after.ended
  }

  async function count({ id, ended }: StoredRound): Promise<void> {
    if (ended || now() - countedAt < countedForMs(periodMs)) return
    countedAt = now()
    await recount(pool, id)
  }
}
