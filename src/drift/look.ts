// The GETs of a verification, inside the pace that all calls share.
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
import { shownBy } from './sight.ts'
import type { NoAnswer } from './words.ts'

export type CheckAnswer = { readonly sight: Sight } | { readonly none: NoAnswer }

export type CheckOptions = {
  readonly config: Config
  readonly context: Pick<SyncContext, 'users' | 'permits' | 'heard'>
  /** Takes each call down. */
  readonly log: (entry: CallEntry) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Looks at once; default as many as the configuration has calls at once. */
  readonly concurrency?: number
}

/** Who was not looked at when it was stopped is not among the answers. */
type Looks = {
  readonly answers: ReadonlyMap<CustomerKey, CheckAnswer>
  readonly stopped: 'asked' | 'pace' | null
}

/** In place of the row id of a customer who has no work row. */
const NO_ROW = '0'

/** What is heard counts for the pace and the breaker as every call does; each is taken down in the log of calls. */
export function makeChecker({
  config,
  context,
  log,
  now,
  concurrency = config.pace.concurrency,
}: CheckOptions) {
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
    await Promise.all(Array.from({ length: Math.min(concurrency, subjects.length) }, work))
    return { answers, stopped }
  }

  async function lookAt(subject: Snapshot, signal: AbortSignal): Promise<CheckAnswer | 'asked' | 'pace'> {
    const permit = await standing(signal)
    if (!permit) return signal.aborted ? 'asked' : 'pace'
    const userId = userIdOf(subject.mapped) ?? ''
    const called = await callService(users, { call: { method: 'GET' }, userId, signal })
    const { outcome } = called
    const meaning = classifyRead(outcome)
    log(entryOf(subject.key, called, now()))
    const id = subject.work.id ?? NO_ROW
    await heard({ id, epoch: permit.epoch, sign: signOf(outcome, meaning), ...busyness(outcome) })
    const shown = shownBy(called)
    return shown === 'stopped' ? 'asked' : shown
  }

  /** One that was taken before the pace was dropped is no leave any more. */
  async function standing(signal: AbortSignal): Promise<Permit | null> {
    for (;;) {
      const permit = await take(signal)
      if (!permit || permits.stands(permit)) return permit
    }
  }

  async function take(signal: AbortSignal): Promise<Permit | null> {
    try {
      return await permits.take(signal)
    } catch (error) {
      if (!signal.aborted) throw error
      return null
    }
  }
}

function entryOf(key: CustomerKey, { outcome, shape, durationMs }: Called, atMs: number): CallEntry {
  const what = { plan: 'verify', method: 'GET', meaning: classifyRead(outcome), fields: [], shape }
  return outcome.kind === 'reply'
    ? { key, atMs, ...what, ms: durationMs, status: outcome.status, error: null, body: outcome.body }
    : { key, atMs, ...what, ms: durationMs, status: null, error: outcome.error, body: null }
}
