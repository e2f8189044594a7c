// The users that the sandbox holds, in memory: their fields, their trials, and which state a GET shows.
import { FORMATS, joinPhone } from '../../model/formats.ts'
import { type FieldValue, OPTIONAL_FIELDS, type OptionalField, UNVERIFIABLE_FIELD } from '../../model/user.ts'
import { makeClock, type SandboxClock } from '../clock.ts'
import { type Contract, DOCUMENTED, type LiveContract, makeContract } from '../contract/contract.ts'

/** A user as the sandbox holds it: every field of section 2.6 as it was sent, null where there is no value. */
export type StoredUser = Readonly<{ user_id: string; status: number } & Record<OptionalField, FieldValue>>
export type UserEdit = Readonly<{ status?: number } & { [field in OptionalField]?: FieldValue | undefined }>

/** `none`: status 0. `trial-over`: status 4, and the trial has ended, whatever a GET shows. */
type SandboxAccess = 'none' | 'full' | 'trial' | 'trial-over'

export type SandboxUsers = ReturnType<typeof makeUsers>

/** A user after one write. Times are by the sandbox's clock. */
type Version = {
  readonly user: StoredUser
  /** When the user's one trial began; null: never. */
  readonly trialStart: number | null
  readonly at: number
  /** How much later a GET shows it. */
  readonly lagMs: number
}

export function makeUsers(parts: { readonly contract?: LiveContract; readonly clock?: SandboxClock } = {}) {
  const { contract = makeContract({}), clock = makeClock() } = parts
  /** The oldest first; the last one is held. */
  const users = new Map<string, readonly Version[]>()
  /** One version, or none. */
  const heldOf = (userId: string) => users.get(userId)?.slice(-1) ?? []

  /** A shorter delay counts at once. */
  function isShown({ at, lagMs }: Version): boolean {
    return clock.now() - at >= Math.min(lagMs, contract.now.visibleAfterMs)
  }
  /** By the duration that is in force now, so that a trial can be made to end at once. */
  function accessOf({ user: { status }, trialStart }: Version): SandboxAccess {
    if (status !== 4) return status === 2 ? 'full' : 'none'
    return trialStart !== null && clock.now() - trialStart >= contract.now.trialMs ? 'trial-over' : 'trial'
  }
  /** The first write of status 4 starts the trial (section 2.6). Later writes restart it only by the contract. */
  function trialAfter(status: number, start: number | null): number | null {
    if (status !== 4) return start
    return start === null || contract.now.trialAgain === 'restarts' ? clock.now() : start
  }
  function show(version: Version): StoredUser {
    const flips = contract.now.trialEnd === 'flips' && accessOf(version) === 'trial-over'
    return flips ? { ...version.user, status: 0 } : version.user
  }
  function put(userId: string, edit: UserEdit, how: 'set' | 'edit', lagMs: number): StoredUser {
    const versions = users.get(userId) ?? []
    const { user: before, trialStart: start = null } = versions.at(-1) ?? {}
    const user = compose(userId, how === 'edit' ? before : undefined, edit)
    // An edit that does not name the status does not write it.
    const writesStatus = how === 'set' || edit.status !== undefined
    const trialStart = writesStatus ? trialAfter(user.status, start) : start
    const version = { user, trialStart, at: clock.now(), lagMs }
    const needed = lagMs === 0 ? [] : versions.slice(Math.max(0, versions.findLastIndex(isShown)))
    users.set(userId, [...needed, version])
    return show(version)
  }
  return {
    get size() {
      return users.size
    },
    /** Values as they were sent; the status is 0 after a trial that ends so. */
    get: (userId: string) => heldOf(userId).map(show)[0],
    /** In the order in which they were created. */
    all: (): readonly StoredUser[] => [...users.keys()].flatMap(heldOf).map(show),
    /** Whether the user may use the service now; undefined: not registered. */
    access: (userId: string) => heldOf(userId).map(accessOf)[0],
    /**
     * Puts the complete user: a field that is not named has no value, a status that is not named is 0. Like `edit` it
     * works behind rollcall's back: it is not in the journal, and a GET shows it at once.
     */
    set: (userId: string, user: UserEdit) => put(userId, user, 'set', 0),
    /** Changes only what is named; creates the user when there is none. */
    edit: (userId: string, changes: UserEdit) => put(userId, changes, 'edit', 0),
    /** Forgets everything about the user, the trial too. */
    delete: (userId: string) => users.delete(userId),
    clear: () => users.clear(),
    /** For the endpoints: like `set` and `edit`, but a GET shows it only when the contract says so. */
    write: (userId: string, user: UserEdit, how: 'set' | 'edit') =>
      put(userId, user, how, contract.now.visibleAfterMs),
    seen: (userId: string) => users.get(userId)?.filter(isShown).map(show).at(-1),
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

type RetrievedForm = Pick<Contract, 'nulls' | 'numbers' | 'email' | 'phone'>

/**
 * The user as a GET shows it (section 4.4): sixteen fields, no `country_code`, and by default the prefix before the
 * number in `mobile_phone` (section 2.6, rules 1 and 3).
 */
export function retrievedForm(user: StoredUser, form: RetrievedForm = DOCUMENTED) {
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
  const groups = rest.value.match(/\d{1,3}/g) ?? []
  return [...(code.value === null ? [] : [`+${code.value}`]), ...groups].join(' ')
}
