import type { LedgerRecord } from '../ledger/record.ts'
import type { Memory } from './memory.ts'
import type { TurnEnd } from './turn.ts'

/** Whether the user was there when that was last known, and nobody has accepted since that it is not. */
export function existedBefore({
  wasThere: noted,
  remote,
}: Pick<LedgerRecord, 'wasThere' | 'remote'>): boolean {
  return noted ?? remote === 'present'
}

/** After a claim: an absence is accepted where it was settled, or a create has followed; the unknown changes nothing. */
export function existsRemotely(before: boolean, { remote }: Pick<Memory, 'remote'>, end: TurnEnd): boolean {
  if (remote === 'present') return true
  return before && !(remote === 'absent' && end.kind === 'settle' && end.state === 'idle')
}
