// The dependencies of a claim, and its observers.
import type { Brake } from '../brake/brake.ts'
import type { Config } from '../config/config.ts'
import type { FoundRow } from '../customers/read.ts'
import type { Claim } from '../ledger/claim.ts'
import type { CustomerRecord, KnownRecord } from '../ledger/record.ts'
import type { CustomerKey } from '../model/customer.ts'
import type { Permits, ReportOutcome } from '../pace/pace.ts'
import type { UsersClient } from '../service/users.ts'
import type { Called } from './call.ts'
import type { Digester } from './digest.ts'
import type { FreedOf } from './freed.ts'
import type { Mapped } from './map.ts'
import type { ClaimEnd } from './next-plan.ts'
import type { Plan } from './plan.ts'

/**
 * The events of a claim, for logs, for `rollcall sync` and for meters. `mapped`, `plan` and `called` hold field
 * values: code that shows a step picks names, codes and times from it.
 */
export type SyncStep =
  | { readonly step: 'mapped'; readonly mapped: Mapped }
  | { readonly step: 'planned'; readonly plan: Plan }
  | { readonly step: 'answered'; readonly plan: Plan; readonly called: Called }
  | { readonly step: 'ended'; readonly end: ClaimEnd }

export type SyncContext = {
  readonly config: Config
  readonly users: UsersClient
  readonly digester: Digester
  readonly permits: Permits
  readonly random: () => number
  readonly readRow: (key: CustomerKey) => Promise<FoundRow>
  /** Reads another customer of the user. One that cannot be read is `ambiguous`. */
  readonly readOther: (key: CustomerKey) => Promise<FoundRow>
  readonly readRecord: (key: CustomerKey) => Promise<KnownRecord>
  /** All customers with a record under this `user_id`. */
  readonly readRecordsOf: (userId: string) => Promise<readonly CustomerRecord[]>
  /** Names the watched tables that do not carry our triggers now. */
  readonly unwatched: () => Promise<readonly string[]>
  readonly brake: Brake
  /** Written down before a call after which status 0 would say nothing of a trial. */
  readonly markStatusUnknown: (claim: Claim) => Promise<void>
  /** Written down before a write for a customer whose desired user is another than that of its discarded change. */
  readonly endDiscard: (claim: Claim) => Promise<unknown>
  /** Written down before the first write for a customer that may leave the scope. */
  readonly markAsked: (key: CustomerKey) => Promise<unknown>
  /** Resolves to whether every change that is captured by now is noted; false when it takes too long. */
  readonly whenNoted: () => Promise<boolean>
  readonly report: ReportOutcome
  /** Plans the customers again that wait for a value which this one has given up. */
  readonly wakeWaiting: (freed: FreedOf) => Promise<unknown>
}
