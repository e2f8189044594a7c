import type { Consumer } from '../dispatch/queue.ts'
import type { CallEntry } from '../ledger/calls.ts'
import type { Log } from '../ops/log.ts'
import { makeProbing } from '../pace/probing.ts'
import { currentRate } from '../pace/row.ts'
import type { Opened } from './context.ts'
import { logPace } from './log.ts'
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
  readonly opened: Pick<Opened, 'pool' | 'context' | 'credentials'>
  readonly log: Log
  /** Breaks a probe off. */
  readonly signal: AbortSignal
  /** No job is fetched while we may not call: another process could, or it goes back and forth. */
  readonly consumer: Pausable
  readonly logCall: (entry: CallEntry) => void
}

/** After so long another process makes the next probe; longer than the answer to one may take. */
const PROBE_LASTS_MS = 60_000
const PROBE_GRACE_MS = 10_000

/** A step to be made again and again: the probe that is due while calls are stopped, and whether jobs are taken. */
export function makePausing({ opened, log, signal, consumer, logCall }: Options): () => Promise<void> {
  const { pool, context, credentials } = opened
  const { users, random } = context
  const probe = makeProbe({ pool, users, signal, log: logCall, now: Date.now, random })
  const onChange = logPace(log)
  const { timeoutMs } = context.config.service
  const probeLastsMs = Math.max(PROBE_LASTS_MS, timeoutMs + PROBE_GRACE_MS)
  const tend = makeProbing({ pool, credentials, probe, random, onChange, probeLastsMs })

  return async () => {
    await tend()
    if ((await currentRate(pool, credentials)) === 0) await consumer.pause()
    else await consumer.resume()
  }
}
