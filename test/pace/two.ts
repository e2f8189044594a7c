// Two processes that share one pace row: a pool each, on one database.
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { sleep } from '../../src/ops/time.ts'
import type { PaceEvent } from '../../src/pace/events.ts'
import { openPace } from '../../src/pace/open.ts'
import type { CallOutcome, ServiceHealth } from '../../src/pace/pace.ts'
import { makeProbing } from '../../src/pace/probing.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

const NO_KEYS = {
  areRefused: () => false,
  isProbeDue: () => false,
  denied: () => [],
  probed: () => undefined,
}

export async function makeTwo(ceiling: number) {
  const db = await freshDatabase()
  await db.sql('INSERT INTO rollcall.pace (id, ceiling, configured, rate) VALUES (1, $1, $1, $1)', [ceiling])
  const [a, b] = [makeSide(db), makeSide(db)]
  onTestFinished(async () => {
    await Promise.all([a.pool.end(), b.pool.end()])
    await db.drop()
  })
  return { db, a, b }
}

function makeSide(db: TestDatabase) {
  const pool = new pg.Pool({ connectionString: db.url, max: 4 })
  pool.on('error', () => undefined)
  const events: PaceEvent[] = []
  const onChange = (event: PaceEvent) => void events.push(event)
  let ahead = 0
  const now = () => performance.now() + ahead
  const common = { pool, sleep, now, onChange, random: () => 0 }
  const pace = openPace({ ...common, timeoutMs: 10_000 })
  const report = (health: ServiceHealth, more: Partial<CallOutcome> = {}) =>
    pace.report({ id: '1', epoch: '0', health, busy: false, holdMs: 0, ...more })
  /** The next answer to a probe; a promise that never resolves is a process that died with it. */
  let answer: () => Promise<ServiceHealth | null> = async () => 'well'
  let probes = 0
  const probe = () => {
    probes++
    return answer()
  }
  return {
    pool,
    events,
    kinds: () => events.map(({ kind }) => kind),
    ...pace,
    report,
    /** Calls of this many customers, from the id on. */
    repeat: (health: ServiceHealth, count: number, more: Partial<CallOutcome> = {}) =>
      Promise.all(Array.from({ length: count }, (_, n) => report(health, { id: String(n + 1), ...more }))),
    answerWith: (next: () => Promise<ServiceHealth | null>) => {
      answer = next
    },
    probes: () => probes,
    /** Moves the clock of this process on. */
    later: (ms: number) => (ahead += ms),
    probe: () => pace.probeIfDue(probe),
    /** A probe of an outage that may take so long. */
    probeWithin: (probeLastsMs: number) => makeProbing({ ...common, keys: NO_KEYS, probeLastsMs })(probe),
  }
}

export async function probeIsDue({ pool }: TestDatabase): Promise<void> {
  await pool.query('UPDATE rollcall.pace SET probe_at = clock_timestamp() WHERE id = 1')
}

/** Ten customers in a row have failed, and a probe, too. */
export async function outage({ db, a }: Awaited<ReturnType<typeof makeTwo>>): Promise<void> {
  await a.repeat('trouble', 10)
  a.answerWith(async () => 'trouble')
  await a.probe()
  a.answerWith(async () => 'well')
  await probeIsDue(db)
}
