// What trigger capture is made of: one watcher for every watched relation, with the tables that carry its
// triggers. relations.ts finds it in the catalog, triggers.ts words it, install.ts puts it there.
import type { Relation } from '../config/config.ts'
import type { Lane } from '../model/customer.ts'

export type Watcher = {
  /** As the configuration names it; a partitioned table stands for its partitions. */
  readonly relation: Relation
  /** The columns that hold the customer key, in the order of `customers.key`. */
  readonly key: readonly string[]
  /** The columns whose change matters, besides the key. */
  readonly columns: readonly string[]
  /** Lane of deleted rows: a customer who is gone is more urgent than a subscription that is. */
  readonly deletionLane: Lane
  /** The relation itself and its partitions and children at every level: each needs triggers of its own. */
  readonly tables: readonly Relation[]
  /** Columns of `key` and `columns` that the relation does not have. */
  readonly missing: readonly string[]
}

export type CapturePlan = {
  readonly watchers: readonly Watcher[]
  /** Watched relations that do not exist. */
  readonly gone: readonly Relation[]
  readonly outboxLimitMb: number
}
