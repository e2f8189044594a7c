// Judges a page of customers as a claim would begin with them.
import type { KnownRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Mapped } from '../model/mapped.ts'
import type { Memory } from '../sync/memory.ts'
import { planNow, type Snapshot } from '../sync/snapshot.ts'
import { foundOf, type SweepFacts, type SweepSelection, type SweepVerdict, verdictOn } from './differs.ts'

/** What a sweep makes of one customer; `made` is null where its row cannot be read. */
export type Judged = { readonly key: CustomerKey; readonly verdict: SweepVerdict; readonly owed: boolean } & {
  readonly made: Made | null
}

export type Made = {
  readonly found: SweepFacts
  readonly memory: Memory
  readonly mapped: Mapped
  readonly record: KnownRecord
  /** Other customers in scope that claim its user. */
  readonly rivals: readonly CustomerKey[]
}

/** `select`: whom the sweep is for. Where a look is wanted first, somebody of whom nothing is known is unknown. */
export function judge(snapshot: Snapshot, select: SweepSelection): Judged {
  const { key, work, mapped, rivals, desired, digestKey } = snapshot
  const { owed, record } = work
  if (snapshot.unreadable) return { key, owed, verdict: 'unreadable', made: null }
  const unknown = work.unknown || (select.lookup && !work.known)
  const { plan, memory } = planNow(snapshot, { unknown })
  const found = foundOf(work, { mapped, digest: desired, plan, digestKey })
  return { key, owed, verdict: verdictOn(found, select), made: { found, memory, mapped, record, rivals } }
}
