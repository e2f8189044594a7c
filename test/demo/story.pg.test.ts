import { expect, test } from 'vitest'
import { install } from '../../src/capture/install.ts'
import { planCapture } from '../../src/capture/relations.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { makePeople } from '../../src/demo/people.ts'
import demoConfig from '../../src/demo/rollcall.config.ts'
import { makePhases, play, SCHEMA } from '../../src/demo/story.ts'
import { seededRandom } from '../../src/sandbox/faults/faults.ts'
import { freshDatabase } from '../support/database.ts'

const ACCESS = `SELECT id FROM v_clientes WHERE plan <> 'gratis'`
const stop = new AbortController().signal

test('the story runs on Postgres, and its losses of access stay well below the brake', async () => {
  await using db = await freshDatabase()
  await db.pool.query(SCHEMA)
  const client = await db.pool.connect()
  await install(client, await planCapture(client, resolveConfig(demoConfig, 'config.ts')))
  client.release()
  const random = seededRandom(2)
  const captured: Record<string, number> = {}
  let lost = 0
  for (const phase of makePhases(makePeople(243, random), random)) {
    const before = await ids(ACCESS)
    await play({ pool: db.pool, phase, now: () => 0, sleep: async () => undefined, stop })
    const after = new Set(await ids(ACCESS))
    lost += before.filter((id) => !after.has(id)).length
    captured[phase.name] = (await ids('DELETE FROM rollcall.outbox RETURNING key AS id')).length
  }
  expect(captured).toMatchObject({
    'import of 120': 240,
    '123 sign-ups': 246,
    'bursts of ten': 30,
    'nothing to send': 0,
    'service well again': 0,
  })
  expect(captured['bulk UPDATE']).toBeGreaterThan(40)
  expect(captured['plans, clearing']).toBe(22)
  expect(lost).toBeGreaterThan(0)
  expect(lost).toBeLessThan(resolveConfig(demoConfig, 'config.ts').brake.changes.customers / 2)

  async function ids(sql: string): Promise<string[]> {
    const { rows } = await db.pool.query<{ id: string }>(sql)
    return rows.map(({ id }) => id)
  }
})

test('a stopped demo starts no further transaction', async () => {
  await using db = await freshDatabase()
  await db.pool.query(SCHEMA)
  const random = seededRandom(2)
  const [phase] = makePhases(makePeople(243, random), random)
  if (!phase) throw new Error('there is a first phase')
  await play({
    pool: db.pool,
    phase,
    now: () => 0,
    sleep: async () => undefined,
    stop: AbortSignal.abort(),
  })
  const { rows } = await db.pool.query('SELECT id FROM clientes')
  expect(rows).toEqual([])
})
