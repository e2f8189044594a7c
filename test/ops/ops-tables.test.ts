import { expect, test } from 'vitest'
import type { Overview } from '../../src/ledger/overview.ts'
import type { SweepsReport } from '../../src/ledger/runs-read.ts'
import { showTables } from '../../src/worker/table-gauges.ts'
import type { BrakeReading, DriftReading, PaceReading, Tables } from '../../src/worker/tables.ts'

const OWED: Overview['owed'] = {
  deletion: 1,
  change: 2,
  repair: 0,
  backfill: 40,
  due: 3,
  queued: 10,
  active: 0,
  waiting: 0,
  oldestAgeMs: 90_500,
  waitsForWorkerMs: null,
}
const STATES: Overview['states'] = {
  ...({} as Overview['states']),
  idle: 5,
  rejected: 1,
  failing: 2,
  held: 3,
}
const PACE: PaceReading = { ceiling: 50, rate: 25, heldForMs: 0, breaker: 'closed', cause: null }

const NOTHING = { inserted: 0, changed: 0, deleted: 0 }
const NO_SWEEPS: SweepsReport = { unfinished: [], check: null, missedSince: NOTHING }

async function shown(
  pace: PaceReading | null,
  brake: readonly BrakeReading[] | null = null,
  sweeps = NO_SWEEPS,
  drift: DriftReading | null = null,
) {
  const overview = {
    customers: 15,
    owed: OWED,
    unknown: 1,
    states: STATES,
    outbox: { rows: 4, bytes: 8192, oldestAgeMs: 1500 },
  } as Overview
  const tables: Tables = { overview, sweeps, brake, pace, drift }
  const text = await showTables(tables)
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

test('shows what is owed by lane, how old it is, and customers by state', async () => {
  expect(await shown(null)).toEqual(
    expect.arrayContaining([
      'rollcall_owed{lane="deletion"} 1',
      'rollcall_owed{lane="backfill"} 40',
      'rollcall_owed_stage{stage="queued"} 10',
      'rollcall_oldest_owed_age_seconds 90.5',
      'rollcall_waits_for_worker_seconds 0',
      'rollcall_outbox_rows 4',
      'rollcall_customers{state="idle"} 5',
      'rollcall_customers{state="held"} 3',
      'rollcall_customers{state="new"} 4',
      'rollcall_queue_leases 10',
    ]),
  )
})

test('shows nothing of what was not read', async () => {
  expect((await shown(null)).filter((line) => /^rollcall_(held|brake|pace|queue_room)/.test(line))).toEqual(
    [],
  )
})

test('shows which kinds of the brake have tripped, and who is held by each; 0 for all others', async () => {
  const lines = await shown(null, [
    { kind: 'revocation', held: 7, trippedAt: '2026-01-02T03:04:05Z' },
    { kind: 'clear:email', held: 2, trippedAt: null },
    { kind: 'truncated', held: 9, trippedAt: null },
    { kind: 'of a later version', held: 1, trippedAt: null },
  ])
  expect(lines.filter((line) => /^rollcall_(held|brake)/.test(line) && !line.endsWith(' 0'))).toEqual([
    'rollcall_held_customers{kind="revocation"} 7',
    'rollcall_held_customers{kind="clear:email"} 2',
    'rollcall_held_customers{kind="truncated"} 9',
    'rollcall_brake_tripped{kind="revocation"} 1',
  ])
  expect(lines).toContain('rollcall_brake_tripped{kind="create"} 0')
  expect(lines).not.toContain('rollcall_brake_tripped{kind="truncated"} 0')
})

test.each([
  ['closed', null, [0, 0, 0], 15],
  ['open', 'outage', [1, 0, 0], 0],
  ['open', 'credentials', [0, 1, 0], 0],
  ['trying', 'outage', [0, 0, 1], 15],
] as const)(
  'shows a breaker that is %s (%s), and how much room that leaves',
  async (breaker, cause, open, room) => {
    const lines = await shown({ ...PACE, breaker, cause })
    expect(lines).toEqual(
      expect.arrayContaining([
        'rollcall_pace_rate 25',
        'rollcall_pace_ceiling 50',
        `rollcall_breaker_open{cause="outage"} ${open[0]}`,
        `rollcall_breaker_open{cause="credentials"} ${open[1]}`,
        `rollcall_breaker_trying ${open[2]}`,
        `rollcall_queue_room ${room}`,
      ]),
    )
  },
)

test('while the service has asked for patience there is no room, and it says for how long', async () => {
  const lines = await shown({ ...PACE, heldForMs: 30_000 })
  expect(lines).toContain('rollcall_pace_hold_seconds 30')
  expect(lines).toContain('rollcall_queue_room 0')
})

test('shows how far an unfinished look at everybody has come, and what the last check of capture found', async () => {
  const sweep = { options: {}, startedAt: '', updatedAt: '', endedAt: null, total: null, differ: 3 }
  const unfinished = { ...sweep, kind: 'gap', customers: 700, silentMs: 10, missed: NOTHING } as const
  const found = { inserted: 4, changed: 5, deleted: 0 }
  const check = { ...sweep, kind: 'check', customers: 900, silentMs: 90_000, missed: found } as const
  const missedSince = { inserted: 0, changed: 1, deleted: 2 }
  expect(await shown(null, null, { unfinished: [unfinished], check, missedSince })).toEqual(
    expect.arrayContaining([
      'rollcall_sweep_customers{kind="gap"} 700',
      'rollcall_sweep_customers{kind="backfill"} 0',
      'rollcall_capture_missed{how="inserted"} 4',
      'rollcall_capture_missed{how="changed"} 6',
      'rollcall_capture_missed{how="deleted"} 2',
      'rollcall_capture_check_age_seconds 90',
    ]),
  )
  // Never checked: a nought would say that it has missed nothing.
  expect((await shown(null)).filter((line) => line.includes('capture_missed'))).toEqual([])
  const since = await shown(null, null, { unfinished: [], check: null, missedSince })
  expect(since).toContain('rollcall_capture_missed{how="deleted"} 2')
  expect(since.filter((line) => line.includes('check_age'))).toEqual([])
})

const DRIFT: DriftReading = {
  coverage: {
    ...{ customers: 40, within: 30, oldestAgeMs: 5000, overdue: 10 },
    proof: { medianMs: 1500, p95Ms: 9000 },
  },
  open: { missing: 2, differs: 1, 'unexpected-access': 0, unreadable: 0, 'trial-ended': 4 },
  access: { lost: 2, undue: 0 },
  doubt: { denied: 30, asked: 40 },
}

test('shows how far verification has come, and what it has found by kind and by access', async () => {
  expect(await shown(null, null, NO_SWEEPS, DRIFT)).toEqual(
    expect.arrayContaining([
      'rollcall_verifiable_customers 40',
      'rollcall_verified_customers 30',
      'rollcall_verification_overdue_customers 10',
      'rollcall_oldest_verified_age_seconds 5',
      'rollcall_findings{kind="missing"} 2',
      'rollcall_findings{kind="unreadable"} 0',
      'rollcall_wrong_access{access="lost"} 2',
      'rollcall_wrong_access{access="undue"} 0',
      'rollcall_answers_doubted 1',
      'rollcall_commit_to_verified_seconds{quantile="0.5"} 1.5',
      'rollcall_commit_to_verified_seconds{quantile="0.95"} 9',
    ]),
  )
})

test('of verification that was not read nothing is shown', async () => {
  expect(
    (await shown(null)).filter((line) => /verif|finding|drift|repairs|doubted|access/.test(line)),
  ).toEqual([])
})
