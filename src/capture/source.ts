// The interface that both ways of capture fill: triggers with an outbox, and later the write-ahead log.
import type { ClientBase } from 'pg'
import type { CustomerKey, Lane } from '../model/customer.ts'

/** A note that a customer may need a sync. It holds no data. */
export type CapturedChange = {
  readonly key: CustomerKey
  readonly lane: Lane
  /** When the change was made, for the latency from commit to settled. */
  readonly at: Date
}

/**
 * Stores changes in the transaction of the given client. The source acknowledges only after the transaction
 * has committed, so that a crash duplicates a change and never loses one.
 */
export type NoteChanges = (client: ClientBase, changes: readonly CapturedChange[]) => Promise<void>

export type ChangeSource = {
  /** Moves up to `limit` changes into `note`, in one transaction; resolves to how many there were. */
  drain(note: NoteChanges, limit: number): Promise<number>
}
