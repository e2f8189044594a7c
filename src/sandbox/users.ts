import { type FieldValue, OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../model/user.ts'

/** A user as the sandbox holds it: every field of section 2.6, null where there is none. */
export type StoredUser = {
  readonly user_id: string
  readonly status: number
} & Readonly<Record<OptionalField, FieldValue>>

export type UserEdit = { readonly status?: number } & Readonly<
  Partial<Record<OptionalField, FieldValue | undefined>>
>

/** What the sandbox holds, in memory. The two edits work behind rollcall's back and are not in the journal. */
export type SandboxUsers = {
  readonly size: number
  get(userId: string): StoredUser | undefined
  /** In the order in which they were created. */
  all(): readonly StoredUser[]
  /** Puts the complete user: a field that is not named has no value, a status that is not named is 0. */
  set(userId: string, user: UserEdit): StoredUser
  /** Changes only what is named; makes the user when there is none. */
  edit(userId: string, changes: UserEdit): StoredUser
  delete(userId: string): boolean
  clear(): void
}

export function makeUsers(): SandboxUsers {
  const users = new Map<string, StoredUser>()
  const put = (user: StoredUser): StoredUser => {
    users.set(user.user_id, user)
    return user
  }
  return {
    get size() {
      return users.size
    },
    get: (userId) => users.get(userId),
    all: () => [...users.values()],
    set: (userId, user) => put(compose(userId, undefined, user)),
    edit: (userId, changes) => put(compose(userId, users.get(userId), changes)),
    delete: (userId) => users.delete(userId),
    clear: () => users.clear(),
  }
}

/** Only names of section 2.6 are ever read or written, so that no name from outside can do harm. '' is null. */
function compose(userId: string, before: StoredUser | undefined, edit: UserEdit): StoredUser {
  const fields = OPTIONAL_FIELDS.map((field): [OptionalField, FieldValue] => {
    const value = edit[field] === undefined ? before?.[field] : edit[field]
    return [field, value === undefined || value === '' ? null : value]
  })
  return {
    user_id: userId,
    status: edit.status ?? before?.status ?? 0,
    ...(Object.fromEntries(fields) as Record<OptionalField, FieldValue>),
  }
}

/**
 * The user as GET shows it (section 4.4): sixteen fields, no `country_code`, and the prefix in front of the
 * number in `mobile_phone` (section 2.6, rules 1 and 3).
 */
export function retrievedForm(user: StoredUser): Omit<StoredUser, typeof UNVERIFIABLE_FIELD> {
  const { [UNVERIFIABLE_FIELD]: _unseen, ...shown } = user
  const { mobile_phone: number, mobile_phone_prefix: prefix } = user
  return { ...shown, mobile_phone: number === null ? null : `${prefix ?? ''}${number}` }
}
