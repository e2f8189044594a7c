// The queue as the house sees it: jobs go in, a processor is called for each. Whether Redis or Postgres is
// behind it, and that it is BullMQ, is known only to bullmq.ts and connect.ts.
import type { Lease } from '../ledger/lease.ts'

/** `failed` is shown beside the job in the queue's own views: words without values, or null when it went well. */
export type Processed = { readonly failed: string | null }

export type Consumer = {
  /** Takes no further job until `resume`, in this process alone; those that run go on, and one may still arrive. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Takes no further job and waits for those that run; after the deadline they are left behind. */
  close(deadlineMs: number): Promise<void>
}

export type JobQueue = {
  add(leases: readonly Lease[]): Promise<void>
  /** Jobs that wait or run there now. */
  count(): Promise<number>
  consume(
    process: (lease: Lease) => Promise<Processed>,
    options: { readonly concurrency: number },
  ): Promise<Consumer>
  close(): Promise<void>
}
