import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { explain, RollcallError } from '../../src/model/errors.ts'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House, SECRETS } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'
import { runRollcall } from '../support/process.ts'
import { until } from '../support/until.ts'

/** Nothing listens on port 1. */
const NOWHERE = {
  postgres: 'postgres://u:hidden-password@127.0.0.1:1/db',
  redis: 'redis://:hidden-password@127.0.0.1:1',
}

async function run(house: House, args: readonly string[], env: Record<string, string | undefined> = {}) {
  const { code, output } = await rollcall({ ...house, env: { ...house.env, ...env } }, ...args)
  // No mistake of a user ends in a stack trace or shows a secret.
  expect(output).not.toMatch(/^\s+at .+:\d+:\d+/m)
  for (const secret of [...Object.values(SECRETS), 'hidden-password']) expect(output).not.toContain(secret)
  return { code, output }
}

test('each mistake ends with a sentence, what to do, and the right exit code', async () => {
  await using house = await buildHouse(lane)
  const worker = ['worker']
  const cases: [readonly string[], Record<string, string | undefined>, number, string][] = [
    [['failures'], { DATABASE_URL: NOWHERE.postgres }, 1, 'DATABASE_URL'],
    [
      worker,
      { DATABASE_URL: house.env.DATABASE_URL?.replace(/\/[^/]*$/, '/no_such_database') },
      1,
      'does not exist',
    ],
    [worker, { SERVICE_API_KEY: undefined, ROLLCALL_DIGEST_KEY: 'short' }, 2, 'ROLLCALL_DIGEST_KEY'],
    [worker, { SERVICE_URL: 'http://service.example.com' }, 2, 'plain http'],
    [['worker', '--config', 'nowhere.ts'], {}, 2, 'has not found the configuration file'],
    [['worker', '--conf'], {}, 2, '--help'],
    [['status', '--nonsense'], {}, 2, 'nonsense'],
    [['nonsense'], {}, 2, 'nonsense'],
    [['sync'], {}, 2, "'key'"],
    [['sandbox', '--fault', 'explode'], {}, 2, 'explode'],
    [['status'], { DATABASE_URL: NOWHERE.postgres }, 1, 'does not answer'],
  ]
  for (const [args, env, code, text] of cases) {
    const result = await run(house, args, env)
    expect(result, args.join(' ')).toEqual({ code, output: expect.stringContaining(text) })
  }
})

test('bad credentials and a service that is down: sync says so and fails, and the change stays owed', async () => {
  await using house = await buildHouse(lane)
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('c', 'premium')`)
  const denied = await run(house, ['sync', 'c'], { SERVICE_SECRET_KEY: 'wrong' })
  expect([denied.code, denied.output]).toEqual([1, expect.stringContaining('401')])
  await house.sandbox.stop()
  const down = await run(house, ['sync', 'c'])
  expect([down.code, down.output]).toEqual([1, expect.stringContaining('no connection')])
  const { rows } = await house.sql('SELECT due_at IS NOT NULL AS owed, unknown FROM rollcall.owed')
  expect(rows).toEqual([{ owed: true, unknown: false }])
})

test('a password that is a word stands in no output, and no sentence has a hole in its place', async () => {
  await using house = await buildHouse(lane)
  const { DATABASE_URL } = house.env
  const withPassword = DATABASE_URL?.replace(/\/\/(\w+)(:[^@]*)?@/, '//$1:worker@')
  for (const env of [
    { DATABASE_URL: NOWHERE.postgres.replace('hidden-password', 'worker') },
    { QUEUE_URL: NOWHERE.redis.replace('hidden-password', 'worker') },
    { QUEUE_URL: NOWHERE.postgres.replace('hidden-password', 'worker') },
  ]) {
    await using worker = await runRollcall({ ...house, env: { ...house.env, ...env, LOG_LEVEL: 'trace' } }, [
      'worker',
    ])
    await until(() => worker.output().includes('does not answer yet: the worker waits for it'))
    expect(worker.output()).not.toMatch(/:worker|hidden/)
  }
  expect(withPassword).toContain(':worker@')
  const mistaken: Record<string, string | undefined>[] = [
    { DATABASE_URL: withPassword?.replace(/\/[^/]*$/, '/no_such_database') },
    { DATABASE_URL: withPassword?.replace('//', '//no_such_role_') },
    { DATABASE_URL: 'postgres://u:worker@127.0.0.1:x/d' },
    { DATABASE_URL: `${withPassword}?sslmode=verify-full` },
  ]
  for (const env of mistaken) {
    const { code, output } = await run(house, ['status'], env)
    expect(code).toBeGreaterThan(0)
    expect(output).not.toContain(':worker')
  }
}, 120_000)

test('a configuration that throws an address does not show its password', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'rollcall-mistake-'))
  const file = join(folder.path, 'rollcall.config.js')
  await writeFile(file, `throw new Error('cannot use postgres://ana:worker@h/d')`)
  const error = await loadConfig(file, folder.path).catch((caught: unknown) => caught)
  if (!(error instanceof RollcallError)) throw error
  expect(explain(error)).toContain('cannot use postgres://[hidden]@h/d')
  expect(explain(error)).not.toContain('worker')
})

test('an unmigrated database asks to migrate', async () => {
  await using house = await buildHouse(lane)
  await house.sql('DROP TABLE rollcall.ledger')
  for (const args of [['worker'], ['status'], ['sync', 'c']]) {
    const { code, output } = await run(house, args)
    expect([args[0], code, output]).toEqual([args[0], 2, expect.stringContaining('rollcall migrate')])
  }
})
