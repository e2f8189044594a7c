// The configuration as the rest of the house sees it: validated, every default filled in, frozen.
import type { z } from 'zod'
import type { OptionalField, UserField } from '../model/user.ts'
import type { ClearWith } from './define.ts'
import type { Customers, Frozen, Sections, watchSchema } from './schema.ts'
import type { TimedAnswer } from './until.ts'

/**
 * The columns of one customer, as `readCustomers` gives them (dates, bigints and numerics as text). A value above the
 * column's limit is not read: a `TooLarge` stands in its place.
 */
export type Row = Readonly<Record<string, unknown>>

/** Where a field's value comes from: the columns are known without running anything. */
export type FieldSource = {
  readonly columns: readonly string[]
  /** The largest value of its columns, in bytes, that the source can use. */
  readonly mostBytes: number
  /**
   * Pure. Undefined or null means that the customer has no value; an answer that holds for a time only is `TimedAnswer`.
   * Without `now` a function that goes by the time fails.
   */
  readonly value: (row: Row, now?: Date) => unknown
}

/** Without `columns`, those whose change matters are found from the mapping (table) or the view's own definition. */
export type Watched = Frozen<z.output<typeof watchSchema>>[number]

export type Config = Sections & {
  /** Path of the file it was read from, for messages. */
  readonly file: string
  /** Digest of everything that mapping and plan depend on; see resolve.ts. */
  readonly fingerprint: string
  readonly customers: Omit<Customers, 'isView'>
  readonly watch: readonly Watched[]
  readonly mapping: Readonly<Partial<Record<UserField, FieldSource>>> & {
    readonly user_id: FieldSource
    readonly status: FieldSource
  }
  /** Customers outside it have no access through rollcall: they are revoked like removed ones. */
  readonly scope: {
    readonly columns: readonly string[]
    readonly mostBytes: number
    readonly when: (row: Row, now: Date) => boolean | TimedAnswer<boolean>
  } | null
  readonly clearWith: Readonly<Record<OptionalField, ClearWith>>
  /** The mapping sets every field that an update can carry, so that a PUT takes no field away. */
  readonly fullyManaged: boolean
}

/** Time to spare between the end of the longest request and the end of a claim. */
const GRACE_MS = 1000

/**
 * How long no other process may look the user up after a claim was made: as long as its calls may go on, and what the last of them did
 * may not be shown yet. A lookup that misses it would count.
 */
export function claimLastsMs({ timing }: Pick<Config, 'timing'>): number {
  return timing.lifetimeMs + timing.consistencyDelayMs
}

/**
 * The longest time that one call needs, in milliseconds: until then its request may arrive. The grace is at most half of
 * the lifetime beyond a GET and a write: the other half is for the work between them, on a busy machine.
 */
export function timeNeededMs({ service, timing }: Pick<Config, 'service' | 'timing'>): number {
  return service.timeoutMs + Math.min(GRACE_MS, (timing.lifetimeMs - 2 * service.timeoutMs) / 2)
}
