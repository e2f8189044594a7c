// The configuration as the rest of the house sees it: validated, every default filled in, frozen.
import type { OptionalField, UserField } from '../model/user.ts'
import type { ClearWith } from './define.ts'
import type { Reconcile } from './reconcile.ts'
import type { Held } from './until.ts'

/** A table or view; the schema is always named. */
export type Relation = { readonly schema: string; readonly name: string }

/**
 * The columns of one customer, as `readCustomers` gives them (dates, bigints and numerics as text). A value above the
 * column's limit is not read: a `TooLarge` stands in its place.
 */
export type Row = Readonly<Record<string, unknown>>

/** Where a field's value comes from: the columns are known without running anything. */
export type FieldSource = {
  readonly columns: readonly string[]
  /** Of a larger value of its columns, in bytes, the source can make nothing. */
  readonly mostBytes: number
  /**
   * Pure. Undefined or null means that the customer has no value; an answer that holds for a time only is `Held`.
   * Without `now` a function that goes by the time fails.
   */
  readonly value: (row: Row, now?: Date) => unknown
}

export type Watched = {
  readonly relation: Relation
  /** The columns that hold the customer key, in the order of `customers.key`. */
  readonly key: readonly string[]
  /** Columns whose change matters; absent: found from the mapping (table) or the view's own definition. */
  readonly columns?: readonly string[]
}

/** The larger of a number of customers and a share (0 to 1). */
export type BrakeLimit = { readonly customers: number; readonly share: number }

export type Config = {
  /** Path of the file it was read from, for messages. */
  readonly file: string
  /** Of everything that mapping and plan go by; see fingerprint.ts. */
  readonly fingerprint: string
  readonly customers: {
    readonly relation: Relation
    readonly key: readonly string[]
    /** Schemas besides the system's own, for the functions behind a view. */
    readonly searchPath: readonly string[]
    /** What policies of row-level security that apply to the role are: an error, or what shows it every customer. */
    readonly rowSecurity: 'refuse' | 'apply'
  }
  readonly watch: readonly Watched[]
  readonly mapping: Readonly<Partial<Record<UserField, FieldSource>>> & {
    readonly user_id: FieldSource
    readonly status: FieldSource
  }
  /** Customers outside it have no access through rollcall: they are revoked like removed ones. */
  readonly scope: {
    readonly columns: readonly string[]
    readonly mostBytes: number
    readonly when: (row: Row, now: Date) => boolean | Held<boolean>
  } | null
  /** An invalid optional field rejects the customer instead of being left out. */
  readonly strict: boolean
  /** Fields that the mapping does not set: kept as they are at the service, or cleared by a PUT. */
  readonly unmanaged: 'keep' | 'clear'
  readonly clearWith: Readonly<Record<OptionalField, ClearWith>>
  readonly onRemove: 'revoke' | 'erase' | 'ignore'
  /** Customers with status 0 are registered too; false: once they have access, and not before. */
  readonly createWithoutAccess: boolean
  /** How `mobile_phone_prefix` is sent: `34` or `+34`. */
  readonly phonePrefix: 'digits' | 'plus'
  readonly service: {
    readonly environment: 'production' | 'demo'
    readonly allowPlainHttp: boolean
    /** The whole request, from first byte to last, in milliseconds. */
    readonly timeoutMs: number
  }
  readonly pace: {
    /** Calls per second for all processes together. */
    readonly ceiling: number
    /** Calls at once for one process. */
    readonly concurrency: number
  }
  readonly timing: {
    /** Changes of one customer within this gap after a settle are gathered into one call. */
    readonly gapMs: number
    /** How long a claim may last; longer than `service.timeoutMs` and a grace. */
    readonly lifetimeMs: number
    /** How long a job may wait on the queue before it counts as lost. */
    readonly queueLeaseMs: number
    /** How long a GET may go on showing what was there before a write; until then it is not believed. */
    readonly consistencyDelayMs: number
    /** First and longest wait after a call that failed; full jitter between. */
    readonly retryMinMs: number
    readonly retryMaxMs: number
  }
  /** How many customers may be changed in one way before a person is asked; see src/brake. */
  readonly brake: {
    /** How long a change counts, in hours. */
    readonly windowHours: number
    /** Loss of access, another status, absence, erasing, clearing of a field: each by itself, of those with access. */
    readonly changes: BrakeLimit
    /** Registrations, of all who are registered. */
    readonly creates: BrakeLimit
  }
  readonly capture: {
    /** Above this size the outbox takes no more, and the gap is marked and repaired by a resync of everybody. */
    readonly outboxLimitMb: number
    /** So often everybody is looked at for changes that capture has missed; 0: never. */
    readonly checkHours: number
  }
  readonly history: {
    /** After so many days a call goes from the log of calls. */
    readonly keepDays: number
  }
  readonly reconcile: Reconcile
}
