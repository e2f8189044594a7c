// The command itself, in this process, on a real database: when it says that a person is needed, and when not.
import { expect, test } from 'vitest'
import { release } from '../../src/brake/held.ts'
import { closeMarks } from '../../src/capture/marks.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import { drawSample, writeSample } from '../../src/drift/evidence.ts'
import { configureCeiling } from '../../src/pace/row.ts'
import { makeCommand } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'
import { CONFIG, CUSTOMERS } from '../support/house.ts'
import { installCapture } from '../support/install.ts'
import { unfolded } from '../support/unfolded.ts'
import { until } from '../support/until.ts'

async function openScene() {
  const db = await freshDatabase()
  const command = await makeCommand(JSON.stringify(CONFIG))
  await db.sql(CUSTOMERS)
  await installCapture(db.pool, resolveConfig(CONFIG, 'rollcall.config.ts'))
  const statusOf = (url: string, ...args: readonly string[]) =>
    command.run({ DATABASE_URL: url }, 'status', ...args)
  const status = (...args: readonly string[]) => statusOf(db.url, ...args)
  return {
    pool: db.pool,
    role: db.makeRole,
    status,
    statusOf,
    async needs() {
      const { code, out } = await status('--json')
      const { attention, overview } = JSON.parse(out)
      return { code, attention, waitsMs: overview.owed.waitsForWorkerMs }
    },
    /** No customer of this lane is on the queue, unless `token`s are given. */
    async owe(lane: number, count: number, { dueFor = 90, token = false } = {}) {
      await db.sql(
        `INSERT INTO rollcall.owed (key, change_version, lane, due_at, token)
         SELECT $1 || '-' || n, 1, $1::int, now() - $3 * interval '1 s',
           CASE WHEN $4 THEN nextval('rollcall.token') END
         FROM generate_series(1, $2) n`,
        [lane, count, dueFor, token],
      )
    },
    async [Symbol.asyncDispose]() {
      await db.drop()
      await command[Symbol.asyncDispose]()
    },
  }
}

const NOTHING = { code: 0, attention: [], waitsMs: null }

