// Agents that write, and agents that kill, stop and restart. Each draws from its own randomness, so that a seed
// repeats it whatever the others do.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { contract } from '../../src/sandbox/contract/contract.ts'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { fireRules } from '../support/fire.ts'
import type { OwnHouse } from '../support/own-house.ts'
import { KINDS, USER_PRESETS } from '../support/presets.ts'
import { runRollcall } from '../support/process.ts'
import { loseQueueInPostgres } from '../support/queue-loss.ts'
import { changeOnce, pick, type Random, weighted } from '../support/random-customers.ts'
import { connectRedis } from '../support/redis.ts'
import type { Supervised } from './worker.ts'

/** Reported of everything that is done. */
export type Tell = (what: string) => void
export type Agent = {
  readonly random: Random
  readonly tell: Tell
  /** The trouble is over. */
  readonly signal: AbortSignal
}

/** A service shows a write later by this much at the most. */
export const LAG_MS = 200
export const TIMEOUT_MS = 400
export const LIFETIME_MS = 2500

/** A high share, so that kills and changes hit customers in the middle of a call. */
const LATE = 0.4

const between = (random: Random, from: number, to: number) => Math.round(from + random() * (to - from))

/** Completes an action once begun, so that everything runs again afterwards. */
async function repeat(
  { random, signal }: Agent,
  pauses: readonly [number, number],
  act: () => Promise<unknown>,
) {
  for (;;) {
    await sleep(between(random, ...pauses), undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    await act()
  }
}

/** `hot`: whose turn it is to be changed. */
type Hot = () => readonly string[]

/** Resolves to how many changes were made. */
export async function write(pool: Pool, hot: Hot, agent: Agent): Promise<number> {
  let written = 0
  await repeat(agent, [0, 250], async () => {
    const { random } = agent
    if (await orAway(() => changeOnce({ pool, keys: hot(), random }))) written += 1
  })
  return written
}

/** A customer whose turn it is changes there and back, so that it strikes in the middle of calls. */
export function hurtWorker(worker: Supervised, { pool, hot }: { pool: Pool; hot: Hot }, agent: Agent) {
  const { random, signal, tell } = agent
  return repeat(agent, [500, 8000], async () => {
    // It may not have started yet.
    if (random() >= 0.2) await worker.up(signal)
    if (signal.aborted) return
    const keys = hot()
    const change = (country: string) =>
      orAway(() => pool.query('UPDATE clientes SET pais = $2 WHERE id = ANY($1)', [keys, country]))
    await change('ES')
    await claimed(pool)
    await sleep(random() < 0.5 ? 0 : between(random, 0, 100))
    const suspendedMs = between(random, 50, LIFETIME_MS * 2.5)
    const [what, action] = weighted(random, [
      [35, ['kill', () => worker.end('SIGKILL')] as const],
      [15, ['terminate', () => worker.end('SIGTERM')] as const],
      [50, [`suspend ${suspendedMs} ms`, () => worker.suspend(suspendedMs)] as const],
    ])
    tell(`${worker.name}: ${what}`)
    await Promise.all([action(), change('PT')])
  })
}

const CLAIMED_MS = 1500

/** Until a customer is claimed, or none can be. */
async function claimed(pool: Pool): Promise<void> {
  const end = performance.now() + CLAIMED_MS
  const open = 'SELECT FROM rollcall.owed WHERE call_token IS NOT NULL AND due_at > now() LIMIT 1'
  while (performance.now() < end) {
    if ((await orAway(() => pool.query(open)))?.rowCount) return
    await sleep(5)
  }
}

type Actions = readonly (readonly [share: number, what: string, action: () => Promise<unknown>])[]

function hurt(name: string, pauses: readonly [number, number], actions: Actions, agent: Agent) {
  return repeat(agent, pauses, async () => {
    const [what, action] = weighted(
      agent.random,
      actions.map(([share, ...rest]) => [share, rest] as const),
    )
    agent.tell(`${name}: ${what}`)
    await action()
  })
}

export function hurtPostgres({ postgres, pool }: OwnHouse, agent: Agent) {
  const ours = `SELECT pid FROM pg_stat_activity WHERE application_name = 'rollcall' LIMIT 1`
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
  const actions: Actions = [
    [25, 'restart', () => postgres.restart()],
    [25, 'kill', () => fall(postgres, between(agent.random, 0, 4000))],
    // So that Postgres ends all sessions and recovers.
    [20, 'kill a session', async () => killIfThere((await orAway(() => pool.query(ours)))?.rows[0]?.pid)],
    [30, 'cut all sessions', () => orAway(() => pool.query(cut))],
  ]
  return hurt('Postgres', [4000, 16_000], actions, agent)
}

export function hurtQueue({ queue, postgres }: OwnHouse, agent: Agent) {
  const lose = async () => {
    if (queue === postgres) return await orAway(() => loseQueueInPostgres(queue.url))
    await using session = connectRedis(queue.url)
    await session.redis.flushall()
  }
  /** The next start brings back the jobs that are on the queue now. */
  const keep = async () => {
    await using session = connectRedis(queue.url)
    await session.redis.save()
  }
  const ofRedis: Actions = [
    [15, 'restart', () => queue.restart()],
    [25, 'kill', () => fall(queue, between(agent.random, 0, 5000))],
    [20, 'keep for later', keep],
  ]
  const actions: Actions = [[40, 'lose everything', lose], ...(queue === postgres ? [] : ofRedis)]
  return hurt('queue', [3000, 12_000], actions, agent)
}

async function fall(server: OwnHouse['queue'], downMs: number): Promise<void> {
  await server.kill()
  await sleep(downMs)
  await server.restart()
}

/** One kind of service after the other, with every fault; sometimes no call is answered, or all keys are refused. */
export function changeService({ contract: kind, faults }: Sandbox, agent: Agent) {
  const { random, tell } = agent
  return repeat(agent, [500, 5000], async () => {
    const broken = weighted(random, [
      [85, null],
      [9, { kind: 'drop-before' } as const],
      [6, { kind: 'status', status: 401 } as const],
    ])
    if (broken) {
      tell(`service: ${broken.kind}`)
      return faults.set([{ action: broken }])
    }
    const name = pick(random, USER_PRESETS)
    tell(`service: ${name}`)
    const { visibleAfterMs } = contract.parse(KINDS[name])
    kind.set({ ...KINDS[name], visibleAfterMs: Math.min(LAG_MS, visibleAfterMs) })
    faults.set(fireRules(TIMEOUT_MS, LATE))
  })
}

/** A person does not wait for ever, and some lose their patience soon. */
const HAND_MS = 15_000

export function syncByHand(house: OwnHouse, hot: Hot, agent: Agent) {
  const { random, tell } = agent
  return repeat(agent, [3000, 10_000], async () => {
    const [key, killAfterMs] = [pick(random, hot()), random() < 0.3 ? between(random, 200, 4000) : HAND_MS]
    tell(`by hand: sync ${key}, killed after ${killAfterMs} ms`)
    await using command = await runRollcall(house, ['sync', key])
    await Promise.race([command.exited, sleep(killAfterMs)])
  })
}

/** Undefined when the server is away or ended the session, or when another session was in the way. */
export async function orAway<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isAway(error)) return undefined
    throw error
  }
}

/** Lost connections, shutdown and start, deadlocks, lock timeouts, serialization, and two who took one key. */
const AWAY = /^(08|57P|40|55P03|23505|ECONN|EPIPE|ETIMEDOUT)/

function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined) return AWAY.test(code)
  return /terminated|timeout|not queryable|Connection is closed|AggregateError/i.test(
    `${error.name} ${error.message}`,
  )
}

function killIfThere(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
