import type { Brake } from '../brake/brake.ts'
import type { KnownRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import { askBrake } from './braked.ts'
import type { CustomerDigests } from './digest.ts'
import type { Memory } from './memory.ts'
import type { Move, Turn, TurnEnd } from './turn.ts'

type Braking = {
  readonly brake: Brake
  readonly key: CustomerKey
  /** As it was before this claim. */
  readonly record: Pick<KnownRecord, 'remote' | 'state' | 'reason' | 'desired' | 'digestKey'>
  /** Key id of the digests of this process. */
  readonly digestKey: string
  /** Digest of the desired user. */
  readonly desired: string
  readonly digests: CustomerDigests
}

/**
 * What becomes of a move before its call is made. What a person has discarded is not sent while the customer stays as
 * it was then. Where only a part of an update is held, the rest goes.
 */
export async function braked(braking: Braking, move: Move, { memory }: Turn): Promise<Move> {
  if ('end' in move || move.call.method === 'GET') return move
  const { record, desired, digestKey } = braking
  if (record.state === 'discarded' && record.desired === desired)
    return { plan: move.plan, end: { kind: 'settle', state: 'discarded', reason: record.reason } }
  // Digested with another key: whether it is what was discarded cannot be told, so a person is asked once more.
  if (record.state === 'discarded' && record.digestKey !== null && record.digestKey !== digestKey)
    return { plan: move.plan, end: heldFor(record.reason?.kinds ?? []) }
  const answer = await asked(askBrake(move.plan, { ...braking, memory }))
  if (!answer) return { plan: move.plan, end: BUSY }
  const { plan, held } = answer
  if (held.length === 0) return move
  if (plan?.kind === 'patch') return { plan, call: { method: 'PATCH', body: plan.body } }
  return { plan: move.plan, end: heldFor(held) }
}

/**
 * A user who was there and is not any more, with nothing left to do for it: one is settled, a mass of them is a wrong
 * address. Then nothing is taken for known, so that whoever is released is looked for first.
 */
export async function absenceBraked(
  { brake, key, record, desired }: Braking,
  memory: Memory,
  end: TurnEnd,
): Promise<{ readonly memory: Memory; readonly end: TurnEnd }> {
  const settled = end.kind === 'settle' && end.state === 'idle'
  const heldBefore = record.reason?.code === 'held' && record.reason.kinds?.includes('absence') === true
  const wasThere = record.remote === 'present' || heldBefore
  if (!settled || memory.remote !== 'absent' || !wasThere) return { memory, end }
  if (record.state === 'discarded' && record.desired === desired) return { memory, end }
  const held = await brake({ key, desired, kinds: ['absence'] })
  return held.length === 0
    ? { memory, end }
    : { memory: { ...memory, remote: 'unknown' }, end: heldFor(held) }
}

/** Its row may be in the hands of a process that is suspended; that is nothing against the customer. */
const BUSY: TurnEnd = {
  kind: 'retry',
  reason: { code: 'brake-busy' },
  failed: false,
  waitMs: 1000,
  released: true,
}
const LOCK_NOT_AVAILABLE = '55P03'

/** Null when the brake cannot be asked now: nothing is counted then, and nothing may be sent. */
async function asked<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== LOCK_NOT_AVAILABLE) throw error
    return null
  }
}

function heldFor(kinds: readonly string[]): TurnEnd {
  return { kind: 'settle', state: 'held', reason: { code: 'held', kinds } }
}
