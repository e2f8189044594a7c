// The configuration as its author writes it. These types are for editors; what counts is the check at load
// (resolve.ts), because a configuration may be plain JavaScript.
import type { OptionalField } from '../model/user.ts'

export type ClearWith = 'null' | 'empty' | 'omit'

/**
 * The named columns of one customer. Integers of up to 32 bits are numbers and booleans are booleans; dates,
 * times, `bigint` and `numeric` are text, as Postgres prints them; an empty column is null.
 */
export type Columns<Name extends string = string> = Readonly<Record<Name, unknown>>

/** A value that a field may be given; null or undefined means that the customer has no value. */
export type Given = string | number | bigint | boolean | null | undefined

/** The present, for functions of the configuration. A function that reads `now` has to answer with `Until`. */
export type Clock = {
  /** By the database's clock; a fresh copy each time. */
  readonly now: Date
}

/** An answer that holds for a time; the customer is planned again when that has passed. */
export type Until<T> = {
  readonly value: T
  /**
   * After now: a Date, a text as ISO 8601 or Postgres have it (UTC where it names no zone; a date is its midnight), or
   * null for an answer that holds until the row changes.
   */
  readonly validUntil: Date | string | null
}

/** Where a field of the user comes from. A text alone is the name of the column to take. */
export type FieldMapping<Name extends string = string, Now = Clock> =
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
      readonly columns: readonly Name[]
      /** Pure and without delay; it sees the named columns and the clock only. */
      readonly map: (columns: Columns<Name>, clock: Now) => Given | Until<Given>
    }

/** The same for the `user_id`, which never changes: its function gets no clock. */
export type UserIdMapping<Name extends string = string> = FieldMapping<Name, undefined>

/** A table or view as `schema.name`, or `name` in the schema public; written as Postgres stores it. */
type RelationName = string

export type WatchedTable = {
  readonly table: RelationName
  /** The columns of this table that hold the customer's key. */
  readonly key: string | readonly string[]
  /** Only changes of these columns count; by default those that the mapping reads. */
  readonly columns?: readonly string[]
}

/** By field: the columns that its function names. */
type NamedColumns = { readonly [F in OptionalField]?: unknown } & { readonly [F in Needed]: unknown }
type Needed = 'user_id' | 'status'

