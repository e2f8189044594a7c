// The users that the sandbox holds, in memory.
import { type FieldValue, OPTIONAL_FIELDS, type OptionalField } from '../../model/user.ts'
import { type Clock, makeClock } from '../clock.ts'
import { type LiveContract, makeContract } from '../contract/contract.ts'
import { shownOf, type Versions, written, writtenAtOnce } from './lag.ts'
import { type Access, accessOf, shownStatus, type TrialStart, trialAfter } from './trial.ts'

/** A user as the sandbox holds it: every field of section 2.6 as it was sent, null where there is none. */
export type StoredUser = {
  readonly user_id: string
  readonly status: number
} & Readonly<Record<OptionalField, FieldValue>>

export type UserEdit = { readonly status?: number } & Readonly<
  Partial<Record<OptionalField, FieldValue | undefined>>
>

/** The two edits work behind rollcall's back: they are not in the journal, and a GET shows them at once. */
export type SandboxUsers = {
  readonly size: number
  /** Values as they were sent; the status is 0 after a trial that ends so. */
  get(userId: string): StoredUser | undefined
  /** In the order in which they were created. */
  all(): readonly StoredUser[]
  /** Whether the user may use the service now; undefined: not registered. */
  access(userId: string): Access | undefined
  /** Puts the complete user: a field that is not named has no value, a status that is not named is 0. */
  set(userId: string, user: UserEdit): StoredUser
  /** Changes only what is named; makes the user when there is none. */
  edit(userId: string, changes: UserEdit): StoredUser
  /** Forgets everything about the user, the trial too. */
  delete(userId: string): boolean
  clear(): void
}

/** What the endpoints need besides. */
export type LiveUsers = SandboxUsers & {
  /** As `set` and `edit`, and shown by a GET when the contract says so. */
  write(userId: string, user: UserEdit, how: 'set' | 'edit'): StoredUser
  /** The user as a GET finds it. */
  seen(userId: string): StoredUser | undefined
}

type Held = { readonly user: StoredUser; readonly trialStart: TrialStart }
export type UsersParts = { readonly contract: LiveContract; readonly clock: Clock }

export function makeUsers(parts: Partial<UsersParts> = {}): LiveUsers {
  const { contract = makeContract({}), clock = makeClock() } = parts
  const users = new Map<string, Versions<Held>>()
  const heldOf = (userId: string) => users.get(userId)?.at(-1)?.held
  const moment = () => ({ now: clock.now(), lagMs: contract.now.visibleAfterMs })
  const standing = ({ user, trialStart }: Held) => ({
    status: user.status,
    trialStart,
    now: clock.now(),
    contract: contract.now,
  })
  const show = (held: Held): StoredUser => ({ ...held.user, status: shownStatus(standing(held)) })
  const compute = (userId: string, edit: UserEdit, how: 'set' | 'edit'): Held => {
    const before = heldOf(userId)
    const user = compose(userId, how === 'edit' ? before?.user : undefined, edit)
    const held = { user, trialStart: before?.trialStart ?? null }
    // A status that an edit does not name is not written.
    if (how === 'edit' && edit.status === undefined) return held
    return { user, trialStart: trialAfter(standing(held)) }
  }
  const putAtOnce = (userId: string, edit: UserEdit, how: 'set' | 'edit') => {
    const held = compute(userId, edit, how)
    users.set(userId, writtenAtOnce(held, clock.now()))
    return show(held)
  }
  return {
    get size() {
      return users.size
    },
    get: (userId) => maybe(heldOf(userId), show),
    all: () => [...users.keys()].flatMap((userId) => maybe(heldOf(userId), show) ?? []),
    access: (userId) => maybe(heldOf(userId), (held) => accessOf(standing(held))),
    set: (userId, user) => putAtOnce(userId, user, 'set'),
    edit: (userId, changes) => putAtOnce(userId, changes, 'edit'),
    delete: (userId) => users.delete(userId),
    clear: () => users.clear(),
    write(userId, user, how) {
      const held = compute(userId, user, how)
      users.set(userId, written(users.get(userId) ?? [], held, moment()))
      return show(held)
    },
    seen: (userId) => maybe(shownOf(users.get(userId) ?? [], moment()), show),
  }
}

function maybe<From, To>(value: From | undefined, then: (value: From) => To): To | undefined {
  return value === undefined ? undefined : then(value)
}

/** What the formats of section 2.6 take for no value; white space alone is no e-mail address either. */
export function isBlank(value: FieldValue): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '')
}

/** Only names of section 2.6 are ever read or written, so that no name from outside can do harm. */
function compose(userId: string, before: StoredUser | undefined, edit: UserEdit): StoredUser {
  const fields = OPTIONAL_FIELDS.map((field): [OptionalField, FieldValue] => {
    const value = edit[field] === undefined ? before?.[field] : edit[field]
    return [field, value === undefined || isBlank(value) ? null : value]
  })
  return {
    user_id: userId,
    status: edit.status ?? before?.status ?? 0,
    ...(Object.fromEntries(fields) as Record<OptionalField, FieldValue>),
  }
}
