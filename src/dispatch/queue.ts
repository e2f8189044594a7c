// The queue as the house sees it. Only bullmq.ts and connect.ts know BullMQ and what is behind it.
import type { Lease } from '../ledger/lease.ts'
import type { Watermark } from '../ledger/watermark.ts'

/** `failed` is shown beside a run in the queue's own views: words without values, or null when it went well. */
export type Processed = { readonly failed: string | null }

export type Consumer = {
  /** Takes no further job until `resume`, in this process alone; those that run go on, and one may still arrive. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Takes no further job and waits for those that run; after the deadline they are left behind. */
  close(deadlineMs: number): Promise<void>
}

/** A schedule: one process of all is called each time. */
export type Schedule = {
  /** Puts the schedule back where the queue has lost it. */
  restore(): Promise<void>
  /** Takes no further run and waits for the one that runs; after the deadline it is left behind. */
  close(deadlineMs: number): Promise<void>
}

/** Keeps outside of the database how far this installation has come, so that a restored database is noticed. */
export type Witness = {
  /** The latest watermark. Null: none is kept, as in a Redis that was flushed. */
  read(): Promise<Watermark | null>
  /** A watermark that is earlier than the kept one changes nothing. */
  keep(watermark: Watermark): Promise<void>
}

export type JobQueue = {
  /** Each job carries several leases. */
  add(jobs: readonly (readonly Lease[])[]): Promise<void>
  /** Jobs that wait or run there now. */
  count(): Promise<number>
  consume(
    /** Takes the leases of one job, and resolves once each of them is claimed or void. */
    process: (leases: readonly Lease[]) => Promise<void>,
    /** So many jobs at once. */
    options: { readonly concurrency: number },
  ): Promise<Consumer>
  /** The schedule by which customers are checked. */
  schedule(step: () => Promise<Processed>, options: { readonly everyMs: number }): Promise<Schedule>
  /** Null: a queue in Postgres may go back in time with the database. */
  readonly witness: Witness | null
  close(): Promise<void>
}
