// Whether whoever the brake holds has wrong access at the service meanwhile, as far as that is known without a call. Pure.
import { TAKES_ACCESS } from '../brake/brake.ts'
import type { Reason } from '../ledger/record.ts'
import { entitled, STATUSES } from '../model/user.ts'
import type { Memory } from '../sync/memory.ts'
import type { WrongAccess } from './words.ts'

/** What is remembered of the user. */
type There = Pick<Memory, 'remote' | 'sentStatus' | 'seenStatus'>

/**
 * Nobody looks at them, and that what the database wants is not at the service is what they are held for: where that is
 * about access they are shut out, or let in, as much as anybody whom a look has found. What is not known is not told:
 * somebody whom nobody has asked about, or a call whose outcome is unknown.
 */
export function accessWhileHeld(wanted: boolean | null, there: There): WrongAccess | null {
  const has = hasAccess(there)
  if (wanted === null || has === null || wanted === has) return null
  return wanted ? 'lost' : 'undue'
}

/** Whoever is held for its absence was asked for by a claim that was told so, whatever is to be asked again. */
export function thereWhenHeld({ kinds = [] }: Pick<Reason, 'kinds'>, there: There): There {
  return kinds.includes('absence') ? { ...there, remote: 'absent' } : there
}

/** A status that the interface does not have says nothing of access. */
function hasAccess({ remote, sentStatus, seenStatus }: There): boolean | null {
  if (remote === 'absent') return false
  const status = seenStatus ?? sentStatus
  const said = remote === 'present' && STATUSES.some((each) => each === status)
  return said && status !== null ? entitled(status) : null
}

/** Of somebody whose repair waits: looks have shown the access, and what is remembered of the user does not hold. */
export function wrongWhenFound({ entitles }: Pick<Reason, 'entitles'>): WrongAccess | null {
  if (entitles === undefined) return null
  return entitles ? 'lost' : 'undue'
}

/**
 * Whether the customer is to have access, by the record alone, for whoever reads no customer: what was noted as it was
 * held, or what the kinds tell. A change of status to 0 is a kind of its own.
 */
export function wantedWhenHeld({ kinds = [], entitles }: Pick<Reason, 'kinds' | 'entitles'>): boolean | null {
  if (entitles !== undefined) return entitles
  if (TAKES_ACCESS.some((kind) => kinds.includes(kind))) return false
  return kinds.includes('status') ? true : null
}
