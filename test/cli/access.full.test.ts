import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { rollcall } from '../support/command.ts'
import { buildHouse, type House, SECRETS } from '../support/house.ts'
import { postgres as lane } from '../support/lanes.ts'

const OTHERS = { ROLLCALL_DIGEST_KEY: undefined, QUEUE_URL: undefined }

async function run(house: House, args: readonly string[], env: Record<string, string | undefined> = {}) {
  const { code, output } = await rollcall(
    { ...house, env: { ...house.env, ...OTHERS, ...env } },
    'access',
    ...args,
  )
  expect(output).not.toMatch(/^\s+at .+:\d+:\d+/m)
  for (const secret of [...Object.values(SECRETS), env.SERVICE_ACCESS_TOKEN ?? 'secret-token'])
    expect(output).not.toContain(secret)
  return { code, output }
}

async function tokenFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-token-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'token'), text)
  return join(folder, 'token')
}

test('one customer in a few lines, with and without a token, and no value but user_id and status', async () => {
  await using house = await buildHouse(lane)
  await house.sql(
    `INSERT INTO clientes (id, plan, nombre) VALUES ('4711', 'premium', 'Leocadia'); DELETE FROM rollcall.outbox`,
  )
  house.sandbox.users.set('4711', { status: 2, first_name: 'Leocadia' })
  const plain = await run(house, ['4711'])
  expect(plain.code).toBe(0)
  expect(plain.output.trim().split(/\n {2}/)).toEqual([
    expect.stringContaining(`4711 at ${house.sandbox.url} (production,`),
    expect.stringMatching(/^access +yes: full/),
    'user      4711',
    expect.stringMatching(/^desired +2 /),
    expect.stringMatching(/^service +2 /),
    expect.stringMatching(/^sync +not owed: .*no record/),
    expect.stringMatching(/^chat +not asked: .*token/),
  ])
  const token = await house.sandbox.issueToken('4711')
  const fromFile = await run(house, ['4711', '--token-file', await tokenFile(`Bearer ${token}\n`)])
  expect(fromFile.code).toBe(0)
  expect(fromFile.output).toMatch(/^ {2}chat {6}works: \d+ professionals, \d+ online, 0 unread/m)
  const fromEnv = await run(house, ['4711'], { SERVICE_ACCESS_TOKEN: token })
  // Between the two runs a second or a minute may pass, so a line may break elsewhere.
  const timeless = ({ output }: { output: string }) =>
    output.replaceAll(/\s+/g, ' ').replaceAll(/ in (under )?\d+ (s|min|h)\b/g, '')
  expect(fromEnv.code).toBe(0)
  expect(timeless(fromEnv)).toEqual(timeless(fromFile))
  expect(fromFile.output).not.toMatch(/Leocadia|eyJ/)
})

test('several customers: 3 when a customer has no access, 1 when it could not be found out, and one JSON document', async () => {
  await using house = await buildHouse(lane)
  await house.sql(`INSERT INTO clientes (id, plan) VALUES ('a', 'premium'), ('b', 'free'), ('c', 'trial')`)
  house.sandbox.users.set('a', { status: 2 })
  house.sandbox.users.set('b', { status: 0 })
  house.sandbox.users.set('c', { status: 4 })
  const two = await run(house, ['a', 'c'])
  expect([two.code, two.output]).toEqual([
    0,
    expect.stringMatching(/of the user \(--token-file\)\n\ncustomer c at /),
  ])
  for (const said of two.output.split('\n')) expect(said.length).toBeLessThanOrEqual(80)
  expect((await run(house, ['mistyped'])).code).toBe(3)
  const token = await house.sandbox.issueToken('a')
  const both = await run(house, ['a', 'b', 'a', '--json'], { SERVICE_ACCESS_TOKEN: token })
  expect(both.code).toBe(3)
  expect(JSON.parse(both.output)).toMatchObject({
    target: { environment: 'production', local: true },
    customers: [
      {
        key: 'a',
        userId: 'a',
        access: { can: 'yes', why: 'full' },
        token: 'this-user',
        rollcall: { history: { capturedMs: expect.any(Number) } },
      },
      { key: 'b', access: { can: 'no', why: 'no-access' }, token: 'another-user' },
    ],
    chat: { kind: 'answered', existsOn: 'production', totals: { unread: 0 } },
  })
  expect(both.output.match(/.*(digest|"sent"|last_?message).*/i)).toBeNull()
  house.sandbox.faults.set([{ match: { userId: 'c' }, action: { kind: 'status', status: 503 } }])
  expect((await run(house, ['a', 'b', 'c'])).code).toBe(1)
  await house.sandbox.stop()
  const down = await run(house, ['a'])
  expect(down).toEqual({
    code: 1,
    output: expect.stringMatching(/^ {2}service {3}.*refused the connection$/m),
  })
})

test('each mistake ends with a sentence and the right exit code, and shows no token', async () => {
  await using house = await buildHouse(lane)
  const opaque = await tokenFile('opaque')
  const cases: [readonly string[], Record<string, string | undefined>, number, string][] = [
    [[], {}, 2, "'key'"],
    [['a', '--token', 'secret-token'], {}, 2, "unknown option '--token'"],
    [['a', '--token-file', 'nowhere'], {}, 2, '--token-file: rollcall cannot read'],
    [['a', '--token-file', await tokenFile('a "secret-token"')], {}, 2, '--token-file: expected'],
    [['a'], { SERVICE_ACCESS_TOKEN: '{"secret-token"}' }, 2, 'SERVICE_ACCESS_TOKEN: expected'],
    [['a'], { SERVICE_ACCESS_TOKEN_FILE: opaque }, 2, 'SERVICE_ACCESS_TOKEN_FILE: expected'],
    [['a', '--token-file', opaque], {}, 2, 'nothing was sent'],
    [['a'], { SERVICE_URL: undefined, SERVICE_API_KEY: undefined }, 2, 'SERVICE_API_KEY: missing'],
    [['a'], { SERVICE_SECRET_KEY: 'wrong' }, 1, 'refused the credentials (401)'],
  ]
  for (const [args, env, code, text] of cases) {
    const result = await run(house, args, env)
    expect(result, args.join(' ')).toEqual({ code, output: expect.stringContaining(text) })
  }
})
