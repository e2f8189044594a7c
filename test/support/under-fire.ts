// Services that fail in every way while their customers change, and what is asked of rollcall meanwhile and after it.
import type { RollcallConfig } from '../../src/config/define.ts'
import { noteNow } from '../../src/ledger/note.ts'
import { LANE } from '../../src/model/customer.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { type Arrival, joinCalls, type Recorder, recordCalls, tell } from './call-record.ts'
import { doubtsOf, type LoggedChange, logClaims, readClaimLog, twoLive } from './claim-log.ts'
import { unexplained } from './explain.ts'
import { fireRules, SHARE } from './fire.ts'
import { buildHouse, CONFIG, type House, SECRETS } from './house.ts'
import type { QueueLane } from './lanes.ts'
import { type OddService, startOddService } from './odd-service.ts'
import { KINDS, type KindName } from './presets.ts'
import {
  type Changing,
  changeAtRandom,
  findWrong,
  type Held,
  insertAll,
  rewrite,
} from './random-customers.ts'
import { until } from './until.ts'

/** Those of a preset take two seconds; a lag is a lag, and this one is over sooner. */
const LAG_MS = 200
const TIMEOUT_MS = 200

const TIMING: NonNullable<RollcallConfig['timing']> = {
  ...CONFIG.timing,
  gapMs: 10,
  lifetimeMs: 600,
  queueLeaseMs: 800,
  retryMinMs: 10,
  // On a busy machine claims run out of time; were they tried again at once, it would stay busy with them.
  retryMaxMs: 5000,
}

/** A service in whatever form, as the story needs it. */
export type Fire = AsyncDisposable & {
  readonly name: string
  readonly house: House
  light(): void
  end(): void
  held(userId: string): Held
  arrivals(userId: string): readonly Arrival[]
  /** What happened to the calls, beside what the caller knows. */
  notes(userId: string): string
}

export async function openPreset(lane: QueueLane, name: KindName, seed: number): Promise<Fire> {
  const contract = KINDS[name]
  const lag = contract.visibleAfterMs === undefined ? {} : { visibleAfterMs: LAG_MS }
  const consistencyDelayMs = contract.visibleAfterMs === undefined ? 0 : LAG_MS * 1.2
  const sandbox = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
    contract: { ...contract, ...lag },
    seed,
  })
  const config = { timing: { ...TIMING, consistencyDelayMs }, service: { timeoutMs: TIMEOUT_MS } }
  const house = await buildHouse(lane, { serviceUrl: sandbox.url, config })
  const entries = (userId: string) => sandbox.journal.list({ userId })
  return {
    name,
    house,
    light: () => sandbox.faults.set(fireRules(TIMEOUT_MS)),
    end: () => sandbox.faults.clear(),
    held: (userId) => sandbox.users.get(userId),
    arrivals: (userId) =>
      entries(userId).map((entry) => ({ ...entry, body: entry.body, carriedOut: entry.stored })),
    notes: (userId) =>
      entries(userId)
        .map(({ method, faults }) => `${method} ${faults.join('+')}`)
        .join('\n'),
    async [Symbol.asyncDispose]() {
      await house[Symbol.asyncDispose]()
      await sandbox.stop()
    },
  }
}

