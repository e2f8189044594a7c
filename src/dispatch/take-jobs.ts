import type { Lease } from '../ledger/lease.ts'

type Options = {
  readonly concurrency: number
  /** Calls `begun` once the lease is claimed or void: from then on the claim protects it, and not the queue. */
  readonly carryOut: (lease: Lease, begun: () => void) => Promise<void>
  /** Takes what `carryOut` has thrown; the lease is taken up again when its time has passed. */
  readonly onError: (error: unknown) => void
}

type WaitingLease = { readonly lease: Lease; readonly begun: () => void }

/**
 * The jobs that a process has taken. Their leases wait in one list, the most urgent lane first and in it the first that
 * came. So one slow call holds neither its job nor a place on the queue.
 */
export function makeTakeJobs({ concurrency, carryOut, onError }: Options) {
  const waiting: WaitingLease[] = []
  const running = new Set<Promise<void>>()

  function fill(): void {
    while (running.size < concurrency) {
      const next = waiting.shift()
      if (!next) return
      const mine: Promise<void> = carryOut(next.lease, next.begun)
        .catch(onError)
        .finally(() => {
          running.delete(mine)
          next.begun()
          fill()
        })
      running.add(mine)
    }
  }

  return {
    /** Resolves once all leases of the job are claimed or void. */
    async takeJob(leases: readonly Lease[]): Promise<void> {
      const started = leases.map(
        (lease) =>
          new Promise<void>((resolve) => {
            const before = waiting.findLastIndex((other) => other.lease.lane <= lease.lane)
            waiting.splice(before + 1, 0, { lease, begun: resolve })
          }),
      )
      fill()
      await Promise.all(started)
    },
    /** Resolves once nothing waits and nothing runs. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
