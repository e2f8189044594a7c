// The configuration as its author writes it. These types are for editors; what counts is the check at load
// (resolve.ts), because a configuration may be plain JavaScript.
import type { OptionalField, UserField } from '../model/user.ts'

export type ClearWith = 'null' | 'empty' | 'omit'

/**
 * The named columns of one customer. Integers of up to 32 bits are numbers and booleans are booleans; dates,
 * times, `bigint` and `numeric` are text, as Postgres prints them; an empty column is null.
 */
export type Columns = Readonly<Record<string, unknown>>

/** What a field may be given; null or undefined means that the customer has no value. */
export type Given = string | number | bigint | boolean | null | undefined

/** The present, for functions of the configuration. A function that reads `now` has to answer with `Until`. */
export type Clock = {
  /** By the database's clock; a fresh copy each time. */
  readonly now: Date
}

/** An answer that holds for a time; the customer is looked at again when that has passed. */
export type Until<T> = {
  readonly value: T
  /**
   * After now: a Date, a text as ISO 8601 or Postgres have it (UTC where it names no zone; a date is its midnight), or
   * null for an answer that holds until the row changes.
   */
  readonly validUntil: Date | string | null
}

/** Where a field of the user comes from. A text alone is the name of the column to take. */
export type FieldMapping =
  | string
  | {
      readonly column: string
      /** By the column's text form: `free`, `true`, `12`. A value that is not listed is invalid. */
      readonly values: Readonly<Record<string, string | number | null>>
      /** For a column that is empty; else such a customer has no value. */
      readonly whenNull?: string | number | null
      /** For every value that is not listed, and for an empty column if `whenNull` is not given. */
      readonly otherwise?: string | number | null
    }
  | {
      /** The same for every customer. */
      readonly value: string | number | null
    }
  | {
      readonly columns: readonly string[]
      /** Pure and without delay; it sees the named columns and the clock only. */
      readonly map: (columns: Columns, clock: Clock) => Given | Until<Given>
    }

/** The same for the `user_id`, which never changes: its function gets no clock. */
export type UserIdMapping =
  | Exclude<FieldMapping, { readonly map: unknown }>
  | { readonly columns: readonly string[]; readonly map: (columns: Columns) => Given }

/** A table or view as `schema.name`, or `name` in the schema public; written as Postgres stores it. */
type RelationName = string

export type WatchedTable = {
  readonly table: RelationName
  /** The columns of this table that hold the customer's key. */
  readonly key: string | readonly string[]
  /** Only changes of these columns count; by default those that the mapping reads. */
  readonly columns?: readonly string[]
}

