// Every option of `rollcall backfill`, and what is said of a call that is wrong.
import { beforeAll, describe, expect, test } from 'vitest'
import { alone } from '../../src/ledger/alone.ts'
import { beginRun } from '../../src/ledger/runs.ts'
import { makeCommand, rollcall } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'
import { buildHouse, CONFIG, CUSTOMERS, type House } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { type RunningProcess, runRollcall } from '../support/process.ts'
import { unfolded } from '../support/unfolded.ts'
import { until } from '../support/until.ts'

type Run = Pick<House, 'authored' | 'env'>

async function backfill(house: Run, ...args: readonly string[]) {
  const { code, output } = await rollcall(house, 'backfill', ...args)
  return { code, output: unfolded(output) }
}

async function ended(process: RunningProcess) {
  const { code } = await process.exited
  const output = unfolded(process.output())
  expect(output).not.toMatch(/^\s+at .+:\d+:\d+/m)
  return { code, output }
}

/** Ten premium, five free, one of them with a date, and one with an unknown plan. */
const PEOPLE = `
INSERT INTO clientes (id, plan, correo, nacido)
SELECT 'k' || i, CASE WHEN i <= 10 THEN 'premium' WHEN i <= 15 THEN 'free' ELSE 'gold' END,
  'secret-' || i || '@example.com', CASE WHEN i = 3 THEN date '1990-02-03' END FROM generate_series(1, 16) i`

