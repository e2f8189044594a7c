// The users that the sandbox holds, in memory: their fields, their trials, and which state a GET shows.
import { FORMATS, joinPhone } from '../../model/formats.ts'
import { type FieldValue, OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../../model/user.ts'
import { type Clock, makeClock } from '../clock.ts'
import { type Contract, DOCUMENTED, type LiveContract, makeContract } from '../contract/contract.ts'

/** A user as the sandbox holds it: every field of section 2.6 as it was sent, null where there is no value. */
export type StoredUser = {
  readonly user_id: string
  readonly status: number
} & Readonly<Record<OptionalField, FieldValue>>

export type UserEdit = { readonly status?: number } & Readonly<
  Partial<Record<OptionalField, FieldValue | undefined>>
>

/** `none`: status 0. `trial-over`: status 4, and the trial has ended, whatever a GET shows. */
export type Access = 'none' | 'full' | 'trial' | 'trial-over'

/** `set` and `edit` work behind rollcall's back: they are not in the journal, and a GET shows them at once. */
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
  /** Changes only what is named; creates the user when there is none. */
  edit(userId: string, changes: UserEdit): StoredUser
  /** Forgets everything about the user, the trial too. */
  delete(userId: string): boolean
  clear(): void
}

/** What the endpoints need as well. */
export type LiveUsers = SandboxUsers & {
  /** Like `set` and `edit`, but a GET shows it only when the contract says so. */
  write(userId: string, user: UserEdit, how: 'set' | 'edit'): StoredUser
  /** The user as a GET finds it. */
  seen(userId: string): StoredUser | undefined
}

/** `trialStart`: when the user's one trial began, by the sandbox's clock; null: never. */
type Held = { readonly user: StoredUser; readonly trialStart: number | null }

export function makeUsers(
  parts: { readonly contract?: LiveContract; readonly clock?: Clock } = {},
): LiveUsers {
  const { contract = makeContract({}), clock = makeClock() } = parts
  const users = new Map<string, Versions<Held>>()
  const heldOf = (userId: string) => users.get(userId)?.at(-1)?.held
  const moment = () => ({ now: clock.now(), lagMs: contract.now.visibleAfterMs })
  const trialOf = ({ user: { status }, trialStart }: Held): Trial => {
    return { status, trialStart, now: clock.now(), contract: contract.now }
  }
  const show = (held: Held | undefined): StoredUser | undefined =>
    held && { ...held.user, status: shownStatus(trialOf(held)) }
  const write = (userId: string, edit: UserEdit, how: 'set' | 'edit', lagMs: number): StoredUser => {
    const before = heldOf(userId)
    const user = compose(userId, how === 'edit' ? before?.user : undefined, edit)
    const held = { user, trialStart: before?.trialStart ?? null }
    // An edit that does not name the status does not write it.
    const writesStatus = how === 'set' || edit.status !== undefined
    const next = writesStatus ? { user, trialStart: trialAfter(trialOf(held)) } : held
    users.set(
      userId,
      lagMs === 0 ? writtenAtOnce(next, clock.now()) : written(users.get(userId) ?? [], next, moment()),
    )
    return { ...user, status: shownStatus(trialOf(next)) }
  }
  return {
    get size() {
      return users.size
    },
    get: (userId) => show(heldOf(userId)),
    all: () => [...users.keys()].flatMap((userId) => show(heldOf(userId)) ?? []),
    access: (userId) => {
      const held = heldOf(userId)
      return held && accessOf(trialOf(held))
    },
    set: (userId, user) => write(userId, user, 'set', 0),
    edit: (userId, changes) => write(userId, changes, 'edit', 0),
    delete: (userId) => users.delete(userId),
    clear: () => users.clear(),
    write: (userId, user, how) => write(userId, user, how, contract.now.visibleAfterMs),
    seen: (userId) => show(shownOf(users.get(userId) ?? [], moment())),
  }
}

/** No value by the formats of section 2.6; white space alone is no e-mail address either. */
export function isBlank(value: FieldValue): boolean {
  return value === null || (typeof value === 'string' && value.trim() === '')
}

/** Reads and writes only names of section 2.6, so that no name from outside can do harm. */
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

// The trial of status 4 (section 2.6). Its duration is configured in advance; how it ends is the contract's.

type Trial = Pick<Held, 'trialStart'> & {
  readonly status: number
  readonly now: number
  readonly contract: Pick<Contract, 'trialMs' | 'trialEnd' | 'trialAgain'>
}

/**
 * The start of the trial after a write of this status. The first write of 4 starts it. Later writes change nothing,
 * unless the contract restarts it, or the clock was set back to before its start.
 */