test('a change that no worker notes for a minute needs a person: no worker runs', async () => {
  await using scene = await openScene()
  await scene.pool.query(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium')`)
  expect(await scene.needs()).toEqual(NOTHING)
  await scene.pool.query(`UPDATE rollcall.outbox SET at = at - interval '119 s'`)
  expect(await scene.needs()).toMatchObject({
    code: 3,
    attention: [expect.stringContaining('in the outbox')],
  })
})

test('a backfill that no process works on for a minute needs a person; one that only waits for its turn does not', async () => {
  await using scene = await openScene()
  await scene.owe(3, 2000)
  const alone = await scene.needs()
  expect(alone).toMatchObject({ code: 3, attention: [expect.stringContaining('with the active mapping')] })
  expect(alone.waitsMs).toBeGreaterThan(80_000)
  // One is on the queue.
  await scene.owe(2, 1, { dueFor: -60, token: true })
  expect(await scene.needs()).toEqual(NOTHING)
  // A live change does not wait for so long, whatever is under way.
  await scene.owe(1, 1)
  expect(await scene.needs()).toMatchObject({ code: 3, attention: [expect.stringContaining('due')] })
})

test('a job whose lease has passed is no sign of work', async () => {
  await using scene = await openScene()
  await scene.owe(3, 5, { token: true })
  expect(await scene.needs()).toMatchObject({ code: 3 })
})

test('no customer waits for a worker while calls are stopped', async () => {
  await using scene = await openScene()
  await configureCeiling(scene.pool, 50)
  await scene.owe(1, 1)
  expect(await scene.needs()).toMatchObject({ code: 3 })
  await scene.pool.query(`UPDATE rollcall.pace SET not_before = now() + interval '10 min'`)
  expect((await scene.status()).out).toMatch(/^pace +stopped for another 10 min, because/m)
  expect(await scene.needs()).toEqual(NOTHING)
  for (const over of ['-1 s', '2 h']) {
    await scene.pool.query('UPDATE rollcall.pace SET not_before = now() + $1::interval', [over])
    expect(await scene.needs(), over).toMatchObject({ code: 3, attention: [expect.stringContaining('due')] })
  }
  await scene.pool.query(`UPDATE rollcall.pace SET breaker = 'open', opened_at = now(),
    probe_at = now() + interval '1 min'`)
  expect(await scene.needs()).toMatchObject({
    waitsMs: null,
    attention: [expect.stringContaining('the service has failed')],
  })
})

test('shows it in lines of 80 columns, and what to do where a kind has tripped and no customer is held', async () => {
  await using scene = await openScene()
  await scene.owe(1, 3)
  await scene.pool.query(
    `INSERT INTO rollcall.brake (kind, taken, tripped_at, tripped_at_limit) VALUES ('status', 100, now(), 100)`,
  )
  const { code, out } = await scene.status()
  expect(code).toBe(3)
  for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
  expect(out.split('\n').length).toBeGreaterThan(10)
  const lines = unfolded(out)
  expect(lines).toMatch(/^attention +a sync has been due /m)
  expect(lines).toMatch(
    /^attention +.*brake \(status\) .*holds no customer: .*run `rollcall held discard --kind status /m,
  )
  expect(lines).toMatch(/^owed +3 customers: 3 due/m)
})

test('counts no customer as settled who is owed a sync', async () => {
  await using scene = await openScene()
  await scene.pool.query(`
    INSERT INTO rollcall.owed (key, change_version, lane, due_at) VALUES ('a', 1, 1, NULL), ('b', 1, 1, now());
    INSERT INTO rollcall.ledger (key, user_id, remote, state) VALUES ('a', 'a', 'present', 'idle'), ('b', 'b', 'present', 'idle'),
      ('c', 'c', 'unasked', 'idle')`)
  const { out } = await scene.status()
  expect(out).toMatch(/^customers +3 known: 1 settled, 1 owed a sync, 1 never in scope$/m)
})

test('as JSON, too, a refusal that names no field is one issue with all its fields', async () => {
  await using scene = await openScene()
  await scene.pool.query(`
    INSERT INTO rollcall.ledger (key, user_id, remote, state, reason, since, issues) VALUES ('a', 'a', 'present', 'failing', '{}', now(),
      '[{"field":"email","code":"taken","expected":"x"},{"field":"nid_number","code":"taken","expected":"x"}]')`)
  const { overview } = JSON.parse((await scene.status('--json')).out)
  expect(overview.fieldIssues).toEqual([
    { field: 'email', code: 'taken', customers: 1, example: 'a', fields: ['email', 'nid_number'] },
  ])
})

test('tells of a brake once, with each count by its name, and of released customers as what they are', async () => {
  await using scene = await openScene()
  const { pool } = scene
  await pool.query(
    `INSERT INTO rollcall.brake (kind, taken, tripped_at, tripped_at_limit) VALUES ('revocation', 10, now(), 10), ('create', 40, NULL, NULL)`,
  )
  await pool.query(
    `INSERT INTO rollcall.owed (key, change_version, lane) SELECT k, 1, 1 FROM unnest('{a,b,c}'::text[]) k`,
  )
  await pool.query(
    `INSERT INTO rollcall.ledger (key, user_id, remote, sent_status, state, reason, desired)
     SELECT k, k, 'present', 2, 'held', '{"code": "held", "kinds": ["revocation"]}', 'd' FROM unnest('{a,b,c}'::text[]) k`,
  )
  const reported = async () => {
    const { out } = await scene.status()
    const { overview, verification } = JSON.parse((await scene.status('--json')).out)
    const { held, released } = overview.states
    const about = unfolded(out).split('\n')
    return {
      states: { held, released, undue: verification.heldAccess.undue },
      brake: about.filter(
        (line) => line.includes('revocation') || (/^(brake|held)/.test(line) && !line.includes('limits in')),
      ),
      drift: about.filter((line) => line.startsWith('drift')).join('; '),
    }
  }
  const counts = (revocation: string) =>
    expect.stringMatching(new RegExp(`^brake +counted towards the limits: ${revocation}40 × create$`))
  const before = counts('10 × revocation .tripped., ')
  const nobody = expect.stringMatching(/^brake +a limit of 100 .* with access \(3\): .*brake.changes lower/)
  const tripped = (held: number) =>
    expect.stringMatching(
      new RegExp(`^attention +.* holds ${held} customers? \\(revocation\\); .*10 customers through`),
    )
  expect(await reported()).toEqual({
    states: { held: 3, released: 0, undue: 3 },
    brake: [tripped(3), before],
    drift: expect.stringMatching(/ 3 wrongly with access /),
  })
  const why = { by: 'a test', why: 'meant' }
  await release(pool, { keys: ['a', 'b'], ...why })
  expect(await reported()).toEqual({
    states: { held: 1, released: 2, undue: 1 },
    brake: [tripped(1), before],
    drift: expect.stringMatching(/ 1 wrongly with access /),
  })
  await release(pool, { kind: 'revocation', ...why })
  expect(await reported()).toEqual({
    states: { held: 0, released: 3, undue: 0 },
    brake: [counts(''), nobody],
    drift: expect.stringMatching(/no customer can be checked now$/),
  })
})

test('shows unfinished checks of all customers, and needs a person as long as the last check has found something', async () => {
  await using scene = await openScene()
  await scene.pool.query(
    `INSERT INTO rollcall.generation (id, fingerprint, swept_at) VALUES (1, $1, now())`,
    [resolveConfig(CONFIG, 'rollcall.config.ts').fingerprint],
  )
  const swept = (kind: string, ended: string | null, tally: object, options = {}) =>
    scene.pool.query(
      `INSERT INTO rollcall.run (kind, generation, total, tally, outcome, ended_at, updated_at, options)
       VALUES ($1, 1, 5000, $2, CASE WHEN $3::timestamptz IS NOT NULL THEN 'done' END, $3,
         coalesce($3 + interval '1 microsecond', now() - interval '2 min'), $4)`,
      [kind, JSON.stringify(tally), ended, JSON.stringify(options)],
    )
  const nothing = { inserted: 0, changed: 0, deleted: 0 }
  await swept('backfill', null, { customers: 1200, verdicts: { differs: 30 } })
  await swept('gap', null, { customers: 7, verdicts: { differs: 0 } })
  await swept('check', '2026-01-02T03:04:05Z', {
    ...{ customers: 900, checked: true, missed: { ...nothing, inserted: 2, deleted: 1 } },
  })
  // Neither of these tells what was missed.
  await swept('resync', '2026-01-03T03:04:05Z', { customers: 900, missed: nothing })
  await swept('gap', '2026-01-03T03:04:05Z', { customers: 900, missed: nothing })
  const found = await scene.status()
  expect(found.code).toBe(3)
  const lines = unfolded(found.out)
  expect(lines).toMatch(/^sweep +backfill, .*: 1,200 of 5,000 .*, 30 differ; .*same options/m)
  expect(lines).toMatch(/^sweep +comparing all customers .*gap .*: 7 of .*start a worker/m)
  expect(lines).toMatch(
    /^sweep +.*2026-01-02 03:04 UTC\) compared 900 .* missed 3 .*\(2 inserted rows, 1 deleted row\)$/m,
  )
  // A worker makes it at once, if it can.
  expect(lines).toMatch(/^attention +comparing all customers .*gap .*no progress/m)
  expect(lines).toMatch(/attention +.*missed 3 .*Find the cause .*capture resync/m)
  const json = JSON.parse((await scene.status('--json')).out)
  expect(json.sweeps).toMatchObject({
    unfinished: [{ kind: 'backfill', customers: 1200, total: 5000, differ: 30 }, { kind: 'gap' }],
    check: { kind: 'check', missed: { inserted: 2, changed: 0, deleted: 1 } },
    // Its own end is no later check, though Postgres read the clock twice for it.
    missedSince: nothing,
  })
  await scene.pool.query(`DELETE FROM rollcall.run WHERE kind = 'gap' AND ended_at IS NULL`)
  await swept('check', '2026-01-04T03:04:05Z', { customers: 900, checked: true, missed: nothing })
  const later = await scene.status()
  expect(later.code).toBe(0)
  expect(unfolded(later.out)).toMatch(/^sweep +.* 900 .*missed no change$/m)

  // A backfill of some of them has found what no check will find again.
  const missed = { ...nothing, changed: 2 }
  const some = { customers: 9, checked: true, missed }
  await swept('backfill', '2026-01-05T03:04:05Z', some, { only: 'update' })
  await swept('backfill', '2026-01-06T03:04:05Z', { ...some, missed: nothing }, { only: 'update' })
  const partial = await scene.status()
  expect(partial.code).toBe(3)
  expect(unfolded(partial.out)).toMatch(/^attention +.*missed 2 .*Find the cause/m)
  await swept('resync', '2026-01-07T03:04:05Z', { customers: 900, checked: true, missed: nothing })
  expect((await scene.status()).code).toBe(0)
})

test('what the service holds otherwise needs a person, and a trial that ended does not', async () => {
  await using scene = await openScene()
  const find = (key: string, kind: string, access: string | null = null) =>
    scene.pool.query(
      `INSERT INTO rollcall.finding (key, kind, fields, cause, access, checks)
       VALUES ($1, $2, '{}', 'edited-at-service', $3, 2)`,
      [key, kind, access],
    )
  await find('a', 'trial-ended')
  expect(await scene.needs()).toEqual(NOTHING)
  await find('b', 'missing', 'lost')
  await find('c', 'unexpected-access', 'undue')
  await configureCeiling(scene.pool, 10)
  const { at } = await drawSample(scene.pool, 1)
  await writeSample(scene.pool, at, { asked: 9, strange: 9, wanted: 9 })
  const { code, out } = await scene.status()
  expect(code).toBe(3)
  const lines = unfolded(out)
  expect(lines).toMatch(/^checked +workers check no customer/m)
  expect(lines).toMatch(
    /^drift .* not counted .*\n.* 1 wrongly without .*\n.* 1 .*with .*\n.* found by checks: 1 × missing, 1 × unexpected-access\n.* 1 ended trial /m,
  )
  expect(lines).toMatch(
    /^attention +.*differs .* 2 customers .1 wrongly without .*`rollcall drift --from-ledger`$/m,
  )
  expect(lines).toMatch(/^attention +9 of 9 users picked at random.*SERVICE_URL/m)
})

test('a column that was renamed is named, of the customers and of a watched table, also to a role that reads neither', async () => {
  await using scene = await openScene()
  await scene.pool.query(`
    INSERT INTO rollcall.ledger (key, state, reason)
      VALUES ('a', 'failing', '{"code": "customer-unreadable", "error": "42703", "misfits": ["no column movil"]}');
    ALTER TABLE clientes RENAME movil TO tel`)
  const { code, out } = await scene.status()
  expect(code).toBe(3)
  const lines = unfolded(out)
  const lacks = '.*no column "movil" in public.clientes'
  expect(lines).toMatch(new RegExp(`^attention +mapping.mobile_phone: ${lacks} .correct`, 'm'))
  expect(lines).toMatch(/^attention +changes of public\.clientes may be missed: .*capture status/m)
  expect(lines).toMatch(/^attention +1 customer fails/m)
  expect(lines).toMatch(/^failing +1 × customer-unreadable:42703: .*: no column movil$/m)

  const role = await scene.role()
  await scene.pool.query(`GRANT USAGE ON SCHEMA rollcall TO ${role.name};
    GRANT SELECT ON ALL TABLES IN SCHEMA rollcall TO ${role.name}`)
  expect(unfolded((await scene.statusOf(role.url)).out)).toMatch(
    new RegExp(`mapping.mobile_phone: ${lacks} `),
  )
  await scene.pool.query('ALTER TABLE clientes RENAME tel TO movil')
  expect(unfolded((await scene.statusOf(role.url)).out)).not.toContain('mapping.')
})

test('a gap of capture that waits for open transactions needs a person who ends them', async () => {
  await using scene = await openScene()
  const client = await scene.pool.connect()
  await client.query('BEGIN; SELECT pg_current_xact_id()')
  await scene.pool.query(
    `INSERT INTO rollcall.capture_mark (kind, relation) VALUES ('overflow', 'public.clientes')`,
  )
  await closeMarks(scene.pool, ['overflow'])
  expect(await scene.needs()).toMatchObject({ code: 3, attention: [expect.stringContaining('transactions')] })
  await client.query('ROLLBACK')
  client.release()
  // Transactions of other databases on the server count, too.
  await until(async () => (await scene.needs()).attention.join().includes('check that a worker runs'))
})