export async function openOdd(lane: QueueLane, seed: number): Promise<Fire> {
  const service: OddService = await startOddService(seed)
  const config = { timing: TIMING, service: { timeoutMs: TIMEOUT_MS } }
  const house = await buildHouse(lane, { serviceUrl: service.url, config })
  const of = (userId: string) => service.arrivals.filter((arrival) => arrival.userId === userId)
  return {
    name: 'odd',
    house,
    light() {
      service.share = SHARE
    },
    end() {
      service.share = 0
    },
    held: (userId) => service.users.get(userId),
    arrivals: (userId) =>
      of(userId).map(({ raw, ...rest }) => ({ ...rest, body: raw === '' ? undefined : JSON.parse(raw) })),
    notes: (userId) =>
      of(userId)
        .map(({ method, odd }) => `${method} ${odd ?? ''}`)
        .join('\n'),
    async [Symbol.asyncDispose]() {
      await house[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

const CUSTOMERS = 12
const CHANGES = 60

/**
 * Customers change while the service fails; then it works. Resolves to what is wrong, in words; to nothing when all are
 * right, every write is explained, and no two claims were live for one customer.
 */
export async function survive(fire: Fire, seed: number): Promise<string> {
  const { house } = fire
  const { pool } = house.db
  const random = seededRandom(seed)
  const keys = Array.from({ length: CUSTOMERS }, (_, at) => `k${at}`)
  const changing: Changing = { pool, keys, random }
  const record = recordCalls()
  await logClaims(pool)
  fire.light()
  await house.startWorker(record.observers)
  await house.startWorker(record.observers)
  await insertAll(changing)
  await changeAtRandom(changing, CHANGES)
  fire.end()

  const problems: string[] = []
  await house.settled()
  await verified(house)
  const refused = await readRefused(house)
  const wrong = await findWrong(changing, fire.held)
  const unsaid = wrong.filter(
    ({ key, fields }) => !fields.every((field) => refused.get(key)?.includes(field)),
  )
  problems.push(
    ...unsaid.map(({ key, fields }) => `${key} is wrong in ${fields.join(', ')}, and nothing says so`),
  )
  // What was refused waits until it changes; who has no row any more, until a person asks for another attempt.
  for (const key of refused.keys()) await rewrite(pool, key, random)
  await noteNow(pool, [...refused.keys()], LANE.repair)
  await house.settled()
  const still = await findWrong(changing, fire.held)
  problems.push(...still.map(({ key, fields }) => `${key} stays wrong in ${fields.join(', ')}`))
  const log = await readClaimLog(pool)
  for (const { id, what } of twoLive(log)) problems.push(`the customer of row ${id}: ${what}`)
  const suspects = new Set([...unsaid, ...still].map(({ key }) => key))
  return [...problems, ...keys.flatMap((key) => judge(fire, { record, log, suspects }, key))].join('\n')
}

/** An answer that says neither yes nor no may have passed for a yes: as if the time for the looks had come. */
async function verified({ db, settled }: House): Promise<void> {
  for (;;) {
    const { rowCount } = await db.pool.query(
      'UPDATE rollcall.owed SET check_at = now() WHERE verify_left > 0 AND check_at IS NOT NULL',
    )
    if (rowCount === 0) return
    const none = 'SELECT FROM rollcall.owed WHERE verify_left > 0 AND check_at <= now()'
    await until(async () => (await db.pool.query(none)).rowCount === 0, { what: 'no look is due' })
    await settled()
  }
}

/** Fields that wait because the service refused them, and everything where the whole customer was refused. */
async function readRefused({ db }: House): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await db.pool.query<{ key: string; state: string; fields: string[] }>(
    `SELECT key, state, ARRAY(SELECT i->>'field' FROM jsonb_array_elements(issues) i) AS fields FROM rollcall.ledger
     WHERE state <> 'idle' OR issues <> '[]'`,
  )
  return new Map(rows.map(({ key, state, fields }) => [key, state === 'idle' ? fields : ALL]))
}

const ALL = ['status', ...Object.keys(CONFIG.mapping)]

type Evidence = {
  readonly record: Recorder
  readonly log: readonly LoggedChange[]
  readonly suspects: ReadonlySet<string>
}

function judge(fire: Fire, { record, log, suspects }: Evidence, key: string): string[] {
  const mine = record.made.filter(({ userId }) => userId === key)
  const { calls, unaccounted } = joinCalls(mine, fire.arrivals(key))
  const doubts = doubtsOf(log.filter((change) => change.key === key))
  const findings = [
    ...unexplained(calls, doubts).map(({ kind, at }) => `call ${at} of ${key}: ${kind}`),
    ...unaccounted.map(({ method }) => `${key}: a ${method} that nobody made`),
  ]
  if (findings.length === 0 && !suspects.has(key)) return []
  return [...findings, tell(calls), JSON.stringify(doubts), fire.notes(key), JSON.stringify(fire.held(key))]
}
