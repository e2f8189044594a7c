// A whole run: everything is started, broken at random, mended, and judged.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RollcallConfig } from '../../src/config/define.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'
import { verified } from '../support/at-rest.ts'
import { logClaims, readClaimLog, twoLive } from '../support/claim-log.ts'
import { CONFIG, timed } from '../support/house.ts'
import { buildOwnHouse, type OwnHouse } from '../support/own-house.ts'
import { insertAll, judgeAtRest, SWAPPABLE } from '../support/random-customers.ts'
import {
  type Agent,
  changeService,
  hurtPostgres,
  hurtQueue,
  hurtWorker,
  LAG_MS,
  LIFETIME_MS,
  syncByHand,
  type Tell,
  TIMEOUT_MS,
  write,
} from './agents.ts'
import { superviseWorker } from './worker.ts'

export type Lane = 'redis' | 'postgres'
export type Options = {
  readonly seed: number
  readonly minutes: number
  readonly lane: Lane
  readonly tell: Tell
  readonly signal: AbortSignal
}
/** `findings`: empty when all is well. */
export type Result = { readonly findings: readonly string[]; readonly summary: string }

/** A process is killed, so the data must survive what a machine does when it does what it is told. */
const CRASH_SAFE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }

const OUT_OF_REACH = { customers: 2_000_000_000, share: 1 }
const AUTHORED: Partial<RollcallConfig> = {
  service: { timeoutMs: TIMEOUT_MS },
  pace: { ceiling: 200, concurrency: 10 },
  ...timed({
    ...{ gapMs: 20, lifetimeMs: LIFETIME_MS, queueLeaseMs: 2500, consistencyDelayMs: LAG_MS * 1.2 },
    ...{ retryMinMs: 30, retryMaxMs: 1000 },
  }),
  brake: { changes: OUT_OF_REACH, creates: OUT_OF_REACH },
  reconcile: CONFIG.reconcile ?? {},
}

/** So many customers are changed at a time, each for some seconds and never again: what went wrong then stays wrong. */
const HOT = 12
const TURN_MS = 1000
const FIRST = 30
const WRITERS = 4
const WORKERS = 2
/** A breaker tries again within a minute, and the machine may be slow. */
const PATIENCE_MS = 120_000
/** Nothing may be written in this time after everything has come to rest. */
const QUIET_MS = 3000
const MOST_HISTORIES = 3

export async function runChaos({ seed, minutes, lane, tell, signal }: Options): Promise<Result> {
  const source = seededRandom(seed)
  const own = () => seededRandom(Math.floor(source() * 2 ** 32))
  const naming = own()
  // A service of one kind refuses one of twenty.
  const keys = Array.from({ length: HOT + Math.ceil((minutes * 60_000) / TURN_MS) }, (_, at) =>
    naming() < 0.05 ? `k${at}-forbidden` : `k${at}/ñ`,
  )
  await using house = await buildOwnHouse(
    { name: lane },
    { config: AUTHORED, sql: SWAPPABLE, settings: CRASH_SAFE, seed },
  )
  const { pool, sandbox } = house
  await logClaims(pool)
  await using stack = new AsyncDisposableStack()
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, async (_, at) => stack.use(await superviseWorker(`worker ${at}`, house))),
  )
  await Promise.all(workers.map((worker) => worker.up(signal)))
  tell(`everything is started; ${minutes} minutes of trouble`)

  const over = AbortSignal.any([signal, AbortSignal.timeout(minutes * 60_000)])
  const agent = (): Agent => ({ random: own(), tell, signal: over })
  const from = performance.now()
  const hot = () => {
    const at = Math.min(keys.length - HOT, Math.floor((performance.now() - from) / TURN_MS))
    return keys.slice(at, at + HOT)
  }
  await insertAll({ pool, keys: keys.slice(0, FIRST), random: own() })
  const [written] = await Promise.all([
    Promise.all(Array.from({ length: WRITERS }, () => write(pool, hot, agent()))),
    changeService(sandbox, agent()),
    ...workers.map((worker) => hurtWorker(worker, { pool, hot }, agent())),
    hurtPostgres(house, agent()),
    hurtQueue(house, agent()),
    syncByHand(house, hot, agent()),
  ])
  sandbox.faults.clear()
  sandbox.contract.set({})
  tell('the trouble is over')

  const rest = () => verified(pool, PATIENCE_MS)
  const held = (key: string) => sandbox.users.get(key)
  const wrong = await judgeAtRest({ pool, keys, random: own(), held, rest })
  const restAt = sandbox.journal.last
  await sleep(QUIET_MS)
  const late = sandbox.journal
    .list({ after: restAt })
    .filter(({ method }) => method !== 'GET')
    .map(({ userId, method }) => ({ key: userId ?? '', what: `a ${method} after all had come to rest` }))
  for (const worker of workers) await worker.finish()
  const log = await readClaimLog(pool)
  const live = twoLive(log).map(({ id, what }) => ({
    key: log.find((each) => each.id === id)?.key ?? id,
    what,
  }))

  const problems = [...wrong, ...late, ...live]
  const reported = [...new Set(problems.map(({ key }) => key))].slice(0, MOST_HISTORIES)
  const lives = workers.reduce((sum, worker) => sum + worker.lives, 0)
  return {
    findings: [
      ...problems.map(({ key, what }) => `${key}: ${what}`),
      ...workers.flatMap(({ found }) => found),
      ...(await Promise.all(reported.map((key) => historyOf(house, key)))),
    ],
    summary: `${written.reduce((sum, count) => sum + count, 0)} changes, ${restAt} requests, ${lives} workers' lives`,
  }
}

/** All that is known of a customer, with field values: they are the test's own. */
async function historyOf({ pool, sandbox }: OwnHouse, key: string): Promise<string> {
  const { rows } = await pool.query<{ text: string }>(
    `(SELECT to_jsonb(c)::text AS text FROM rollcall.call c WHERE key = $1 ORDER BY at)
     UNION ALL SELECT to_jsonb(l)::text FROM rollcall.ledger l WHERE key = $1
     UNION ALL SELECT to_jsonb(o)::text FROM rollcall.owed o WHERE key = $1
     UNION ALL SELECT to_jsonb(c)::text FROM clientes c WHERE id = $1`,
    [key],
  )
  const arrived = sandbox.journal
    .list({ userId: key })
    .map(({ number, arrivedAt, method, raw, status, stored, faults }) =>
      [number, new Date(arrivedAt).toISOString(), method, raw, status, stored && 'stored', ...faults].join(
        ' ',
      ),
    )
  return [`--- ${key}`, ...arrived, ...rows.map(({ text }) => text)].join('\n')
}