export type RollcallConfig = {
  /** One row for each customer. */
  readonly customers: ({ readonly table: RelationName } | { readonly view: RelationName }) & {
    readonly key: string | readonly string[]
    /**
     * Where the functions behind a view find what they name: schemas, in order. rollcall reads with the system's own
     * schema alone, unless this names more; it holds for the reading of customers only.
     */
    readonly searchPath?: readonly string[]
    /**
     * How to treat policies of row-level security that apply to rollcall's role. 'refuse': reading is an error, since
     * a row that a policy hides would read as a customer who is gone. 'apply': they show it every customer, you say.
     * Default: 'refuse'.
     */
    readonly rowSecurity?: 'refuse' | 'apply'
  }
  /** The tables whose changes count. By default the customer table; a view has to name them. */
  readonly watch?: readonly WatchedTable[]
  /** The customers that should have access. A customer that leaves the scope loses access. */
  readonly scope?:
    | { readonly column: string; readonly in: readonly (string | number | boolean)[] }
    | {
        readonly columns: readonly string[]
        readonly when: (columns: Columns, clock: Clock) => boolean | Until<boolean>
      }
  /** The user's fields. Needed are `status` and `user_id`; the latter from key columns, which it sees as text. */
  readonly mapping: { readonly [F in Exclude<UserField, 'user_id'>]?: FieldMapping } & {
    readonly user_id: UserIdMapping
    readonly status: FieldMapping
  }
  /**
   * To be changed when something changes that a function of the mapping takes from elsewhere (an imported table of
   * plans, say): rollcall sees the text of the functions, and not what they call.
   */
  readonly mappingVersion?: string | number
  /** An invalid optional field rejects the customer instead of being left out. Default: false. */
  readonly strict?: boolean
  /** How to treat fields at the service that the mapping does not set. Default: 'keep'. */
  readonly unmanaged?: 'keep' | 'clear'
  /** How a field that has become empty is sent, for all or by field. Default: 'null'. */
  readonly clearWith?: ClearWith | { readonly [F in OptionalField]?: ClearWith }
  /**
   * The step to take when a customer's row is gone. 'erase': access is revoked, and then every optional field at the
   * service is cleared, also those that the mapping does not set. A customer who has a row and is merely out of scope
   * is revoked, and not erased. Default: 'revoke'.
   */
  readonly onRemove?: 'revoke' | 'erase' | 'ignore'
  /**
   * Whether customers with status 0 whom the service does not have are registered there. With false they are once they
   * have access, and not before; a registered one stays so. Default: true.
   */
  readonly createWithoutAccess?: boolean
  /** Whether `mobile_phone_prefix` is sent as 34 or as +34. Default: 'digits'. */
  readonly phonePrefix?: 'digits' | 'plus'
  readonly service?: {
    /** Which of the two SERVICE_URL is; shown in every output. Default: 'production'. */
    readonly environment?: 'production' | 'demo'
    /** Plain http to another machine. Default: false. */
    readonly allowPlainHttp?: boolean
    /** For one whole request. Default: 10,000. */
    readonly timeoutMs?: number
  }
  readonly pace?: {
    /** Calls per second of all processes together. Default: 50. */
    readonly ceiling?: number
    /** Calls at once of one process. Default: 20. */
    readonly concurrency?: number
  }
  readonly timing?: {
    /** Changes of one customer within this time become one call. Default: 1,000. */
    readonly gapMs?: number
    /** How long one attempt may take, request and all. Default: 30,000. */
    readonly lifetimeMs?: number
    /** How long a job may wait on the queue. Default: 30,000. */
    readonly queueLeaseMs?: number
    /** How long the service may go on showing what was there before a write; at most the lifetime. Default: 5,000. */
    readonly consistencyDelayMs?: number
    /** First and longest wait after a failed call. Defaults: 1,000 and 3,600,000. */
    readonly retryMinMs?: number
    readonly retryMaxMs?: number
  }
  /**
   * How many customers may be changed in one way within a window before a person is asked (`rollcall held`): the larger
   * of a number of customers and a share from 0 to 1.
   */
  readonly brake?: {
    /** How long a change counts. Default: 24. */
    readonly windowHours?: number
    /**
     * Loss of access, change of status, unexpected absence, erasing, clearing of one field: each by itself, the share
     * being of those with access. Default: 100 or 0.01.
     */
    readonly changes?: { readonly customers?: number; readonly share?: number }
    /** Registrations, the share being of the registered. Default: 10,000 or 0.1. */
    readonly creates?: { readonly customers?: number; readonly share?: number }
  }
  readonly capture?: {
    /** Size at which the outbox takes no more. Default: 1,024. */
    readonly outboxLimitMb?: number
    /** So often, in hours, all customers are compared, to find changes that capture has missed; 0: never. Default 24. */
    readonly checkHours?: number
  }
  readonly history?: {
    /** For how many days each call to the service stays in the log of calls. Default: 14. */
    readonly keepDays?: number
  }
  /** Whether the service still agrees with the database, seen by a GET for each customer, over and over. */
  readonly reconcile?: {
    /** Within which all customers are checked, like '7d' or '12h'; false: workers check none. Default: '7d'. */
    readonly period?: string | false
    /** Whether what differs is only reported, or also put right, behind the brake. Default: 'report'. */
    readonly mode?: 'report' | 'repair'
    /** For how many days findings that have ended are kept. Default: 90. */
    readonly keepDays?: number
  }
}

/** Gives the configuration back as it is; only there so that an editor knows its shape. */
export function defineConfig(config: RollcallConfig): RollcallConfig {
  return config
}
