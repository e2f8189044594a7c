import { expect, test } from 'vitest'
import type { Overview } from '../../src/ledger/overview.ts'
import type { SweepsReport } from '../../src/ledger/runs.ts'
import { showTables, type Tables } from '../../src/worker/tables.ts'

const OVERVIEW: Overview = {
  ...{ target: null, customers: 15, unknown: 1, reasons: [], fieldIssues: [] },
  owed: {
    ...{ deletion: 1, change: 2, repair: 0, backfill: 40, due: 3, queued: 10, active: 0, waiting: 0 },
    ...{ oldestAgeMs: 90_500, waitsForWorkerMs: null },
  },
  states: { owed: 0, idle: 5, rejected: 1, failing: 2, held: 3, released: 0, discarded: 0 },
  outbox: { rows: 4, bytes: 8192, oldestAgeMs: 1500 },
}
const PACE = { ceiling: 50, rate: 25, heldForMs: 0, breaker: 'closed', cause: null } as const
const NOTHING = { inserted: 0, changed: 0, deleted: 0 }
const NO_SWEEPS: SweepsReport = { unfinished: [], check: null, missedSince: NOTHING }
const DRIFT: Tables['drift'] = {
  coverage: {
    ...{ periodMs: 0, customers: 40, within: 30, never: 0, oldestAgeMs: 5000, overdue: 10 },
    proof: { customers: 3, medianMs: 1500, p95Ms: 9000 },
  },
  open: { missing: 2, differs: 1, 'unexpected-access': 0, unreadable: 0, 'trial-ended': 4 },
  access: { lost: 2, undue: 0 },
  notCredible: { missing: 30, asked: 40 },
}

async function shown(tables: Partial<Tables> = {}): Promise<readonly string[]> {
  const nothing = { overview: OVERVIEW, sweeps: NO_SWEEPS, brake: [], pace: null, drift: DRIFT }
  const text = await showTables({ ...nothing, ...tables })
  return text.split('\n').filter((line) => line.startsWith('rollcall_'))
}

test('shows what is owed, customers by state, and verification by kind and access', async () => {
  expect(await shown()).toEqual(
    expect.arrayContaining([
      'rollcall_owed{lane="deletion"} 1',
      'rollcall_owed{lane="backfill"} 40',
      'rollcall_owed_stage{stage="queued"} 10',
      'rollcall_oldest_owed_age_seconds 90.5',
      'rollcall_waits_for_worker_seconds 0',
      'rollcall_outbox_rows 4',
      'rollcall_outbox_oldest_age_seconds 1.5',
      'rollcall_customers{state="idle"} 5',
      'rollcall_customers{state="held"} 3',
      'rollcall_customers{state="new"} 4',
      'rollcall_queue_leases 10',
      'rollcall_verifiable_customers 40',
      'rollcall_verified_customers 30',
      'rollcall_verification_overdue_customers 10',
      'rollcall_oldest_verified_age_seconds 5',
      'rollcall_findings{kind="missing"} 2',
      'rollcall_findings{kind="unreadable"} 0',
      'rollcall_wrong_access{access="lost"} 2',
      'rollcall_answers_not_credible 1',
      'rollcall_commit_to_verified_seconds{quantile="0.5"} 1.5',
      'rollcall_commit_to_verified_seconds{quantile="0.95"} 9',
    ]),
  )
})

test('shows which kinds of the brake have tripped, and how many each holds; 0 for all others', async () => {
  const lines = await shown({
    brake: [
      { kind: 'revocation', held: 7, trippedAt: '2026-01-02T03:04:05Z' },
      { kind: 'truncated', held: 9, trippedAt: null },
    ],
  })
  expect(lines.filter((line) => /^rollcall_(held|brake)/.test(line) && !line.endsWith(' 0'))).toEqual([
    'rollcall_held_customers{kind="revocation"} 7',
    'rollcall_held_customers{kind="truncated"} 9',
    'rollcall_brake_tripped{kind="revocation"} 1',
  ])
  expect(lines).toContain('rollcall_brake_tripped{kind="create"} 0')
  expect(lines).not.toContain('rollcall_brake_tripped{kind="truncated"} 0')
})

test.each([
  [{}, [0, 0, 15]],
  [{ breaker: 'open', cause: 'outage' }, [1, 0, 0]],
  [{ cause: 'credentials' }, [0, 0, 0]],
  [{ breaker: 'trying' }, [0, 1, 15]],
  [{ heldForMs: 30_000 }, [0, 0, 0]],
] as const)('shows the pace and how much room it leaves: %j', async (pace, values) => {
  const lines = await shown({ pace: { ...PACE, ...pace } })
  const expected = ['breaker_open', 'breaker_trying', 'queue_room'].map(
    (name, at) => `rollcall_${name} ${values[at]}`,
  )
  expect(lines).toEqual(expect.arrayContaining([...expected, 'rollcall_pace_rate 25']))
})

test('shows how far an unfinished sweep has come, and what the last check of capture found', async () => {
  const sweep = { options: {}, startedAt: '', updatedAt: '', endedAt: null, total: null, differ: 3 }
  const unfinished = { ...sweep, kind: 'gap', customers: 700, silentMs: 10, missed: NOTHING } as const
  const found = { inserted: 4, changed: 5, deleted: 0 }
  const check = { ...sweep, kind: 'check', customers: 900, silentMs: 90_000, missed: found } as const
  const missedSince = { inserted: 0, changed: 1, deleted: 2 }
  expect(await shown({ sweeps: { unfinished: [unfinished], check, missedSince } })).toEqual(
    expect.arrayContaining([
      'rollcall_sweep_customers{kind="gap"} 700',
      'rollcall_sweep_customers{kind="backfill"} 0',
      'rollcall_capture_missed{how="inserted"} 4',
      'rollcall_capture_missed{how="changed"} 6',
      'rollcall_capture_missed{how="deleted"} 2',
      'rollcall_capture_check_age_seconds 90',
    ]),
  )
})

test('shows nothing of what is not known: a nought would say that all is well', async () => {
  const unknown = /pace|queue_room|breaker|capture_missed|check_age/
  expect((await shown()).filter((line) => unknown.test(line))).toEqual([])
  const since = await shown({ sweeps: { ...NO_SWEEPS, missedSince: { ...NOTHING, deleted: 2 } } })
  expect(since).toContain('rollcall_capture_missed{how="deleted"} 2')
})
