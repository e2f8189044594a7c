// Which service and which database: named in one form by every command, and a copy is recognized.
import { expect, test } from 'vitest'
import { makeCommand } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'
import { CONFIG } from '../support/house.ts'
import { lanes } from '../support/lanes.ts'
import { ofFile } from '../support/of-file.ts'
import { named, settledHouse } from '../support/settled-house.ts'
import { unfolded } from '../support/unfolded.ts'

const [, lane] = lanes
if (!lane) throw new Error('the Postgres lane is always there')

const DEMO = { service: { ...CONFIG.service, environment: 'demo' } } as const

const house = ofFile(() => settledHouse(lane, named(['a', 'b']), { config: DEMO }))
const command = ofFile(() => makeCommand(JSON.stringify(house.authored)))

test.each([
  ...['status', 'failures', 'access a', 'explain a', 'backfill', 'backfill --dry-run', 'drift'],
  ...['migrate --target same', 'sync a', 'drift --from-ledger', 'drift --format html'],
])('the service and its environment are named by %s, as words and as JSON', async (line) => {
  const { code, out } = await command.run(house.env, ...line.split(' '))
  expect(code).toBe(0)
  expect(unfolded(out)).toContain(`${house.sandbox.url} (demo, on this machine)`)
  expect(out.includes('restart all workers')).toBe(line.startsWith('migrate'))
  if (line === 'sync a' || line.includes('html')) return
  const target = { origin: house.sandbox.url, environment: 'demo', local: true }
  const json = await command.run(house.env, ...line.split(' '), '--json')
  expect(JSON.parse(json.out).target).toEqual(target)
})

test('a copy of the database is reported as one by the commands that work there, and nothing fails for it', async () => {
  await using copy = await freshDatabase({ copyOf: house.db })
  const env = { ...house.env, DATABASE_URL: copy.url, MIGRATE_DATABASE_URL: copy.url }
  const commands = [
    [3, 'status'],
    [0, 'migrate'],
    [0, 'capture', 'install'],
  ] as const
  for (const [code, ...args] of commands) {
    const said = await command.run(env, ...args)
    expect(said.code, args.join(' ')).toBe(code)
    expect(unfolded(`${said.out}\n${said.err}`)).toMatch(/was restored.*copy for tests/)
    const { binding } = JSON.parse((await command.run(env, ...args, '--json')).out)
    expect(binding).toMatchObject({ differences: [{ kind: 'database' }] })
    const here = await command.run(house.env, ...args, '--json')
    expect(JSON.parse(here.out).binding).toEqual({ differences: [], todo: null })
  }
  expect(await command.run(env, 'migrate', '--target', 'new')).toMatchObject({ code: 0, err: '' })
  expect((await command.run(env, 'status')).out).not.toContain('the database was restored')
})

test('an owner in another database than the workers is refused, and one that alone can be asked is taken', async () => {
  await using other = await freshDatabase()
  const env = { ...house.env, MIGRATE_DATABASE_URL: other.url }
  for (const line of ['migrate --target same', 'capture install', 'grants --to nobody']) {
    const { code, output } = await command.run(env, ...line.split(' '))
    expect([line, code, output]).toEqual([
      line,
      2,
      expect.stringContaining('the same database as in DATABASE_URL'),
    ])
  }
  const early = { ...house.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' }
  expect(await command.run(early, 'migrate')).toMatchObject({ code: 0 })
})
