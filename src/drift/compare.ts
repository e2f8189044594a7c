// What a GET says of a customer while nothing is owed to it: drift is a check whose plan would write. Pure.
import { type KnownRecord, NEVER_SETTLED, type Reason } from '../ledger/record.ts'
import { userIdOf } from '../model/mapped.ts'
import { entitled, type Status, UNVERIFIABLE_FIELD } from '../model/user.ts'
import type { RemoteUser } from '../service/body.ts'
import { NO_VALUE } from '../sync/digest.ts'
import { accessAfter, wrongFields } from '../sync/plan.ts'
import { planAfter, planNow, type Snapshot } from '../sync/snapshot.ts'
import { accessWhileHeld, thereWhenHeld, wantedWhenHeld, wrongWhenFound } from './held.ts'
import type {
  CheckVerdict,
  DriftCause,
  DriftField,
  DriftKind,
  DriftVerdict,
  Skipped,
  WrongAccess,
} from './words.ts'

/** What a GET showed; `unreadable`: a 2xx that is no user, or another one. */
export type Sight = RemoteUser | 'absent' | 'unreadable'

/** The lag of the service: what was written so lately may not be shown yet. */
type Lag = { readonly consistencyDelayMs: number }

/**
 * Why a customer cannot be verified now; null where it can. A difference means something only while nothing is owed and
 * nothing was written a moment ago, and only for a user who is ours.
 */
export function reasonToSkip(snapshot: Snapshot, { consistencyDelayMs }: Lag): Skipped | null {
  const { work, mapped, nowMs } = snapshot
  const { owed, claimed, unknown, replanAtMs } = work
  const due = replanAtMs !== null && replanAtMs <= nowMs
  if (owed || claimed || unknown || due) return 'owed'
  if (userIdOf(mapped) === null || mapped.kind === 'rejected') return 'rejected'
  const record = recordOfUser(snapshot)
  switch (record.state) {
    case 'rejected':
    case 'held':
    case 'discarded':
      return record.state
    case 'failing':
      return 'owed'
    case 'idle':
      break
    default:
      return record.state satisfies never
  }
  if (isFresh(record.writtenAgoMs, { consistencyDelayMs })) return 'just-settled'
  return notOurs(snapshot)
}

/** A database whose clock was set back tells a negative age: one far below zero is old, and not young for ever. */
export function isFresh(writtenAgoMs: number | null, { consistencyDelayMs }: Lag): boolean {
  return writtenAgoMs !== null && Math.abs(writtenAgoMs) < consistencyDelayMs
}

function notOurs(snapshot: Snapshot): Skipped | null {
  const { plan } = planNow(snapshot)
  if (plan.kind === 'reject') return 'rejected'
  if (plan.kind !== 'none') return null
  return plan.why === 'never-ours' || plan.why === 'ignored' || plan.why === 'user-of-another-customer'
    ? 'not-ours'
    : null
}

/** Nothing is remembered of a user with another `user_id` than the record was made under. */
function recordOfUser({ work: { record }, mapped }: Pick<Snapshot, 'work' | 'mapped'>): KnownRecord {
  const userId = userIdOf(mapped)
  const another = userId !== null && record.userId !== null && record.userId !== userId
  return another ? NEVER_SETTLED : record
}

/** Of somebody who is held; by what a release would send. */
export function heldAccess(snapshot: Snapshot): WrongAccess | null {
  const { plan, memory } = planNow(snapshot)
  const reason: Pick<Reason, 'kinds' | 'entitles'> = snapshot.work.record.reason ?? {}
  if (reason.kinds?.includes('repair')) return wrongWhenFound(reason)
  const wanted = plan.kind === 'lookup' ? wantedWhenHeld(reason) : accessAfter(plan)
  return accessWhileHeld(wanted, thereWhenHeld(reason, memory))
}

/** A drift as it looks at first; the record of an earlier look may know the cause better. */
export type Compared = Extract<CheckVerdict, { kind: 'agrees' | DriftKind }>

/** What is known beside the records of the customer. */
type Clues = {
  /** Fields that writes of unknown outcome carried since a GET last agreed. */
  readonly doubted: readonly string[]
  /** The present generation of the mapping. */
  readonly generation: string
}

