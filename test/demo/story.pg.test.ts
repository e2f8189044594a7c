import { expect, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import { makePeople } from '../../src/demo/people.ts'
import demoConfig from '../../src/demo/rollcall.config.ts'
import { makePhases, play, SCHEMA } from '../../src/demo/story.ts'
import { freshDatabase } from '../support/database.ts'
import { installCapture } from '../support/install.ts'

const ACCESS = `SELECT id FROM v_clientes WHERE plan <> 'gratis'`
const phases = makePhases(makePeople(243))

test('the story runs on Postgres, and its losses of access stay well below the brake', async () => {
  await using db = await freshDatabase()
  await db.sql(SCHEMA)
  const config = resolveConfig(demoConfig, 'config.ts')
  await installCapture(db.pool, config)
  const captured: Record<string, number> = {}
  let lost = 0
  for (const phase of phases) {
    const before = await ids(ACCESS)
    await play(db.pool, { ...phase, everyMs: 0 })
    const after = new Set(await ids(ACCESS))
    lost += before.filter((id) => !after.has(id)).length
    captured[phase.name] = (await ids('DELETE FROM rollcall.outbox RETURNING key AS id')).length
  }
  expect(captured).toMatchObject({
    'import of 120': 240,
    '123 sign-ups': 246,
    'single edits': 34,
    'plans, clearing': 22,
    'bursts of ten': 30,
    'nothing to send': 0,
    'service in trouble': 56,
    'service well again': 0,
  })
  expect(captured['bulk UPDATE']).toBeGreaterThan(40)
  expect(lost).toBeGreaterThan(0)
  expect(lost).toBeLessThan(config.brake.changes.customers / 2)

  async function ids(sql: string): Promise<string[]> {
    return (await db.sql<{ id: string }>(sql)).rows.map(({ id }) => id)
  }
})
