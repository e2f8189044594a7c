// Why a customer is not up to date.

/**
 * Every code that this version gives as a reason. Reasons are stored: one that is read may be of another version, so
 * their renderer has to cope with a code that is not here.
 */
export const REASON_CODES = [
  // A person has to change something: row, mapping, or what the service takes.
  'mapping',
  'shared-user-id',
  'refused',
  'erasure-refused',
  'customer-unreadable',
  'unwatched',
  // A create is refused because another user has something of it, and no GET shows this one.
  'conflict',
  // The service's answer, or that there was none.
  'denied',
  'later',
  'failed',
  'not-noted',
  'not-sent',
  'unknown',
  'unclear',
  'not-there-yet',
  // One claim may not do it now: the next one tries again.
  'needs-lookup',
  'created-already',
  'out-of-time',
  'stopping',
  'just-written',
  // Part of a mass of changes that waits for a person; `kinds` says which.
  'held',
  // No process calls: the service is out of order, or takes our credentials no more.
  'paused',
  // The brake could not be asked: its row was held by another process for too long.
  'brake-busy',
] as const
export type ReasonCode = (typeof REASON_CODES)[number]

/** Why a customer is where it is: a code, an HTTP status, names of fields, columns and keys. Never a value. */
export type Reason = {
  readonly code: ReasonCode
  readonly status?: number
  /** How the call failed when there was no answer. */
  readonly error?: string
  readonly fields?: readonly string[]
  readonly keys?: readonly string[]
  /** Columns and tables that the configuration names and the database does not have, in words. */
  readonly misfits?: readonly string[]
  /** For which kinds of the brake it is held. */
  readonly kinds?: readonly string[]
  /** Whether a held customer has access once the held call is made. */
  readonly entitles?: boolean
  /** The fields among these that the service's answer names. */
  readonly named?: readonly string[]
}
