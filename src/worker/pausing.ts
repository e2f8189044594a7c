import type { Consumer } from '../dispatch/queue.ts'
import type { CallEntry } from '../ledger/calls.ts'
import type { Opened } from './context.ts'
import { makeProbe } from './probe.ts'

export type Pausable = Pick<Consumer, 'pause' | 'resume'>

/**
 * This process takes jobs while nothing speaks against it: another mapping that syncs go by, a service that does not
 * take its credentials. Each reason is a switch of its own, and the last one that is lifted lets jobs in again.
 */
export function makeTakingPart(consumer: Pausable): (reason: string) => Pausable {
  const against = new Set<string>()
  return (reason) => ({
    async pause() {
      // Noted once it is done: what fails is tried again with the next step.
      if (against.size === 0) await consumer.pause()
      against.add(reason)
    },
    async resume() {
      if (against.has(reason) && against.size === 1) await consumer.resume()
      against.delete(reason)
    },
  })
}

type Options = {
  readonly opened: Pick<Opened, 'pool' | 'context' | 'pace'>
  /** Breaks a probe off. */
  readonly signal: AbortSignal
  /** No job is fetched while we may not call: another process could, or it goes back and forth. */
  readonly consumer: Pausable
  readonly logCall: (entry: CallEntry) => void
}

/** A step to be made again and again: the probe that is due while calls are stopped, and whether jobs are taken. */
export function makePausing({ opened, signal, consumer, logCall }: Options): () => Promise<void> {
  const { pool, context, pace } = opened
  const { users, random } = context
  const probe = makeProbe({ pool, users, signal, log: logCall, now: Date.now, random })

  return async () => {
    await pace.tend(probe)
    if ((await pace.rate()) === 0) await consumer.pause()
    else await consumer.resume()
  }
}