function trialAfter({ status, trialStart, now, contract }: Trial): number | null {
  if (status !== 4) return trialStart
  return trialStart === null || trialStart > now || contract.trialAgain === 'restarts' ? now : trialStart
}

/** By the duration that is in force now, so that a trial can be made to end at once. */
function accessOf({ status, trialStart, now, contract }: Trial): Access {
  if (status === 2) return 'full'
  if (status !== 4) return 'none'
  return trialStart !== null && now - trialStart >= contract.trialMs ? 'trial-over' : 'trial'
}

/** The status that a GET shows. */
function shownStatus(trial: Trial): number {
  return trial.contract.trialEnd === 'flips' && accessOf(trial) === 'trial-over' ? 0 : trial.status
}

// Delayed visibility: which of a user's states a GET shows.

/** The oldest first; the last one is held, and a GET shows the last one that is older than its `lagMs`. */
export type Versions<T> = readonly { readonly held: T; readonly at: number; readonly lagMs: number }[]
type Moment = { readonly now: number; readonly lagMs: number }

/** Writes that are not shown yet; a fast caller must not fill the memory. */
export const MOST = 20

/**
 * With one more write. Beyond `MOST` the state goes whose neighbours are closest in time, so that a GET moves from
 * state to state however fast they are written: none too early, none later than a ninth of the lag.
 */
export function written<T>(before: Versions<T>, held: T, moment: Moment): Versions<T> {
  const versions = [...before, { held, at: moment.now, lagMs: moment.lagMs }]
  const left = versions.slice(Math.max(0, shownIndex(versions, moment)))
  if (left.length <= MOST) return left
  const gap = (index: number) => (left[index + 1]?.at ?? 0) - (left[index - 1]?.at ?? 0)
  const inner = left.map((_version, index) => index).slice(1, -1)
  return left.toSpliced(
    inner.reduce((best, index) => (gap(index) < gap(best) ? index : best), 1),
    1,
  )
}

/** A GET shows nothing older from now on. */
export function writtenAtOnce<T>(held: T, now: number): Versions<T> {
  return [{ held, at: now, lagMs: 0 }]
}

/** Undefined: the first write is not shown yet. */
export function shownOf<T>(versions: Versions<T>, moment: Moment): T | undefined {
  return versions[shownIndex(versions, moment)]?.held
}

/**
 * A write waits as long as the contract said then, or less when it says less now. A write after `now`, because the
 * clock was set back, does not wait.
 */
function shownIndex<T>(versions: Versions<T>, { now, lagMs: most }: Moment): number {
  return versions.findLastIndex(({ at, lagMs }) => now < at || now - at >= Math.min(lagMs, most))
}

export type RetrievedForm = Pick<Contract, 'nulls' | 'numbers' | 'email' | 'phone'>

/**
 * The user as a GET shows it (section 4.4): sixteen fields, no `country_code`, and by default the prefix before the
 * number in `mobile_phone` (section 2.6, rules 1 and 3).
 */
export function retrievedForm(
  user: StoredUser,
  form: RetrievedForm = DOCUMENTED,
): Readonly<Record<string, FieldValue>> {
  const { [UNVERIFIABLE_FIELD]: _unseen, ...fields } = user
  const email =
    form.email === 'lower-case' && typeof user.email === 'string' ? user.email.toLowerCase() : user.email
  const shown = Object.entries({ ...fields, email, mobile_phone: shownPhone(user, form) })
  return Object.fromEntries(
    shown.flatMap(([field, value]): [string, FieldValue][] => {
      if (value !== null) return [[field, form.numbers === 'text' ? String(value) : value]]
      return form.nulls === 'absent' ? [] : [[field, form.nulls === 'empty' ? '' : null]]
    }),
  )
}

/** `formatted`: +34 612 345 678 however it was written; a number that cannot be read stays as it is. */
function shownPhone(user: StoredUser, { phone: form }: RetrievedForm): FieldValue {
  const { mobile_phone: number, mobile_phone_prefix: prefix } = user
  if (number === null || form === 'kept') return number
  if (form === 'joined') return `${prefix ?? ''}${number}`
  const bare = FORMATS.mobile_phone.parse(number)
  const code = FORMATS.mobile_phone_prefix.parse(prefix)
  if (!bare.ok || !code.ok) return number
  const rest = joinPhone(String(bare.value), code.value === null ? null : String(code.value))
  if (!rest.ok) return number
  return [...(code.value === null ? [] : [`+${code.value}`]), ...(rest.value.match(/\d{1,3}/g) ?? [])].join(
    ' ',
  )
}