export function compare(snapshot: Snapshot, sight: Sight, clues: Clues): Compared {
  const { mapped, work } = snapshot
  if (sight === 'unreadable') return drift('unreadable', { cause: changedSince(clues.doubted, work) })
  const { plan, memory } = planAfter(snapshot, sight)
  const causes = causesOf(snapshot, clues)
  switch (plan.kind) {
    case 'none': {
      if (sight === 'absent')
        return { kind: 'agrees', nobody: wasThere(recordOfUser(snapshot)) ? 'gone' : 'known' }
      const ended = mapped.kind === 'user' && mapped.user.status !== sight.status
      return ended ? drift('trial-ended', { fields: ['status'] }) : { kind: 'agrees' }
    }
    case 'create': {
      const { status } = plan.body
      return drift('missing', { cause: causes.absence(), access: wrongAccess(status, 0) })
    }
    case 'revoke':
      return drift('unexpected-access', { cause: causes.ofFields(['status']), access: 'undue' })
    case 'erase': {
      const cause = work.record.erased === null ? 'never-delivered' : 'edited-at-service'
      const fields = plan.fields.filter((field) => (memory.seen[field] ?? NO_VALUE) !== NO_VALUE)
      const shown = fields.filter(isVisible).filter((field) => work.record.refused[field] === undefined)
      return shown.length > 0 ? drift('differs', { fields: shown, cause }) : { kind: 'agrees' }
    }
    case 'patch':
    case 'replace': {
      const fields = wrongFields({ ...snapshot, memory }).filter(isVisible)
      if (fields.length === 0 || mapped.kind !== 'user' || sight === 'absent')
        return { kind: 'agrees', hidden: true }
      const access = fields.includes('status') ? wrongAccess(mapped.user.status, sight.status) : null
      return drift('differs', { fields, cause: causes.ofFields(fields), access })
    }
    case 'lookup':
    case 'reject':
      return { kind: 'agrees' }
    default:
      return plan satisfies never
  }
}

/** Of somebody who was erased a look changes nothing that is remembered: the second one would say that again. */
function wasThere({ remote, erased }: KnownRecord): boolean {
  return remote === 'present' && erased === null
}

type Hidden = typeof UNVERIFIABLE_FIELD

function isVisible<Field extends DriftField | Hidden>(field: Field): field is Exclude<Field, Hidden> {
  return field !== UNVERIFIABLE_FIELD
}

function drift(
  kind: DriftKind,
  { fields = [], cause = null, access = null }: Partial<DriftVerdict>,
): DriftVerdict {
  return { kind, fields, cause, access }
}

/** A status that the interface does not have says nothing of access. */
function wrongAccess(here: Status, there: number): WrongAccess | null {
  if (entitled(here)) return there === 0 ? 'lost' : null
  return entitled(there) ? 'undue' : null
}

/** The first that holds for any field is that of the user: our own doing is said before another's. */
const ORDER = [
  'unknown-outcome',
  'mapping-changed',
  'never-delivered',
  'edited-at-service',
] as const satisfies readonly DriftCause[]

type Doubts = Pick<Snapshot['work'], 'doubtful' | 'blind'>

/** Of what was at the service once: no call of ours since then may have changed it. */
function changedSince(doubted: readonly string[], { doubtful, blind }: Doubts): DriftCause {
  return doubtful || blind || doubted.length > 0 ? 'unknown-outcome' : 'edited-at-service'
}

/**
 * Why the service disagrees, as far as the records tell. `edited-at-service` is claimed only where the desired value was
 * acknowledged or shown once, and no call of ours since then may have changed it. Where the digests tell nothing any more
 * (they were made with another key), nothing is known to have been delivered.
 */
export function causesOf(snapshot: Snapshot, { doubted, generation }: Clues) {
  const { work, mapped, digests, digestKey, desired } = snapshot
  const record = recordOfUser(snapshot)
  const comparable = record.digestKey === digestKey
  const older = work.generation !== null && BigInt(work.generation) < BigInt(generation)
  const remapped = older && comparable && work.desired !== null && work.desired !== desired
  const undelivered = remapped ? 'mapping-changed' : 'never-delivered'
  const edited = (field: DriftField) =>
    changedSince(
      doubted.filter((each) => each === field),
      work,
    )

  function ofField(field: DriftField): DriftCause {
    if (field === 'status') return ofStatus()
    if (!comparable) return 'never-delivered'
    const [sent, seen] = [record.sent[field], record.seen[field]]
    const value = mapped.kind === 'user' ? mapped.user.fields[field] : undefined
    // A field that the mapping does not set was as it should be while it was empty.
    if (value === undefined)
      return seen === NO_VALUE || (seen === undefined && record.verifiedAgoMs !== null)
        ? edited(field)
        : undelivered
    const delivered =
      sent === undefined ? seen === digests.normal(field, value) : sent === digests.exact(field, value)
    return delivered ? edited(field) : undelivered
  }

  function ofStatus(): DriftCause {
    const { sentStatus } = planNow(snapshot).memory
    if (sentStatus === null && record.sentStatus !== null) return 'unknown-outcome'
    const wanted = mapped.kind === 'user' ? mapped.user.status : 0
    return sentStatus === wanted ? edited('status') : undelivered
  }

  return {
    ofField,
    ofFields(fields: readonly DriftField[]): DriftCause {
      const causes = fields.map(ofField)
      return ORDER.find((cause) => causes.includes(cause)) ?? 'edited-at-service'
    },
    /** Of somebody who is wanted and not there. Every call that was doubted could have been about that. */
    absence(): DriftCause {
      if (work.unknown || record.remote === 'unknown') return 'unknown-outcome'
      return record.remote === 'present' ? changedSince(doubted, work) : undelivered
    },
  }
}
