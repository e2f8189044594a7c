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
      const first = against.size === 0
      against.add(reason)
      if (first) await consumer.pause()
    },
    async resume() {
      if (against.delete(reason) && against.size === 0) await consumer.resume()
    },
  })
}