describe('before anything is migrated, as a role that may read the customers and nothing else', () => {
  test('a dry run tells all that there is to tell, and the real one is refused', async () => {
    await using db = await freshDatabase({ empty: true })
    await db.sql(CUSTOMERS)
    await db.sql(PEOPLE)
    const role = await db.makeRole()
    await db.sql(`GRANT SELECT ON clientes TO ${role.name}`)
    const env = { DATABASE_URL: role.url, QUEUE_URL: role.url, SERVICE_URL: 'http://127.0.0.1:1' }
    const brake = { creates: { customers: 4, share: 0 } }
    const house = { authored: { ...CONFIG, brake }, env }
    const { code, output } = await backfill(house, '--dry-run', '--sample', '2')
    expect(code).toBe(3)
    expect(output).toMatch(/^note .*ROLLCALL_DIGEST_KEY/m)
    expect(output).toMatch(/^customers +16 compared/m)
    expect(output).toMatch(/^differ +16 customers: 10 to create, 5 to look up, 1 to reject/m)
    expect(output).toMatch(/^new users +fields to send: 15 × email, 1 × birthdate/m)
    expect(output).toMatch(/^access +10 customers gain access, 0 lose it, 0 switch between trial and full$/m)
    expect(output).toMatch(/^reasons +of rejections: 1 × status: not-in-values/m)
    expect(output).toMatch(/^calls +15 × POST, 5 × GET/m)
    expect(output).toMatch(/^lookups +5 .* Expected .*: 5 × POST \(incl/m)
    expect(output).toMatch(/^time +about 1 s at 500 calls\/s/m)
    expect(output).toMatch(/^brake +.* 4 of 15 .*--expect-creates 15 /m)
    expect(output.match(/^sample +customer k/gm)).toHaveLength(2)
    expect(output).not.toContain('secret-')
    const keyed = { ...house, env: { ...env, ROLLCALL_DIGEST_KEY: 'x'.repeat(40) } }
    expect((await backfill(keyed, '--dry-run')).output).toMatch(/^note .*rollcall migrate/m)

    const real = { ...house, env: { ...keyed.env, SERVICE_API_KEY: 'a', SERVICE_SECRET_KEY: 'b' } }
    const refused = await backfill(real)
    expect(refused.code).toBe(2)
    expect(refused.output).toContain('rollcall migrate')
  })
})

describe('on a house of its own', () => {
  let house: House
  beforeAll(async () => {
    house = await buildHouse(lane)
    await house.sql('ALTER TABLE clientes DISABLE TRIGGER ALL')
    await house.sql(PEOPLE)
    await house.sql('ALTER TABLE clientes ENABLE TRIGGER ALL')
    return () => house[Symbol.asyncDispose]()
  })

  test.each<[readonly string[], string]>([
    [['--sample', '3'], '--sample: only with --dry-run'],
    [['--dry-run', '--sample', '0'], '--sample: expected'],
    [['--rate', 'fast'], '--rate: expected'],
    [['--rate', '0'], '--rate: expected'],
    [['--expect-creates', '1.5'], '--expect-creates: expected'],
    [['--expect-creates', '99999999999'], '--expect-creates: expected'],
    [['--only', 'everything'], 'create, update, revoke'],
    [['--dry-run', '--wait'], '--wait'],
    [['--dry-run', '--restart'], '--restart'],
    [['--mapping', '--lookup'], '--mapping'],
    [['--dry-run', '--where', 'correo like x'], '--where: expected COLUMN'],
    [['--dry-run', '--where', 'plam=x'], 'Did you mean plan?'],
    [['--dry-run', '--where', 'interno=x'], 'It reads id, plan, correo'],
    [['--dry-run', '--where', 'nacido>some-secret'], 'nacido is no date'],
    [['--dry-run', '--where', 'nacido in 2020-01-01,no'], 'nacido is no date'],
  ])('%j is refused: %s', async (args, sentence) => {
    await using command = await makeCommand(JSON.stringify(house.authored))
    const { code, out, err } = await command.run(house.env, 'backfill', ...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(sentence)
    expect(err).not.toContain('some-secret')
  })

  test('--where and --only choose, also for a dry run; --json tells all of it', async () => {
    const args = ['--dry-run', '--json', '--sample', '20', '--where', 'plan in premium,free']
    const { output } = await backfill(house, ...args, '--where', 'nacido is not null', '--only', 'create')
    expect(JSON.parse(output)).toMatchObject({
      ...{ dryRun: true, customers: 1, calls: { POST: 1, GET: 0, PUT: 0, PATCH: 0 } },
      sample: [{ key: 'k3', status: 2, plan: { kind: 'create', sends: expect.arrayContaining(['email']) } }],
    })
    expect(output).not.toContain('secret-')
    const revoked = await backfill(house, '--dry-run', '--only', 'revoke')
    expect(revoked.code).toBe(0)
    expect(revoked.output).toMatch(/^left alone +16 /m)
  })

  test('a dry run tells of those who share a user_id with another new customer, and who is out of scope', async () => {
    const shared = `{ columns: ['id'], map: ({ id }) => (['k2', 'k3', 'k4'].includes(id) ? 'k1' : id) }`
    const scope = `{ columns: ['id'], when: ({ id }) => id !== 'k4' && id !== 'k5' }`
    const authored = JSON.stringify(house.authored)
    await using command = await makeCommand(
      `{ ...${authored}, mapping: { ...${authored}.mapping, user_id: ${shared} }, scope: ${scope} }`,
    )
    const { code, out } = await command.run(house.env, 'backfill', '--dry-run')
    expect(code).toBe(3)
    expect(unfolded(out)).toMatch(/^warning +3 .*with another new customer, so they will be rejected/m)
    expect(unfolded(out)).toMatch(/^out of scope +2 .*stays as it is/m)
    const json = await command.run(house.env, 'backfill', '--dry-run', '--json')
    expect(JSON.parse(json.out)).toMatchObject({ sharing: 3, neverInScope: 2, waiting: { held: 0 } })
  })

  test('Ctrl-C ends it after a page, the same command goes on, --restart begins anew', async () => {
    await using process = await runRollcall(house, ['backfill', '--rate', '1', '--expect-creates', '50'])
    await until(async () => ((await owed(house)) >= 2 ? true : Promise.reject(new Error('not yet'))), {
      what: 'two are noted',
    })
    process.kill('SIGINT')
    const stopped = await ended(process)
    expect(stopped.code).toBe(1)
    expect(stopped.output).toMatch(/^stopped +.*again to continue/m)
    expect(stopped.output).toMatch(/^expected +50 .*until 20/m)
    const resumed = await backfill(house, '--expect-creates', '50')
    expect(resumed.code).toBe(0)
    expect(resumed.output).toContain('continues the unfinished backfill')
    // All customers were swept: no more can come than are owed.
    expect(resumed.output).toMatch(/^expected +16 earlier pre-approved /m)
    expect(resumed.output).toMatch(/^customers +16 compared/m)
    const repeated = await backfill(house, '--expect-creates', '50')
    expect(repeated.output).toMatch(/^expected +16 .*until 20/m)
    const restarted = await backfill(house, '--restart', '--json')
    expect(JSON.parse(restarted.output)).toMatchObject({
      resumed: false,
      ended: true,
      verdicts: { owed: 16 },
    })
  })

  test('--wait waits for workers; stopped, it says how many still wait', async () => {
    await using process = await runRollcall(house, ['backfill', '--wait'])
    // It waits once it has compared all customers, and says so when it is stopped.
    await until(async () => (await lastEnded(house)) > 0 || Promise.reject(new Error('not yet')), {
      what: 'every customer is swept',
    })
    process.kill('SIGTERM')
    const { code, output } = await ended(process)
    expect(code).toBe(1)
    expect(output).toMatch(
      /^stopped +this command was stopped while it waited; 16 customers are still owed a sync: `rollcall status`/m,
    )
    expect(output).not.toContain('customers of the backfill are settled')
  })

  test('a condition that no customer meets is reported, fails, and waits for none', async () => {
    for (const more of [['--dry-run'], ['--dry-run', '--json'], ['--wait'], ['--json']]) {
      const { code, output } = await backfill(house, ...more, '--where', 'plan=premum')
      expect([more, code, output]).toEqual([more, 1, expect.stringContaining('no customer fits --where')])
    }
  })

  test('another backfill under way: the same is waited for, one for others is refused', async () => {
    const { pool } = house.db
    const run = { kind: 'backfill', generation: '1', options: {}, marks: [], capture: '' } as const
    await alone(pool, 'backfill', async () => {
      await beginRun(pool, run, null)
      const refused = await backfill(house, '--only', 'update')
      expect(refused.code).toBe(1)
      expect(refused.output).toContain('Another backfill runs')
      expect(refused.output).not.toContain('this command waits')
    })
    const held = await alone(pool, 'backfill', async () => {
      const same = await runRollcall(house, ['backfill'])
      await until(
        async () =>
          same.output().includes('this command waits until it ends') ||
          Promise.reject(new Error(same.output())),
        { what: 'it says that it waits' },
      )
      return same
    })
    if (!held) throw new Error('no other one is at it')
    const { code, output } = await ended(held)
    expect(code).toBe(0)
    expect(output).toMatch(/^customers +16 compared/m)
    await held[Symbol.asyncDispose]()
  })
})

async function owed({ db }: House): Promise<number> {
  const { rows } = await db.sql<{ n: number }>('SELECT count(*)::int AS n FROM rollcall.owed')
  return rows[0]?.n ?? 0
}

/** Backfills that went through since the last restart; the one before the test was begun by --restart. */
async function lastEnded({ db }: House): Promise<number> {
  const { rows } = await db.sql<{ n: number }>(
    `SELECT count(*)::int - 3 AS n FROM rollcall.run WHERE kind = 'backfill' AND outcome = 'done'`,
  )
  return rows[0]?.n ?? 0
}
