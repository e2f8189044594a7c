// The command itself, in this process, on a real database: what it prints, what it changes, and how it exits.
import { expect, test } from 'vitest'
import { configureCeiling } from '../../src/pace/row.ts'
import { runBare } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'
import { holdCalls } from '../support/pace-row.ts'

const pace = (url: string, ...args: readonly string[]) => runBare(url, 'pace', ...args)

test('shows the pace, changes the ceiling while it runs, and has JSON', async () => {
  await using db = await freshDatabase()
  expect(await pace(db.url)).toMatchObject({ code: 0, out: expect.stringContaining('not set yet') })
  expect((await pace(db.url, '--json')).out).toBe('null')
  await configureCeiling(db.pool, 50)
  expect(await pace(db.url)).toMatchObject({
    code: 0,
    out: expect.stringContaining('50 calls/s, as configured'),
  })
  expect((await pace(db.url, '--ceiling', '200')).out).toContain('200 calls/s, set by hand')
  expect(JSON.parse((await pace(db.url, '--ceiling', '20', '--json')).out)).toMatchObject({
    ceiling: 20,
    configured: 50,
    rate: 20,
    breaker: 'closed',
    heldForMs: 0,
  })
})

test('exits with 3 while calls are stopped', async () => {
  await using db = await freshDatabase()
  await configureCeiling(db.pool, 50)
  await db.sql(`UPDATE rollcall.pace SET breaker = 'open', opened_at = now(),
    probe_at = now() + interval '1 min', trouble = '{"failed": 4}'`)
  const { code, out } = await pace(db.url)
  expect(code).toBe(3)
  for (const words of ['the service fails', 'probes: 4']) expect(out).toContain(words)
  expect(out).toMatch(/in\s+(60|5\d) s/)
  const json = await pace(db.url, '--json')
  expect(json.code).toBe(3)
  expect(JSON.parse(json.out)).toMatchObject({ breaker: 'open', cause: 'outage', failedProbes: 4 })
})

test('the end of a hold says who has a wait besides, and what tries them now', async () => {
  await using db = await freshDatabase()
  await configureCeiling(db.pool, 50)
  await holdCalls(db.pool, 600_000)
  await db.sql(`
    INSERT INTO rollcall.owed (key, change_version, lane, due_at, token) VALUES
      ('a', 1, 1, now() + interval '1 min', NULL), ('b', 1, 1, now() + interval '1 min', NULL),
      ('due', 1, 1, now(), NULL), ('queued', 1, 1, now() + interval '1 min', 7),
      ('other', 1, 1, now() + interval '1 min', NULL);
    INSERT INTO rollcall.ledger (key, state, reason)
    SELECT key, 'failing', jsonb_build_object('code', CASE key WHEN 'other' THEN 'denied' ELSE 'later' END)
    FROM rollcall.owed`)
  expect((await pace(db.url)).out).not.toContain('later attempt')
  const { code, out } = await pace(db.url, '--resume')
  expect(code).toBe(0)
  expect(out).toMatch(/2 customers wait/)
  expect(out).toContain('`rollcall failures --retry --reason later`')
  expect(JSON.parse((await pace(db.url, '--resume', '--json')).out)).toMatchObject({
    heldForMs: 0,
    waiting: 2,
  })
  await db.sql('UPDATE rollcall.owed SET due_at = now()')
  expect((await pace(db.url, '--resume')).out).not.toContain('later attempt')
})

test('a ceiling that is none changes nothing, and says what is expected', async () => {
  await using db = await freshDatabase()
  await configureCeiling(db.pool, 50)
  expect(await pace(db.url, '--ceiling', '0')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--ceiling'),
  })
  expect((await pace(db.url)).out).toContain('50 calls/s, as configured')
})
