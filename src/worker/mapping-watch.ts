import type { Pool } from 'pg'
import type { Consumer } from '../dispatch/queue.ts'
import { findMapping, type MappingStatus } from '../ledger/generation.ts'
import type { Log } from '../ops/log.ts'
import { mayCall } from '../pace/open.ts'
import type { ProbeService } from '../pace/probing.ts'
import { makeReminder, TELL_AGAIN_MS } from './log.ts'
import type { Opened } from './open-sync.ts'

type Options = {
  readonly pool: Pool
  readonly fingerprint: string
  readonly log: Log
  readonly now: () => number
}

export type MappingWatch = ReturnType<typeof makeMappingWatch>

const REPLACED =
  'this worker syncs nothing, because a later mapping is active: start it with the new configuration'
const NOT_APPLIED =
  'this worker syncs nothing, because its mapping is not active yet: to activate it, run `rollcall backfill --mapping`'

/**
 * A worker syncs while its mapping is the active one. Otherwise it is inactive, without ending, since a mapping may be
 * applied at any time.
 */
export function makeMappingWatch({ pool, fingerprint, log, now }: Options) {
  let consumer: Pausable | null = null
  let current = true
  const isTime = makeReminder(TELL_AGAIN_MS, now)

  async function onMapping(nowCurrent: boolean): Promise<void> {
    if (nowCurrent === current || !consumer) return
    if (nowCurrent) {
      await consumer.resume()
      current = true
      log.info('the mapping of this worker is active now: the worker syncs')
      return
    }
    await consumer.pause()
    current = false
    await remind()
  }

  async function remind(): Promise<void> {
    if (current) return
    const other = await findOther()
    if (!other || !isTime(other.generation)) return
    const { generation, appliedAt: since, earlier } = other
    log.error({ generation, since }, earlier ? REPLACED : NOT_APPLIED)
  }

  async function findOther(): Promise<MappingStatus | null> {
    const mapping = await findMapping(pool, fingerprint)
    return mapping && !mapping.current ? mapping : null
  }

  return {
    onMapping,
    /** Before this, leases are given back where the mapping is not the active one. */
    async start(consuming: Pausable, mapping: MappingStatus): Promise<void> {
      consumer = consuming
      await onMapping(mapping.current)
    },
    /** For a lease that was taken from the queue meanwhile. */
    isRefused: async () => !current && (await findOther()) !== null,
    /** A step of a loop: tells it again and again, since what is owed waits for it. */
    remind,
    /** Whether leases may be worked on, as far as is known without asking. */
    isActive: () => current,
  }
}

type Pausable = Pick<Consumer, 'pause' | 'resume'>

/**
 * This process takes jobs while nothing speaks against it: another active mapping, or a service that does not take its
 * credentials. Each reason is a switch of its own, and the last one that is lifted lets jobs in again.
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

/**
 * A step to be made again and again: the probe that is due while calls are stopped, and whether jobs are taken. No job is
 * fetched while we may not call: another process could, or it goes back and forth.
 */
export function makePausing(pace: Opened['pace'], probe: ProbeService, consumer: Pausable) {
  return async (): Promise<void> => {
    if (await mayCall(pace, probe)) await consumer.resume()
    else await consumer.pause()
  }
}
