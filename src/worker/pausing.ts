import type { CallEntry } from '../ledger/calls.ts'
import type { Log } from '../ops/log.ts'
import { makeProbing } from '../pace/probing.ts'
import { currentRate } from '../pace/row.ts'
import type { Opened } from './context.ts'
import { logPace } from './log-pace.ts'
import { makeProbe } from './probe.ts'
import type { Pausable } from './taking-part.ts'

type Options = {
  readonly opened: Pick<Opened, 'pool' | 'context' | 'credentials'>
  readonly log: Log
  /** Breaks a probe off. */
  readonly signal: AbortSignal
  /** No job is fetched while we may not call: another process could, or it goes back and forth. */
  readonly consumer: Pausable
  readonly logCall: (entry: CallEntry) => void
}

/** A step to be made every second or so: the probe that is due while calls are stopped, and whether jobs are taken. */
export function makePausing({ opened, log, signal, consumer, logCall }: Options): () => Promise<void> {
  const { pool, context, credentials } = opened
  const probe = makeProbe({ pool, users: context.users, signal, log: logCall, now: Date.now })
  const onChange = logPace(log)
  const tend = makeProbing({ pool, credentials, probe, random: context.random, onChange })

  return async () => {
    await tend()
    if ((await currentRate(pool, credentials)) === 0) await consumer.pause()
    else await consumer.resume()
  }
}
