import type { DesiredUser, UserField } from './user.ts'

/** Why a field was left out, in words that hold no value. */
export type FieldIssue = {
  /** `scope`: the configuration's scope function failed, so that it is not known whether the customer is ours. */
  readonly field: UserField | 'scope'
  readonly code: 'invalid' | 'not-in-values' | 'function-failed' | 'missing' | 'refused' | 'taken'
  /** The expected form, for example "a DNI or NIE with the right letter". */
  readonly expected: string
}

/**
 * The result of mapping a customer. `removed`: there is no such row; `out-of-scope`: not ours to entitle. `spared`: its user
 * is treated as out of scope, or its fields are not erased; see sync/sharing.ts.
 */
export type Mapped =
  | ({ readonly kind: 'user'; readonly user: DesiredUser; readonly issues: readonly FieldIssue[] } & Validity)
  | { readonly kind: 'removed'; readonly userId: string; readonly spared?: 'user' | 'fields' }
  | ({ readonly kind: 'out-of-scope'; readonly userId: string } & Validity)
  | ({
      readonly kind: 'rejected'
      readonly userId: string | null
      readonly issues: readonly FieldIssue[]
    } & Validity)

/** Until when the answer holds, in milliseconds since 1970; absent when only a change can make another of it. */
export type Validity = { readonly validUntilMs?: number }

export function validUntilOf(mapped: Mapped): number | null {
  return mapped.kind === 'removed' ? null : (mapped.validUntilMs ?? null)
}

export function isOutOfScope(mapped: Mapped): boolean {
  return mapped.kind === 'out-of-scope' || (mapped.kind === 'removed' && mapped.spared === 'user')
}

export function userIdOf(mapped: Mapped): string | null {
  return mapped.kind === 'user' ? mapped.user.userId : mapped.userId
}
