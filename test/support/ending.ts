// The ending of a claim: that of the customer `c` with token 7, for version 3, which has settled.
import type { Ending } from '../../src/ledger/ending.ts'
import { type LedgerRecord, NO_RECORD } from '../../src/ledger/record.ts'

const {
  writtenAgoMs: _written,
  verifiedAgoMs: _seen,
  isNew: _new,
  settled: _settled,
  released: _released,
  desiredDigest: _desired,
  ...none
} = NO_RECORD

/** A record as an ending stores it, for a customer without any knowledge. */
export const EMPTY_RECORD: LedgerRecord = none

type Parts = 'claim' | 'next' | 'lookups' | 'others'
type Given = Partial<Omit<Ending, Parts> & Ending['next'] & Ending['lookups']> & {
  readonly claim?: Partial<Ending['claim']>
  readonly others?: Partial<Ending['others']>
}

export function endingOf(id: string, { claim = {}, others = {}, ...given }: Given = {}): Ending {
  const { failed = false, backoffMs = 1000, replanAtMs = null, ...known } = given
  const { getMade = false, lateMs = 5000, unclear = false, statusKnown = false, ...rest } = known
  return {
    claim: { id, token: '7', key: 'c', version: '3', generation: '1', nowMs: 0, changedAtMs: null, ...claim },
    ...{ kind: 'settle', writes: 'refused', acknowledged: [] },
    lastAnswer: { method: 'PATCH', status: 200, error: null },
    ...{ desiredDigest: null, record: { ...EMPTY_RECORD, userId: 'u' } },
    next: { failed, backoffMs, replanAtMs },
    lookups: { getMade, lateMs, unclear, statusKnown },
    erasure: { cleared: null, left: null },
    others: { effect: 'none', mayEndTrial: false, noteKeys: [], isNewUser: false, ...others },
    ...rest,
  }
}