export type RollcallConfig<Names extends NamedColumns = NamedColumns, InScope extends string = string> = {
  /**
   * `{ table, key }` or `{ view, key }`, with one row per customer. `key` is a column or a list of columns: integer,
   * numeric, text, uuid or enum.
   */
  readonly customers: ({ readonly table: RelationName } | { readonly view: RelationName }) & {
    readonly key: string | readonly string[]
    /**
     * The schemas that functions behind a view need in their search path, besides Postgres' own. The setting applies
     * only while rollcall reads customers. Default: `[]`.
     */
    readonly searchPath?: readonly string[]
    /**
     * `'refuse'`: rollcall ends with an error if a policy of row-level security applies to its role. `'apply'`: you
     * state that the policies show every customer to the role; see [Row-level security](#row-level-security).
     * Default: `'refuse'`.
     */
    readonly rowSecurity?: 'refuse' | 'apply'
  }
  /**
   * `[{ table, key, columns? }]`: the tables on which rollcall captures changes. `key` names the columns with the
   * customer's key, in the order of `customers.key`. With `columns`, only changes of these columns are captured.
   * Default: the customer table, with the columns that mapping and scope read; required for a view.
   */
  readonly watch?: readonly WatchedTable[]
  /** The source of each field; see [The forms of a field](#the-forms-of-a-field). Required: `user_id` and `status`. */
  readonly mapping: {
    readonly [F in keyof Names]: FieldMapping<Names[F] & string, F extends 'user_id' ? undefined : Clock>
  } & { readonly [F in Exclude<keyof Names, OptionalField | Needed>]: never }
  /**
   * `{ column, in: […] }` or `{ columns, when: (row) => boolean }`: the customers that rollcall syncs. A customer
   * that leaves the scope is treated as removed; see `onRemove`. Default: all customers.
   */
  readonly scope?:
    | { readonly column: string; readonly in: readonly (string | number | boolean)[] }
    | {
        readonly columns: readonly InScope[]
        readonly when: (columns: Columns<InScope>, clock: Clock) => boolean | Until<boolean>
      }
  /**
   * Any text or number. Change it when you change code that a function uses but does not contain (imported, or in the
   * same file): rollcall cannot see such a change. See [A changed mapping](operations.md#a-changed-mapping). Default:
   * none.
   */
  readonly mappingVersion?: string | number
  /** `true`: an invalid optional field rejects the customer. `false`: only the field is left out. Default: `false`. */
  readonly strict?: boolean
  /** Fields that the mapping does not set: `'keep'` them, or `'clear'` them with a PUT. Default: `'keep'`. */
  readonly unmanaged?: 'keep' | 'clear'
  /**
   * How an empty field is sent: `'null'`, `'empty'` (`""`), or `'omit'` (left out of a PUT). One value for all
   * fields, or `{ field: … }`. `'omit'` needs a mapping for every field, or `unmanaged: 'clear'`. Default: `'null'`.
   */
  readonly clearWith?: ClearWith | { readonly [F in OptionalField]?: ClearWith }
  /**
   * Action after a row is deleted or leaves the scope. `'revoke'`: the user gets status 0. `'erase'`: as
   * `'revoke'`, and for a deleted row also every optional field is cleared. This includes rows that were deleted
   * before you set `'erase'`. `'ignore'`: nothing is sent. Default: `'revoke'`.
   */
  readonly onRemove?: 'revoke' | 'erase' | 'ignore'
  /**
   * `true`: a customer with status 0 is registered, without access. `false`: it is registered when it first gets
   * another status. A user that is already registered is updated in both cases. Default: `true`.
   */
  readonly createWithoutAccess?: boolean
  /** `mobile_phone_prefix` is sent as `'digits'` (34) or `'plus'` (+34). Default: `'digits'`. */
  readonly phonePrefix?: 'digits' | 'plus'
  readonly service?: {
    /**
     * `'production'` or `'demo'`: a name that commands print beside the service's address. With `'demo'` no command
     * asks the chat, unless the service runs on this machine. Default: `'production'`.
     */
    readonly environment?: 'production' | 'demo'
    /** Allow http to another machine. Default: `false`. */
    readonly allowPlainHttp?: boolean
    /** Timeout of one whole request, in ms. Default: 10,000. */
    readonly timeoutMs?: number
  }
  readonly pace?: {
    /** The highest rate of all processes together, in calls per second; at least 0.1. Default: 50. */
    readonly ceiling?: number
    /** The highest number of simultaneous calls in one process. Default: 400. */
    readonly concurrency?: number
  }
  /**
   * How many customers one kind of change may reach within a time window. Above it, a person decides; see [The
   * brake](retries.md#the-brake).
   */
  readonly brake?: {
    /** The length of the window, in hours. Default: 24. */
    readonly windowHours?: number
    /**
     * `{ customers, share }`: the limit is the larger of this number and this share (0 to 1) of the customers with
     * access. With fewer than about 2,000 customers, lower `customers`, for example to 5 % of those with access.
     * `rollcall status` warns if the limit protects nobody. Default: 100, 0.01.
     */
    readonly changes?: { readonly customers?: number; readonly share?: number }
    /** `{ customers, share }`: the same for registrations; `share` is of the registered ones. Default: 10,000, 0.1. */
    readonly creates?: { readonly customers?: number; readonly share?: number }
  }
  readonly reconcile?: {
    /**
     * Workers check every user by a GET within this time, like `'7d'` or `'12h'`. `false`: they do not check.
     * Default: `'7d'`.
     */
    readonly period?: string | false
    /** `'report'`: workers report drift. `'repair'`: they also repair it, if the brake allows. Default: `'report'`. */
    readonly mode?: 'report' | 'repair'
    /** How many days rollcall keeps findings that have ended. Default: 90. */
    readonly keepDays?: number
  }
  /**
   * The defaults of these options suit almost every installation. Example:
   * `{ timing: { gapMs: 5_000 }, history: { keepDays: 30 } }`.
   */
  readonly advanced?: {
    readonly timing?: {
      /**
       * The shortest time between two syncs of one customer, in ms. Changes within this time become one sync; 0 is
       * allowed. Default: 1,000.
       */
      readonly gapMs?: number
      /**
       * The longest duration of one attempt to sync a customer, in ms. A GET and a write must fit in it. So it must be
       * at least the smaller of these values: twice `timeoutMs` plus 2,000, or three times `timeoutMs`. Default:
       * 30,000.
       */
      readonly lifetimeMs?: number
      /** A job that waits longer counts as lost: its customers are queued again; in ms. Default: 30,000. */
      readonly queueLeaseMs?: number
      /**
       * How long a GET may still show the old state after a write, in ms. rollcall does not rely on a GET within this
       * time. At most `lifetimeMs`. Default: 5,000.
       */
      readonly consistencyDelayMs?: number
      /**
       * The upper limit of the first wait after a failed call, in ms. The wait is random below it (full jitter).
       * Default: 1,000.
       */
      readonly retryMinMs?: number
      /** The longest wait after a failed call, in ms. Default: 3,600,000. */
      readonly retryMaxMs?: number
    }
    readonly history?: {
      /** How many days rollcall keeps the log of calls. Default: 14. */
      readonly keepDays?: number
    }
    readonly capture?: {
      /**
       * At this size (MB) the outbox takes no more keys. A worker then compares all customers with the ledger. Default:
       * 1,024.
       */
      readonly outboxLimitMb?: number
      /**
       * Hours between two searches for [changes that capture missed](capture.md#changes-that-capture-missed); 0: no
       * search. Default: 24.
       */
      readonly checkHours?: number
    }
  }
}

/** Gives the configuration back as it is, with the types of an editor: a function sees the columns that it names. */
export function defineConfig<const Names extends NamedColumns, InScope extends string>(
  config: RollcallConfig<Names, InScope>,
): RollcallConfig<Names, InScope> {
  return config
}
