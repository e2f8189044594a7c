// The brake: a mass of changes that shuts customers out, or is hardly meant, waits for a person.
import type { Config } from '../config/config.ts'
import type { CustomerKey } from '../model/customer.ts'
import { OPTIONAL_FIELDS, type OptionalField } from '../model/user.ts'

/**
 * The kinds of change, each counted by itself. `revocation`: a customer loses access; `status`: a status changes to
 * another that is not 0; `create`; `absence`: a user who was there is not any more; `erase`: personal fields are
 * erased; `repair`: a change by others at the service is undone; `clear:…`: a field that was set is cleared.
 */
const KINDS = ['revocation', 'status', 'create', 'absence', 'erase', 'repair'] as const
export type BrakeKind = (typeof KINDS)[number] | `clear:${OptionalField}`

/** Why a customer is held: a kind that tripped, or a watched table that was truncated. */
export type HeldKind = BrakeKind | 'truncated'

/** A customer held for one of these would lose access. */
export const TAKES_ACCESS: readonly HeldKind[] = ['revocation', 'truncated']

/** Asked before a call, or after an answer that tells of an absence. */
export type BrakeRequest = {
  readonly key: CustomerKey
  /** Digest of the desired user: a person's release holds for exactly this. */
  readonly desiredDigest: string
  readonly kinds: readonly BrakeKind[]
  /** The service grants access already, as far as is known: a change of status gives nothing back. */
  readonly hasAccess?: boolean
}

/** The kinds for which this customer has to wait; none: go on, and it is counted. */
export type Brake = (request: BrakeRequest) => Promise<readonly HeldKind[]>

export const CALL_BRAKE_KINDS: readonly BrakeKind[] = [
  ...KINDS,
  ...OPTIONAL_FIELDS.map((field) => `clear:${field}` as const),
]

export const HELD_KINDS: readonly HeldKind[] = [...CALL_BRAKE_KINDS, 'truncated']

export function isHeldKind(text: string): text is HeldKind {
  return HELD_KINDS.some((kind) => kind === text)
}

/** Registrations have a rule of their own: a start with many customers is nothing unusual. */
export function ruleOf(kind: BrakeKind, rules: Pick<Config['brake'], 'changes' | 'creates'>) {
  return kind === 'create' ? rules.creates : rules.changes
}

/** A column of the table holds it. */
const MOST = 2_147_483_647
/** A share of 0.29 of 100 is 29, also where the machine computes 28.999999999999996. */
const ROUNDING = 1e-9

/** How many customers may pass: a number, or a share of the `base`, whichever is more. */
export function limitOf({ customers, share }: Config['brake']['changes'], base: number | null): number {
  return Math.min(MOST, Math.max(customers, Math.floor(share * (base ?? 0) + ROUNDING)))
}

/** The number of which a limit is a share: customers with access, or for registrations the registered ones. */
export type Bases = { readonly entitled: number; readonly present: number }

/** Older than this, and it may lie far off. */
const BASE_AGE_MS = 60_000

export function baseOf(kind: BrakeKind, bases: Bases): number {
  return kind === 'create' ? bases.present : bases.entitled
}

type Known = {
  readonly kind: BrakeKind
  readonly taken: number
  readonly tripped: boolean
  /** How old the base is; null: never counted. */
  readonly baseAgeMs: number | null
}

/** Whether the answer to `more` customers may depend on a base that is missing or old: below the fixed number it does not. */
export function baseIsOld({ kind, taken, tripped, baseAgeMs }: Known, more: number, rules: Config['brake']) {
  const { customers, share } = ruleOf(kind, rules)
  if (tripped || share === 0 || taken + more <= customers) return false
  // A clock that was set back makes it younger than it can be.
  return baseAgeMs === null || baseAgeMs > BASE_AGE_MS || baseAgeMs < 0
}
