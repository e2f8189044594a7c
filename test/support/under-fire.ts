// Services that fail in every way while their customers change, and what is asked of rollcall meanwhile and after it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContractInput } from '../../src/sandbox/contract/contract.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { verified } from './at-rest.ts'
import { type Arrival, joinCalls, type Recorder, recordCalls, tell } from './call-record.ts'
import { type LoggedChange, lapsesOf, logClaims, readClaimLog, twoLive } from './claim-log.ts'
import { unexplained } from './explain.ts'
import { fireRules, SHARE } from './fire.ts'
import { buildHouse, type House, SECRETS, timed } from './house.ts'
import type { QueueLane } from './lanes.ts'
import { type OddService, startOddService } from './odd-service.ts'
import {
  type Changing,
  changeOnce,
  type Held,
  insertAll,
  judgeAtRest,
  SWAPPABLE,
} from './random-customers.ts'

/** A preset's lag takes two seconds; a shorter lag is a lag as well. */
const LAG_MS = 200
const TIMEOUT_MS = 200

const BRISK = {
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
  /** The calls' fates, beside what the caller knows. */
  notes(userId: string): string
}

type Kind = { readonly name: string; readonly contract: ContractInput }

export async function openPreset(lane: QueueLane, { name, contract }: Kind, seed: number): Promise<Fire> {
  const lag = contract.visibleAfterMs === undefined ? {} : { visibleAfterMs: LAG_MS }
  const consistencyDelayMs = contract.visibleAfterMs === undefined ? 0 : LAG_MS * 1.2
  const sandbox = await startSandbox({
    apiKey: SECRETS.SERVICE_API_KEY,
    secretKey: SECRETS.SERVICE_SECRET_KEY,
    contract: { ...contract, ...lag },
    seed,
  })
  const config = { ...timed({ ...BRISK, consistencyDelayMs }), service: { timeoutMs: TIMEOUT_MS } }
  const house = await buildHouse(lane, { serviceUrl: sandbox.url, config, sql: SWAPPABLE })
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
  const config = { ...timed(BRISK), service: { timeoutMs: TIMEOUT_MS } }
  const house = await buildHouse(lane, { serviceUrl: service.url, config, sql: SWAPPABLE })
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
const CHANGES = 45

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
  for (let n = 0; n < CHANGES; n += 1) {
    await changeOnce(changing)
    if (random() < 0.7) await sleep(random() * 80)
  }
  fire.end()

  const rest = () => verified(pool)
  const wrong = await judgeAtRest({ ...changing, held: fire.held, rest })
  const log = await readClaimLog(pool)
  const suspects = new Set(wrong.map(({ key }) => key))
  return [
    ...wrong.map(({ key, what }) => `${key}: ${what}`),
    ...twoLive(log).map(({ id, what }) => `the customer of row ${id}: ${what}`),
    ...keys.flatMap((key) => judge(fire, { record, log, suspects }, key)),
  ].join('\n')
}

type Evidence = {
  readonly record: Recorder
  readonly log: readonly LoggedChange[]
  readonly suspects: ReadonlySet<string>
}

function judge(fire: Fire, { record, log, suspects }: Evidence, key: string): string[] {
  const mine = record.made.filter(({ userId }) => userId === key)
  const { calls, unaccounted } = joinCalls(mine, fire.arrivals(key))
  const lapses = lapsesOf(log.filter((change) => change.key === key))
  const findings = [
    ...unexplained(calls, lapses).map(({ kind, at }) => `call ${at} of ${key}: ${kind}`),
    // A probe of the breaker asks about any user, and is no step of a claim.
    ...unaccounted
      .filter(({ method }) => method !== 'GET')
      .map(({ method }) => `${key}: a ${method} that nobody made`),
  ]
  if (findings.length === 0 && !suspects.has(key)) return []
  return [...findings, tell(calls), JSON.stringify(lapses), fire.notes(key), JSON.stringify(fire.held(key))]
}
