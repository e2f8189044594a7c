// Which calls a customer's claims will make, found by the worker's own decisions on a service that holds what we
// remember, knows nobody else, and refuses nothing.
import type { BrakeKind } from '../brake/brake.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import { type Fields, OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'
import { absorbWrite } from '../sync/absorb.ts'
import { type Before, kindsOf } from '../sync/braked.ts'
import { withoutConflict } from '../sync/conflict.ts'
import { type CustomerDigests, type Digester, forCustomer } from '../sync/digest.ts'
import type { Policy } from '../sync/policy.ts'
import { rememberAbsent, rememberSeen } from '../sync/remember.ts'
import { existedBefore } from '../sync/there.ts'
import { type Call, nextMove, startTurn, type Turn } from '../sync/turn.ts'
import type { Judged, Made } from './judge.ts'

export type CallMethod = Call['method']

export type Ahead = {
  readonly calls: readonly CallMethod[]
  readonly registered: readonly OptionalField[]
  readonly kinds: readonly BrakeKind[]
  /** What a look (GET) shows decides on what follows: these calls follow where it shows what we expect. */
  readonly looks: boolean
}

type Looking = { readonly key: CustomerKey; readonly policy: Policy; readonly digester: Digester }

/** Longer than any that can be: a revocation, an erasure, the look after it and what that shows. */
const MOST_CALLS = 8

/** A claim after the other until nothing is left to do, decided by the worker's own `nextMove` and `absorbWrite`. */
export function callsAhead(made: Made, { key, policy, digester }: Looking): Ahead {
  const { mapped, rivals } = made
  const digests = forCustomer(digester, key)
  const situation = { mapped, rivals, policy, digests, lookAfterMs: 0, consistencyDelayMs: 0 }
  const sendable = withoutConflict(mapped, made.memory)
  const desired = sendable.kind === 'user' ? sendable.user : null
  const facts = { status: 200, named: [], conflict: false, desired, digests, lookAfterMs: 0 }
  const before = beforeOf(made, policy)
  const calls: CallMethod[] = []
  const kinds = new Set<BrakeKind>()
  let registered: readonly OptionalField[] = []
  let looks = false
  let turn = startTurn(made.memory)
  while (calls.length < MOST_CALLS) {
    const move = nextMove(turn, situation)
    if ('end' in move) {
      // The look after an erasure comes with a claim of its own.
      if (move.plan.kind !== 'lookup' || move.end.kind !== 'retry' || turn.lookups > 0) break
      turn = startTurn(turn.memory)
      continue
    }
    for (const kind of kindsOf(move.plan, turn.memory, before)) kinds.add(kind)
    calls.push(move.call.method)
    if (move.plan.kind === 'create') registered = carriedBy(move.plan.body)
    if (move.call.method === 'GET') {
      // Of somebody who is looked at for a trial, or after an erasure, it is known what there is.
      looks ||= turn.memory.remote !== 'present'
      turn = lookedAt(turn, made, digests)
    } else turn = absorbWrite(turn, 'done', { ...facts, plan: move.plan }).turn
  }
  return { calls, registered, kinds: [...kinds], looks }
}

function carriedBy(body: Fields): readonly OptionalField[] {
  return OPTIONAL_FIELDS.filter((field) => body[field] !== undefined)
}

/** As sync/run.ts finds it. */
function beforeOf({ mapped, record, rivals }: Made, { onRemove }: Policy): Before {
  return {
    wasThere: record.userId === userIdOf(mapped) && existedBefore(record),
    erases: mapped.kind === 'removed' && rivals.length === 0 && onRemove === 'erase',
    shownWithout: record.state === 'idle' && record.seenStatus === 0,
  }
}

/** Whoever was known to be there is there and as we left it; whoever was not, is not. */
function lookedAt(turn: Turn, made: Made, digests: CustomerDigests): Turn {
  const looked = { ...turn, lookups: turn.lookups + 1, sure: true }
  const { memory } = turn
  const there =
    memory.remote === 'present' || (memory.remote === 'unknown' && made.record.remote === 'present')
  if (!there) return { ...looked, memory: rememberAbsent(memory) }
  const status = memory.seenStatus ?? memory.sentStatus
  const { found, mapped } = made
  // Digests of another key tell nothing: the look will find the fields as they are desired, unless they were changed.
  if (!found.comparable && mapped.kind === 'user') {
    const { userId, fields, status: desired } = mapped.user
    const remote = { userId, status: status ?? desired, fields }
    return { ...looked, memory: rememberSeen(memory, remote, mapped.user, digests) }
  }
  const erased = memory.erased === null ? null : ('verified' as const)
  return { ...looked, memory: { ...memory, remote: 'present', seenStatus: status, erased, looked: true } }
}

type Throttle = {
  readonly rate: number
  readonly policy: Policy
  readonly digester: Digester
  readonly now: () => number
  /** Resolves after the time, or as soon as nobody wants to wait any more. */
  readonly sleep: (ms: number) => Promise<void>
}

/** Customers in a page: a page's calls take a second at the most, so that none comes as a burst. */
export function pageFor(rate: number): number {
  return Math.max(1, Math.min(1000, Math.floor(rate)))
}

/** Called after a page was noted: waits as long as its calls take at that rate, at most `mostMs`. Resolves to what is left. */
export function makeThrottle({ rate, policy, digester, now, sleep }: Throttle) {
  let free = now()
  return async (judged: readonly Judged[], mostMs: number): Promise<number> => {
    const calls = judged.flatMap(({ key, verdict, made }) =>
      made && verdict === 'differs' ? callsAhead(made, { key, policy, digester }).calls : [],
    )
    free = Math.max(free, now()) + (calls.length / rate) * 1000
    await sleep(Math.min(free - now(), mostMs))
    return Math.max(0, free - now())
  }
}
