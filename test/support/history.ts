import type { History, LoggedCall } from '../../src/ledger/history.ts'

/** A customer with an empty record in the tables. */
export const BARE_HISTORY: NonNullable<History> = {
  ...{ state: 'idle', released: false, reason: null, discard: null, issues: [], since: null, attempts: 0 },
  ...{ nextInMs: null, owed: false },
  ...{ underWay: false, owedSinceMs: null, overdueMs: null, capturedMs: null, outboxSearched: true },
  ...{
    unknown: false,
    unverified: false,
    changedAt: null,
    acknowledgedAt: null,
    writtenAgoMs: null,
    acknowledgedStatus: null,
  },
  ...{ metBefore: false, verifiedAt: null, userId: 'u', remote: 'absent', finding: null, calls: [] },
}

/** A write that was done, as `test/ledger/history.pg.test.ts` stores it. */
export const LOGGED_CALL: LoggedCall = {
  ...{ at: '2026-01-02T03:00:01.000Z', by: 'worker h/1', plan: 'patch', method: 'PATCH', status: 201 },
  ...{ error: null, meaning: 'done', ms: 1, fields: ['status', 'email'], answer: 'x' },
}
