// Whether anything of a person got to where it does not belong.

import { connectRedis } from '../support/redis.ts'
import { everythingIn } from '../support/secrets.ts'
import { orAway } from './agents.ts'
import type { Ground } from './ground.ts'
import type { Finding } from './judge.ts'
import { findKeys, findPersonal, type Known } from './values.ts'

/** What the queue and our tables hold at this moment; nothing where the server is away. */
export async function searchServers(ground: Ground, known: Known): Promise<readonly Finding[]> {
  const { redis, pool } = ground
  const queue = redis
    ? await orAway(() => redisText(redis.url))
    : await orAway(() => schemaText(pool, 'rollcall_queue'))
  const tables = await orAway(() => schemaText(pool, 'rollcall'))
  return [
    ...say('the queue', [...findPersonal(queue ?? '', known), ...findKeys(queue ?? '', known)]),
    ...say('the schema rollcall', findPersonal(tables ?? '', known)),
  ]
}

/** Nothing where the worker does not listen, or is suspended. */
export async function searchMetrics(url: string, known: Known): Promise<readonly Finding[]> {
  const text = await fetch(url, { signal: AbortSignal.timeout(METRICS_MS) }).then(
    (response) => response.text(),
    () => '',
  )
  return say('the metrics', [...findPersonal(text, known), ...findKeys(text, known)])
}

const METRICS_MS = 1000

/** Keys may stand there. */
export function searchOutput(name: string, text: string, known: Known): readonly Finding[] {
  return say(name, findPersonal(text, known))
}

const MOST = 5

function say(place: string, found: readonly string[]): readonly Finding[] {
  return found.slice(0, MOST).map((what) => ({ key: null, what: `in ${place}: ${what}` }))
}

async function redisText(url: string): Promise<string> {
  await using session = connectRedis(url)
  return (await everythingIn(session.redis)).join('\n')
}

async function schemaText(pool: Ground['pool'], schema: string): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1`,
    [schema],
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string | null }>(
      `SELECT string_agg(t::text, E'\\n') AS text FROM ${name} t`,
    )
    texts.push(rows[0]?.text ?? '')
  }
  return texts.join('\n')
}
