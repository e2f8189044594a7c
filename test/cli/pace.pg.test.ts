// The command itself, in this process, on a real database: what it prints, what it changes, and how it exits.
import { Command } from 'commander'
import { expect, type TestContext, test } from 'vitest'
import { paceCommand } from '../../src/cli/pace.ts'
import { configureCeiling, holdOff } from '../../src/pace/row.ts'
import { freshDatabase } from '../support/database.ts'

async function pace(url: string, args: readonly string[], { signal }: TestContext) {
  const out: string[] = []
  let code: number | null = null
  const program = new Command('rollcall')
  const io = {
    out: (line: string) => void out.push(line),
    err: () => undefined,
    env: { DATABASE_URL: url },
    cwd: '/',
    terminal: false,
    stop: signal,
  }
  paceCommand(program, io, (exit) => {
    code = exit
  })
  for (const command of [program, ...program.commands])
    command.exitOverride().configureOutput({ writeOut: io.out, writeErr: io.err })
  await program.parseAsync(['pace', ...args], { from: 'user' })
  return { code, out: out.join('\n') }
}

test('shows the pace, changes the ceiling while it runs, and has JSON', async (context) => {
  await using db = await freshDatabase()
  expect(await pace(db.url, [], context)).toMatchObject({
    code: 0,
    out: expect.stringContaining('not set yet'),
  })
  expect((await pace(db.url, ['--json'], context)).out).toBe('null')
  await configureCeiling(db.pool, 50)
  expect(await pace(db.url, [], context)).toMatchObject({
    code: 0,
    out: expect.stringContaining('50 calls/s, as configured'),
  })
  expect((await pace(db.url, ['--ceiling', '200'], context)).out).toContain('200 calls/s, set by hand')
  expect(JSON.parse((await pace(db.url, ['--ceiling', '20', '--json'], context)).out)).toMatchObject({
    ceiling: 20,
    configured: 50,
    rate: 20,
    breaker: 'closed',
    heldForMs: 0,
  })
})

test('exits with 3 while nobody calls', async (context) => {
  await using db = await freshDatabase()
  await configureCeiling(db.pool, 50)
  await db.pool.query(`UPDATE rollcall.pace SET breaker = 'open', cause = 'outage', opened_at = now(),
    probe_at = now() + interval '1 min', trouble = '{"failed": 4}'`)
  const { code, out } = await pace(db.url, [], context)
  expect(code).toBe(3)
  for (const words of ['the service is out', 'failed: 4']) expect(out).toContain(words)
  expect(out).toMatch(/in (60|5\d) s/)
  const json = await pace(db.url, ['--json'], context)
  expect(json.code).toBe(3)
  expect(JSON.parse(json.out)).toMatchObject({ breaker: 'open', cause: 'outage', failedProbes: 4 })
})

test('the end of a hold says who has a wait besides, and what tries them now', async (context) => {
  await using db = await freshDatabase()
  await configureCeiling(db.pool, 50)
  await holdOff(db.pool, 600_000)
  await db.pool.query(`
    INSERT INTO rollcall.owed (key, change_version, lane, due_at, token) VALUES
      ('a', 1, 1, now() + interval '1 min', NULL), ('b', 1, 1, now() + interval '1 min', NULL),
      ('due', 1, 1, now(), NULL), ('queued', 1, 1, now() + interval '1 min', 7),
      ('other', 1, 1, now() + interval '1 min', NULL);
    INSERT INTO rollcall.ledger (key, state, reason)
    SELECT key, 'failing', jsonb_build_object('code', CASE key WHEN 'other' THEN 'denied' ELSE 'later' END)
    FROM rollcall.owed`)
  expect((await pace(db.url, [], context)).out).not.toContain('later attempt')
  const { code, out } = await pace(db.url, ['--resume'], context)
  expect(code).toBe(0)
  expect(out).toMatch(/2 customers wait/)
  expect(out).toContain('`rollcall failures --retry --reason later`')
  expect(JSON.parse((await pace(db.url, ['--resume', '--json'], context)).out)).toMatchObject({
    heldForMs: 0,
    waiting: 2,
  })
  await db.pool.query('UPDATE rollcall.owed SET due_at = now()')
  expect((await pace(db.url, ['--resume'], context)).out).not.toContain('later attempt')
})

test('a ceiling that is none changes nothing, and says what is expected', async (context) => {
  await using db = await freshDatabase()
  await configureCeiling(db.pool, 50)
  await expect(pace(db.url, ['--ceiling', '0'], context)).rejects.toMatchObject({
    code: 'USAGE',
    exitCode: 2,
  })
  expect((await pace(db.url, [], context)).out).toContain('50 calls/s, as configured')
})
