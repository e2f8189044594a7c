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

/** An answer that holds for a time; the customer is checked again when that has passed. */
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
     * Schemas, besides Postgres' own, in which functions behind a view look up names. The setting applies only while
     * rollcall reads customers. Default: `[]`.
     */
    readonly searchPath?: readonly string[]
    /**
     * `'refuse'`: a policy of row-level security that applies to the role is an error. `'apply'`: you state that the
     * policies show every customer to the role; see [below](#row-level-security). Default: `'refuse'`.
     */
    readonly rowSecurity?: 'refuse' | 'apply'
  }
  /**
   * `[{ table, key, columns? }]`: the tables whose changes count. `key` names the columns with the customer's key, in
   * the order of `customers.key`. With `columns` only changes of these count. Default: the customer table, with the
   * columns that mapping and scope read; required for a view.
   */
  readonly watch?: readonly WatchedTable[]
  /** The source of each field of the user; see [below](#the-forms-of-a-field). `user_id` and `status` are required. */
  readonly mapping: {
    readonly [F in keyof Names]: FieldMapping<Names[F] & string, F extends 'user_id' ? undefined : Clock>
  } & { readonly [F in Exclude<keyof Names, OptionalField | Needed>]: never }
  /**
   * `{ column, in: […] }` or `{ columns, when: (row) => boolean }`: the customers that may have access through
   * rollcall. A customer that leaves the scope is treated as removed. Default: all customers.
   */
  readonly scope?:
    | { readonly column: string; readonly in: readonly (string | number | boolean)[] }
    | {
        readonly columns: readonly InScope[]
        readonly when: (columns: Columns<InScope>, clock: Clock) => boolean | Until<boolean>
      }
  /**
   * A function of the mapping may import code from another module. Change this value when that code changes; see [A
   * changed mapping](operations.md#a-changed-mapping). Default: none.
   */
  readonly mappingVersion?: string | number
  /** An invalid optional field rejects the customer, instead of being left out. Default: `false`. */
  readonly strict?: boolean
  /** Fields at the service that the mapping does not set: `'keep'`, or `'clear'` them with a PUT. Default: `'keep'`. */
  readonly unmanaged?: 'keep' | 'clear'
  /**
   * How an empty field is sent: `'null'`, `'empty'` (`""`), or `'omit'` (left out of a PUT). One for all fields, or
   * `{ field: … }`. `'omit'` needs every field mapped, or `unmanaged: 'clear'`. Default: `'null'`.
   */
  readonly clearWith?: ClearWith | { readonly [F in OptionalField]?: ClearWith }
  /**
   * For a deleted row, or one that left the scope. `'revoke'`: status 0. `'erase'`: status 0, and after a
   * deletion, even an earlier one, every optional field is cleared. `'ignore'`: nothing. Default: `'revoke'`.
   */
  readonly onRemove?: 'revoke' | 'erase' | 'ignore'
  /**
   * Whether a customer with status 0 is registered. `false`: only once it has access; a registered user stays and is
   * updated. Default: `true`.
   */
  readonly createWithoutAccess?: boolean
  /** `mobile_phone_prefix` is sent as `'digits'` (34) or `'plus'` (+34). Default: `'digits'`. */
  readonly phonePrefix?: 'digits' | 'plus'
  readonly service?: {
    /** `'production'` or `'demo'`; shown wherever a call goes to the service. Default: `'production'`. */
    readonly environment?: 'production' | 'demo'
    /** Allow http to another machine. Default: `false`. */
    readonly allowPlainHttp?: boolean
    /** Timeout of one whole request. Default: 10,000. */
    readonly timeoutMs?: number
  }
  readonly pace?: {
    /** Calls per second of all processes together; at least 0.1. Default: 50. */
    readonly ceiling?: number
    /** Calls at once in one process. Default: 100. */
    readonly concurrency?: number
  }
  readonly timing?: {
    /** Changes of one customer within this time become one call; 0 is allowed. Default: 1,000. */
    readonly gapMs?: number
    /**
     * How long one attempt may take. At least the smaller of two values, so that a GET and a write fit: twice
     * `timeoutMs` plus 2,000, or three times `timeoutMs`. Default: 30,000.
     */
    readonly lifetimeMs?: number
    /** A job that waits longer on the queue counts as lost. Default: 30,000. */
    readonly queueLeaseMs?: number
    /**
     * For how long after a write a GET may still show the state before it. rollcall does not rely on a GET within this
     * time. At most `lifetimeMs`. Default: 5,000.
     */
    readonly consistencyDelayMs?: number
    /** The first wait after a failed call, with full jitter. Default: 1,000. */
    readonly retryMinMs?: number
    /** The longest wait after a failed call. Default: 3,600,000. */
    readonly retryMaxMs?: number
  }
  /**
   * How many customers one kind of change may reach within a window, before a person is asked; see
   * [The brake](retries.md#the-brake).
   */
  readonly brake?: {
    /** How long a change counts. Default: 24. */
    readonly windowHours?: number
    /** `{ customers, share }`: so many, or this share (0 to 1) of those with access, whichever is more. Default: 100, 0.01. */
    readonly changes?: { readonly customers?: number; readonly share?: number }
    /** `{ customers, share }`: so many registrations, or this share of the registered. Default: 10,000, 0.1. */
    readonly creates?: { readonly customers?: number; readonly share?: number }
  }
  readonly history?: {
    /** How long the log of calls is kept. Default: 14. */
    readonly keepDays?: number
  }
  readonly reconcile?: {
    /** Every user is checked by a GET within this time, like `'7d'` or `'12h'`. `false`: no worker checks. Default: `'7d'`. */
    readonly period?: string | false
    /** `'report'` only reports drift; `'repair'` also repairs it, behind the brake. Default: `'report'`. */
    readonly mode?: 'report' | 'repair'
    /** How long findings that have ended are kept. Default: 90. */
    readonly keepDays?: number
  }
  readonly capture?: {
    /** At this size the outbox takes no more keys; a worker then checks all customers. Default: 1,024. */
    readonly outboxLimitMb?: number
    /** How often a worker checks that [capture has missed nothing](capture.md#changes-that-capture-missed); 0: never. Default: 24. */
    readonly checkHours?: number
  }
}

/** Gives the configuration back as it is, with the types of an editor: a function sees the columns that it names. */
export function defineConfig<const Names extends NamedColumns, InScope extends string>(
  config: RollcallConfig<Names, InScope>,
): RollcallConfig<Names, InScope> {
  return config
}
