import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { acceptTarget } from '../../src/ledger/accept.ts'
import { bindTarget, differencesFromBinding } from '../../src/ledger/target.ts'
import { readPlace } from '../../src/ledger/watermark.ts'
import { startWitness } from '../../src/worker/witness.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'

const TARGET = { origin: 'https://service.example', apiKey: 'key', digestKey: 'a key of the digests' }

async function bound(): Promise<TestDatabase> {
  const db = await freshDatabase()
  await bindTarget(db.pool, TARGET)
  return db
}

async function accept({ pool }: TestDatabase, target: 'new' | 'same'): Promise<void> {
  const client = await pool.connect()
  await acceptTarget(client, TARGET, target)
  client.release()
}

function memory() {
  let kept: string | null = null
  const keep = async (watermark: string) => {
    kept = watermark
  }
  return { read: async () => kept, keep }
}

async function nextToken(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ token: string }>(`SELECT nextval('rollcall.token')::text AS token`)
  return rows[0]?.token ?? ''
}

test('a snapshot that is put back is noticed after a single lease, though its sequence has jumped ahead', async () => {
  await using db = await bound()
  const { pool } = db
  const redis = memory()
  const running = await startWitness(pool, redis)
  const snapshot = Number(await nextToken(pool))

  running.claimed(String(snapshot + 1))
  await pool.query(`SELECT nextval('rollcall.token')`)
  expect(await running.step()).toBeNull()
  expect(await running.step()).toBeNull()
  await startWitness(pool, redis)

  // Crash recovery skips at most 32 tokens.
  await pool.query(`SELECT setval('rollcall.token', $1)`, [snapshot + 32])
  expect(await differencesFromBinding(pool, TARGET)).toEqual([])
  expect(await running.step()).toMatchObject({ code: 'TARGET_CHANGED' })
  await expect(startWitness(pool, redis)).rejects.toMatchObject({ code: 'TARGET_CHANGED' })
  // And every command knows it, also when the queue has lost the witness.
  expect(await differencesFromBinding(pool, TARGET)).toMatchObject([{ kind: 'restored' }])
  await expect(bindTarget(pool, TARGET)).rejects.toMatchObject({ code: 'TARGET_CHANGED' })
})

test('the worker that notices it leaves a decision alone that was made meanwhile', async () => {
  await using db = await bound()
  const { pool } = db
  const running = await startWitness(pool, memory())
  running.claimed('100')
  const query = pool.query.bind(pool)
  pool.query = (async (text: string) => {
    const answer = await query(text)
    // The place is read, and then a person decides.
    pool.query = query
    await accept(db, 'new')
    return answer
  }) as typeof query
  expect(await running.step()).toMatchObject({ code: 'TARGET_CHANGED' })
  expect(await differencesFromBinding(pool, TARGET)).toEqual([])
})

test('a backup of before the first binding is no new beginning', async () => {
  await using db = await bound()
  const { pool } = db
  const redis = memory()
  const running = await startWitness(pool, redis)
  running.claimed(await nextToken(pool))
  await running.step()
  await pool.query(`DELETE FROM rollcall.target; SELECT setval('rollcall.token', 1, false)`)
  await bindTarget(pool, TARGET)
  await expect(startWitness(pool, redis)).rejects.toMatchObject({ code: 'TARGET_CHANGED' })
  await accept(db, 'new')
  await startWitness(pool, redis)
})

test('who claims nothing moves nothing', async () => {
  await using db = await bound()
  const { watermark } = await readPlace(db.pool)
  const running = await startWitness(db.pool, memory())
  expect(await running.step()).toBeNull()
  expect((await readPlace(db.pool)).watermark).toBe(watermark)
})

test('what is claimed while the database answers is no alarm', async () => {
  await using db = await bound()
  let meanwhile = async () => {}
  const slow = new Proxy(db.pool, {
    get: (target, name) =>
      name === 'query'
        ? async (text: string) => {
            const answer = await target.query(text)
            await meanwhile()
            return answer
          }
        : Reflect.get(target, name),
  })
  const running = await startWitness(slow, memory())
  meanwhile = async () => {
    running.claimed(await nextToken(db.pool))
  }
  for (let step = 0; step < 5; step++) expect(await running.step()).toBeNull()
})

test('what could not be kept is kept later', async () => {
  await using db = await bound()
  const redis = memory()
  let fails = true
  const flaky = {
    read: redis.read,
    keep: async (watermark: string) => {
      if (fails) throw new Error('away')
      await redis.keep(watermark)
    },
  }
  const running = await startWitness(db.pool, flaky)
  running.claimed(await nextToken(db.pool))
  await expect(running.step()).rejects.toThrow('away')
  fails = false
  await running.step()
  expect(await redis.read()).not.toBeNull()
})

test('a binding made while the clock was ahead is replaced by the next one all the same', async () => {
  await using db = await bound()
  const { pool } = db
  await pool.query(`UPDATE rollcall.target SET bound_at = now() + interval '1 hour'`)
  const redis = memory()
  const ahead = await startWitness(pool, redis)
  ahead.claimed(await nextToken(pool))
  await ahead.step()
  await accept(db, 'same')
  expect(await (await startWitness(pool, redis)).step()).toBeNull()
})
