import type { Ending } from '../ledger/end-of-claim.ts'
import type { KnownRecord, LedgerRecord } from '../ledger/record.ts'
import { existedBefore } from '../ledger/record.ts'
import { type Mapped, userIdOf } from '../model/mapped.ts'
import { entitled } from '../model/user.ts'
import { absorbRead, absorbWrite } from './absorb.ts'
import type { Facts } from './answer.ts'
import { hadAccess } from './braked.ts'
import { absenceBraked, afterStop, braked } from './braking.ts'
import { type Called, callService } from './call.ts'
import { busyness, classifyRead, classifyWrite, healthOf, type Outcome } from './classify.ts'
import { withoutConflict } from './conflict.ts'
import type { ClaimRun, SyncContext } from './context.ts'
import { forCustomer } from './digest.ts'
import { makeEnding } from './finish.ts'
import { makeGate } from './gate.ts'
import { type Memory, rememberFor, startMemory } from './memory.ts'
import { inherit, latestOf } from './others.ts'
import { isToErase, leavesTrial } from './plan.ts'
import { readSubject, type Subject } from './subject.ts'
import { type Call, isAccessFirst, nextMove, startTurn, type Turn, type TurnEnd } from './turn.ts'

/**
 * Carries out one claim: read the customer as it is now, decide, call, learn, decide again, until there is an
 * ending. Row and record are read after the claim was committed, each in a new snapshot: read before it, a
 * change between the two would be settled without having been seen.
 */
export async function runClaim(context: SyncContext, run: ClaimRun): Promise<Ending> {
  const { claim } = run
  const { digester } = context
  const gate = makeGate(context, run)
  try {
    const record = await context.readRecord(claim.key)
    const subject = await readSubject(context, claim, record)
    const alone = { key: claim.key, record, doubted: claim.statusDoubted }
    const own = subject.kept.find(({ key }) => key === claim.key) ?? alone
    const known = inherit(latestOf(own, subject.kept), { own, mapped: subject.mapped, digester })
    const memory = recall(context, run, { record: known, mapped: subject.mapped })
    const result =
      'end' in subject
        ? { turn: startTurn(memory), last: null, end: subject.end }
        : await takeTurns({ context, run, gate, subject, own: record, record: known, memory })
    run.observe({ step: 'ended', end: result.end })
    return makeEnding({ context, claim, record, known, ...subject, ...result })
  } finally {
    gate.close()
  }
}

/** The service may go on showing for a while what was there before our last write. */
function lookAfter({ config }: SyncContext, { writtenAgoMs }: KnownRecord): number {
  // A database whose clock was set back tells a negative age.
  return writtenAgoMs === null ? 0 : Math.max(0, config.timing.consistencyDelayMs - Math.max(0, writtenAgoMs))
}

type Recalled = { readonly record: LedgerRecord; readonly mapped: Mapped }

function recall({ digester }: SyncContext, { claim, look }: ClaimRun, { record, mapped }: Recalled): Memory {
  // A gateway may have said that no user is there, as long as no settle has accepted it. Access is not gone by that.
  const loses = mapped.kind !== 'user' || !entitled(mapped.user.status)
  const unaccepted = record.remote === 'absent' && (record.state !== 'idle' || existedBefore(record))
  const unknown = claim.unknown || look || (loses && unaccepted)
  const memory = startMemory({ ...claim, record, unknown, digestKey: digester.id })
  return rememberFor(memory, { mapped, record, digests: forCustomer(digester, claim.key) })
}

type Turning = {
  readonly context: SyncContext
  readonly run: ClaimRun
  readonly gate: ReturnType<typeof makeGate>
  readonly subject: Subject
  readonly own: KnownRecord
  /** The record of the customer that wrote to this user last. */
  readonly record: KnownRecord
  readonly memory: Memory
}
type Turned = { readonly turn: Turn; readonly last: Called | null; readonly end: TurnEnd }

/** Decide, call, learn, and decide again with what was learnt, until there is an ending. */
async function takeTurns({ context, run, gate, subject, own, record, memory }: Turning): Promise<Turned> {
  const { mapped, rivals } = subject
  run.observe({ step: 'mapped', mapped })
  const digests = forCustomer(context.digester, run.claim.key)
  const lookAfterMs = lookAfter(context, record)
  const { consistencyDelayMs } = context.config.timing
  const accessFirst = isAccessFirst(run.claim.attempts, own.reason)
  const times = { lookAfterMs, consistencyDelayMs, accessFirst }
  const situation = { mapped, rivals, policy: context.config, digests, ...times }
  const { key } = run.claim
  const braking = {
    ...{ brake: context.brake, key, digests, record: own },
    before: {
      wasThere: record.userId === userIdOf(mapped) && existedBefore(record),
      erases: isToErase(situation),
      hadAccess: hadAccess({ ...own, sentStatus: record.sentStatus }),
    },
    digestKey: context.digester.id,
    desired: context.digester.whole(key, mapped, context.config.clearWith),
  }
  let turn = startTurn(memory)
  let last: Called | null = null
  for (;;) {
    const move = await braked(braking, nextMove(turn, situation), turn)
    run.observe({ step: 'planned', plan: move.plan })
    if ('end' in move) return await ended(move.end)
    // After a crash the record is what is known: the trial that it tells of must not seem to have ended by itself.
    if (record.sentStatus === 4 && leavesTrial(move.plan)) await context.doubtStatus(run.claim)
    // And the user, whom nobody would look for once the customer has left the scope.
    const first = own.remote === 'unasked' && move.call.method !== 'GET'
    if (first && context.config.scope) await context.markAsked(key)
    const closed = await gate.pass(turn)
    if (closed) return { turn, last, end: closed }
    const userId = userIdOf(mapped) ?? ''
    const called = await callService(context.users, { call: move.call, userId, signal: run.abort })
    last = called
    const { named, conflict } = called
    const sendable = withoutConflict(mapped, turn.memory)
    const desired = sendable.kind === 'user' ? sendable.user : null
    const about = { plan: move.plan, desired, digests, lookAfterMs, accessFirst }
    const facts = { ...factsOf(called.outcome), named, conflict, ...about }
    const { meaning, step } = learn(turn, move.call, called, facts)
    run.observe({ step: 'answered', plan: move.plan, called, meaning })
    turn = step.turn
    const health = healthOf(called.outcome, meaning)
    await context.report({ id: run.claim.id, epoch: gate.epoch(), health, ...busyness(called.outcome) })
    if (step.end) return await ended(step.end)
  }

  async function ended(proposed: TurnEnd): Promise<Turned> {
    const end = await absenceBraked(braking, turn.memory, proposed)
    return { turn: { ...turn, memory: afterStop(turn.memory, end) }, last, end }
  }
}

function learn(turn: Turn, call: Call, called: Called, facts: Facts) {
  if (call.method === 'GET') {
    const meaning = classifyRead(called.outcome)
    return { meaning, step: absorbRead(turn, meaning, called.remote, facts) }
  }
  const meaning = classifyWrite(call.method, called.outcome)
  return { meaning, step: absorbWrite(turn, meaning, facts) }
}

function factsOf(outcome: Outcome): Pick<Facts, 'status' | 'error' | 'waitMs'> {
  if (outcome.kind === 'error') return { status: null, error: outcome.error }
  const wait = outcome.retryAfterMs === undefined ? {} : { waitMs: outcome.retryAfterMs }
  return { status: outcome.status, ...wait }
}
