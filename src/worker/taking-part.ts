import type { Consumer } from '../dispatch/queue.ts'

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
