// The ending of a claim: that of the customer `c` with token 7, for version 3, which has settled.
import type { Ending } from '../../src/ledger/ending.ts'
import { type LedgerRecord, NEVER_SETTLED } from '../../src/ledger/record.ts'

const {
  writtenAgoMs: _written,
  verifiedAgoMs: _seen,
  isNew: _new,
  settled: _settled,
  desired: _desired,
  ...none
} = NEVER_SETTLED

/** A record as an ending stores it, for a customer without any knowledge. */
export const EMPTY_RECORD: LedgerRecord = none

export function endingOf(id: string, given: Partial<Ending> = {}): Ending {
  return {
    ...{ id, token: '7', key: 'c', version: '3', kind: 'settle', generation: '1' },
    ...{ sure: true, wrote: true, maybeDone: false, failed: false, verified: false, lookedUp: false },
    ...{ acknowledged: [], unclear: false, effect: 'none', lowered: false, statusKnown: false, isNew: false },
    ...{ gapMs: 0, backoffMs: 1000, lateMs: 5000, replanAtMs: null, claimedAtMs: 0, changedAtMs: null },
    ...{ desired: null, noteKeys: [], lastAnswer: null, record: { ...EMPTY_RECORD, userId: 'u' } },
    ...given,
  }
}
