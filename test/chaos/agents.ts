// Those who do what was planned: the writers, and whoever kills, stops and restarts.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { loseQueueInPostgres } from '../support/queue-loss.ts'
import { connectRedis } from '../support/redis.ts'
import type { Change, Statement } from './changes.ts'
import type { After, HandDeed, PostgresDeed, QueueDeed, ServiceDeed, WorkerDeed } from './deeds.ts'
import type { Ground } from './ground.ts'
import { BIN, type Supervised } from './processes.ts'
import type { Service } from './service.ts'

/** Told of everything that is done, for the history of a run. */
export type Tell = (what: string) => void
type Until = { readonly signal: AbortSignal; readonly tell: Tell }

/** What is begun is done to its end, so that everything runs again afterwards. */
async function perform<T>(
  deeds: Iterable<After<T>>,
  { signal }: Until,
  act: (deed: T) => Promise<void>,
): Promise<void> {
  for (const { waitMs, deed } of deeds) {
    await pause(waitMs, signal)
    if (signal.aborted) return
    await act(deed)
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

export function hurtWorker(
  { pool, worker }: { readonly pool: Pool; readonly worker: Supervised },
  deeds: Iterable<After<WorkerDeed>>,
  until: Until,
) {
  const change = ({ sql, values }: Statement) => orAway(() => pool.query(sql, [...values]))
  return perform(deeds, until, async (deed) => {
    const { there, back, thenMs } = deed.around
    if (!deed.early) await worker.up(until.signal)
    if (until.signal.aborted) return
    until.tell(`${worker.name}: ${deed.kind}${deed.kind === 'suspend' ? ` ${deed.ms} ms` : ''}`)
    await change(there)
    await claimed(pool)
    await sleep(thenMs)
    if (deed.kind === 'suspend') await Promise.all([worker.suspend(deed.ms), change(back)])
    else await Promise.all([worker.end(deed.kind === 'kill' ? 'SIGKILL' : 'SIGTERM'), change(back)])
  })
}

const CLAIMED_MS = 1500

/** Until somebody is in the middle of it, or nobody can be. */
async function claimed(pool: Pool): Promise<void> {
  const end = performance.now() + CLAIMED_MS
  while (performance.now() < end) {
    const open = await orAway(() =>
      pool.query('SELECT FROM rollcall.owed WHERE call_token IS NOT NULL AND due_at > now() LIMIT 1'),
    )
    if (open?.rowCount) return
    await sleep(5)
  }
}

export function hurtPostgres(ground: Ground, deeds: Iterable<After<PostgresDeed>>, until: Until) {
  const { postgres, pool } = ground
  const sessions = (sql: string) => orAway(() => pool.query<{ pid: number }>(sql))
  return perform(deeds, until, async (deed) => {
    until.tell(`Postgres: ${deed.kind}`)
    switch (deed.kind) {
      case 'restart':
        return await postgres.restart()
      case 'kill':
        await postgres.kill()
        await sleep(deed.downMs)
        return await postgres.restart()
      case 'kill a session': {
        const found = await sessions(
          `SELECT pid FROM pg_stat_activity WHERE application_name = 'rollcall' LIMIT 1`,
        )
        const pid = found?.rows[0]?.pid
        if (pid !== undefined) killIfThere(pid)
        return
      }
      case 'cut all sessions':
        await sessions(
          `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
        )
        return
      default:
        return deed satisfies never
    }
  })
}

export function hurtQueue({ redis, postgres }: Ground, deeds: Iterable<After<QueueDeed>>, until: Until) {
  return perform(deeds, until, async (deed) => {
    until.tell(`queue: ${deed.kind}`)
    if (!redis) {
      if (deed.kind === 'lose everything') await orAway(() => loseQueueInPostgres(postgres.url))
      return
    }
    switch (deed.kind) {
      case 'lose everything':
      case 'keep for later': {
        await using session = connectRedis(redis.url)
        if (deed.kind === 'lose everything') await session.redis.flushall()
        else await session.redis.save()
        return
      }
      case 'restart':
        return await redis.restart()
      case 'kill':
        await redis.kill()
        await sleep(deed.downMs)
        return await redis.restart()
      default:
        return deed satisfies never
    }
  })
}

export async function changeService(service: Service, deeds: Iterable<ServiceDeed>, { signal, tell }: Until) {
  for (const deed of deeds) {
    if (signal.aborted) return
    tell(`service: ${deed.kind === 'preset' ? deed.name : deed.kind}`)
    service.become(deed)
    await pause(deed.ms, signal)
  }
}

/** Resolves to everything that it ever printed. */
export async function syncByHand(ground: Ground, deeds: Iterable<After<HandDeed>>, until: Until) {
  const printed: string[] = []
  await perform(deeds, until, async ({ key, killAfterMs }) => {
    until.tell(`by hand: sync ${key}${killAfterMs === null ? '' : `, killed after ${killAfterMs} ms`}`)
    printed.push(await runSync(ground, key, killAfterMs ?? HAND_MS))
  })
  return printed.join('\n')
}

/** A person does not wait for ever. */
const HAND_MS = 15_000

function runSync({ folder, env }: Ground, key: string, killAfterMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [BIN, 'sync', key, '--config', join(folder, 'rollcall.config.js')],
      {
        env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'trace', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part) => (text += part))
    const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
  })
}

export async function write(ground: Ground, changes: Iterable<Change>, { signal }: Until): Promise<number> {
  let written = 0
  for (const change of changes) {
    if (signal.aborted) break
    if (await orAway(() => makeChange(ground, change))) written += 1
    else await pause(200, signal)
    await pause(change.pauseMs, signal)
  }
  return written
}

async function makeChange({ pool }: Ground, { steps, transaction }: Change): Promise<true> {
  const client = await pool.connect()
  let broken = true
  try {
    // Writers who wait for each other must not stand still for as long as the run lasts.
    await client.query(`SET lock_timeout = '4s'`)
    if (transaction !== 'none') await client.query('BEGIN')
    for (const step of steps)
      await ('sql' in step ? client.query(step.sql, [...step.values]) : sleep(step.sleepMs))
    if (transaction !== 'none') await client.query(transaction)
    broken = false
    return true
  } finally {
    client.release(broken)
  }
}

export async function writeFirst({ pool }: Ground, rows: readonly Statement[]): Promise<void> {
  for (const { sql, values } of rows) await pool.query(sql, [...values])
}

/** Undefined when the server is away or ended the session, or when somebody else was in the way. */
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

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
