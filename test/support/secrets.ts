// Searches everything that a queue, a schema or an output ever held for secrets. It listens to Redis and watches
// tables while the work is done, because a queue holds some things for a moment only.
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { monitor } from './monitor.ts'
import { connectRedis } from './redis.ts'
import { until } from './until.ts'

/** Texts by the place where they stand. */
export type Places = Readonly<Record<string, string>>

export type Leak = { readonly place: string; readonly secret: string; readonly near: string }

const NEAR = 80

/** Every place where a secret stands, in whatever case, as it is or in one of the customary spellings. */
export function findLeaks(places: Places, secrets: readonly string[]): readonly Leak[] {
  return Object.entries(places).flatMap(([place, text]) => {
    const lower = text.toLowerCase()
    return secrets.flatMap((secret) => {
      const at = spellings(secret)
        .map((spelling) => lower.indexOf(spelling))
        .find((found) => found >= 0)
      if (at === undefined) return []
      return [{ place, secret, near: text.slice(Math.max(0, at - NEAR), at + NEAR) }]
    })
  })
}

/** As it is, percent-encoded, in hexadecimal, and in base64 wherever in a text it begins. */
function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The first and the last letters hang on what stands around it.
    return whole.slice(before === 0 ? 0 : before + 1, -2)
  })
  const all = [secret, encodeURIComponent(secret), bytes.toString('hex'), ...base64]
  return [...new Set(all.map((text) => text.toLowerCase()))]
}

export type Watched = AsyncDisposable & {
  /** Everything that was written since, and everything that is there now. */
  read(): Promise<string>
}

/** Every command that a database of the server is sent, and at the end all that it holds. */
export async function watchRedis(url: string): Promise<Watched> {
  const database = new URL(url).pathname.slice(1) || '0'
  const session = connectRedis(url)
  const listening = await monitor(url)
  const { heard } = listening
  return {
    async read() {
      const mark = `end-of-listening-${heard.length}`
      await session.redis.echo(mark)
      await until(() => heard.some(({ text }) => text.includes(mark)), { what: 'the monitor hears the end' })
      const sent = heard.filter((command) => command.database === database).map(({ text }) => text)
      return [...sent, ...(await everythingIn(session.redis))].join('\n')
    },
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]()
      await session[Symbol.asyncDispose]()
    },
  }
}

/** Every key of a Redis database with all that it holds, of whatever type. */
async function everythingIn(redis: Redis): Promise<readonly string[]> {
  const found: string[] = []
  let cursor = '0'
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 500)
    cursor = next
    for (const key of keys) found.push(`${key} ${JSON.stringify(await contentOf(redis, key))}`)
  } while (cursor !== '0')
  return found
}

async function contentOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key)
  switch (type) {
    case 'string':
      return await redis.get(key)
    case 'hash':
      return await redis.hgetall(key)
    case 'list':
      return await redis.lrange(key, 0, -1)
    case 'set':
      return await redis.smembers(key)
    case 'zset':
      return await redis.zrange(key, '0', '-1', 'WITHSCORES')
    case 'stream':
      return await redis.xrange(key, '-', '+')
    case 'none':
      return null // it ended between the two commands
    default:
      throw new Error(`a Redis type that is not searched: ${type}`)
  }
}

/** Every row that a schema's tables have had since, by table, as text. */
export async function watchTables(pool: Pool, schema: string): Promise<{ read(): Promise<Places> }> {
  await pool.query(`
    CREATE SCHEMA IF NOT EXISTS watched;
    CREATE TABLE IF NOT EXISTS watched.row (place text NOT NULL, text text NOT NULL);
    CREATE OR REPLACE FUNCTION watched.write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp AS $$ BEGIN
        INSERT INTO watched.row VALUES (TG_TABLE_SCHEMA || '.' || TG_TABLE_NAME, to_jsonb(NEW)::text);
        RETURN NULL;
      END $$`)
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
    [schema],
  )
  for (const { name } of tables) {
    await pool.query(
      `CREATE TRIGGER watched AFTER INSERT OR UPDATE ON ${name} FOR EACH ROW EXECUTE FUNCTION watched.write()`,
    )
  }
  return {
    async read() {
      const { rows } = await pool.query<{ place: string; text: string }>(
        `SELECT place, string_agg(text, E'\\n') AS text FROM watched.row WHERE place LIKE $1 || '.%' GROUP BY place`,
        [schema],
      )
      const now: Record<string, string> = {}
      for (const { name } of tables) {
        const { rows } = await pool.query<{ text: string | null }>(
          `SELECT string_agg(to_jsonb(t)::text, E'\\n') AS text FROM ${name} t`,
        )
        now[`${name} at the end`] = rows[0]?.text ?? ''
      }
      return { ...now, ...Object.fromEntries(rows.map(({ place, text }) => [place, text])) }
    },
  }
}
