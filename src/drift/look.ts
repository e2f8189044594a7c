// The GETs of checks, inside the pace that all calls share, and what the answer to one shows.
import type { Config } from '../config/config.ts'
import type { CallEntry } from '../ledger/calls.ts'
import type { CustomerKey } from '../model/customer.ts'
import { userIdOf } from '../model/mapped.ts'
import type { Permit } from '../pace/pace.ts'
import { type Called, callService } from '../sync/call.ts'
import { classifyRead } from '../sync/classify.ts'
import type { SyncContext } from '../sync/context.ts'
import { busyness, signOf } from '../sync/sign.ts'
import type { Snapshot } from '../sync/snapshot.ts'
import type { Sight } from './compare.ts'
import type { NoAnswer } from './words.ts'

export type CheckAnswer = { readonly sight: Sight } | { readonly none: NoAnswer }

export type CheckOptions = {
  readonly config: Config
  readonly context: Pick<SyncContext, 'users' | 'permits' | 'heard'>
  /** Takes each call down. */
  readonly log: (entry: CallEntry) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A customer that was not checked when it was stopped is not among the answers. */
type Looks = {
  readonly answers: ReadonlyMap<CustomerKey, CheckAnswer>
  readonly stopped: 'asked' | 'pace' | null
}

const GET = { method: 'GET' } as const

/** In place of the row id of a customer who has no work row. */
const NO_ROW = '0'

/** Each answer counts for the pace and the breaker as every call does, and is taken down in the log of calls. */
export function makeChecker({ config, context, log, now }: CheckOptions) {
  const { users, permits, heard } = context

  return async (subjects: readonly Snapshot[], signal: AbortSignal): Promise<Looks> => {
    const answers = new Map<CustomerKey, CheckAnswer>()
    const left = [...subjects]
    let stopped: Looks['stopped'] = null
    const work = async () => {
      for (;;) {
        const subject = stopped ? undefined : left.shift()
        if (!subject) return
        const answer = await lookAt(subject, signal)
        if (typeof answer === 'string') stopped ??= answer
        else answers.set(subject.key, answer)
      }
    }
    const concurrency = Math.min(config.pace.concurrency, subjects.length)
    await Promise.all(Array.from({ length: concurrency }, work))
    return { answers, stopped }
  }

  async function lookAt(subject: Snapshot, signal: AbortSignal): Promise<CheckAnswer | 'asked' | 'pace'> {
    const permit = await standingPermit(signal)
    if (!permit) return signal.aborted ? 'asked' : 'pace'
    const userId = userIdOf(subject.mapped) ?? ''
    const called = await callService(users, { call: GET, userId, signal })
    const { outcome } = called
    const meaning = classifyRead(outcome)
    log(entryOf(subject.key, called, now()))
    const id = subject.work.id ?? NO_ROW
    await heard({ id, epoch: permit.epoch, sign: signOf(outcome, meaning, GET), ...busyness(outcome) })
    const shown = shownBy(called)
    return shown === 'stopped' ? 'asked' : shown
  }

  /** A permit that was taken before the pace was dropped is no leave any more. Null: stopped. */
  async function standingPermit(signal: AbortSignal): Promise<Permit | null> {
    for (;;) {
      const permit = await permits.take(signal)
      if (!permit || permits.stands(permit)) return permit
      permits.giveBack(permit)
    }
  }
}

function entryOf(key: CustomerKey, { outcome, shape, durationMs: ms }: Called, atMs: number): CallEntry {
  const meaning = classifyRead(outcome)
  const call = { key, atMs, ms, plan: 'verify', method: 'GET', meaning, fields: [], shape } as const
  return outcome.kind === 'reply'
    ? { ...call, status: outcome.status, error: null, body: outcome.body }
    : { ...call, status: null, error: outcome.error, body: null }
}

/** `stopped`: we broke the call off ourselves. */
export type GetShown = CheckAnswer | 'stopped'

/**
 * A sync believes of the same answer no more than this does. A 2xx that is no user is told apart from no answer: the
 * service would say it of that user again. One that reports an error is told as that, since no log of it shows a 5xx.
 */
export function shownBy({ outcome, remote }: Pick<Called, 'outcome' | 'remote'>): GetShown {
  if (outcome.kind === 'error') {
    if (outcome.error === 'aborted') return 'stopped'
    return { none: outcome.error === 'bad-user-id' ? 'refused' : 'unreached' }
  }
  const { status, body } = outcome
  const meaning = classifyRead(outcome)
  switch (meaning) {
    case 'present':
      return { sight: remote ?? 'unreadable' }
    case 'absent':
      return { sight: 'absent' }
    case 'later':
      return { none: 'busy' }
    case 'denied':
      return { none: 'denied' }
    case 'failed':
      if (status >= 200 && status < 300) return body === 'error' ? { none: 'error' } : { sight: 'unreadable' }
      return { none: status >= 500 || status === 408 ? 'trouble' : 'refused' }
    default:
      return meaning satisfies never
  }
}
