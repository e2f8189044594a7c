import { expect, onTestFinished, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { PRESETS } from '../../src/sandbox/contract/contract.ts'

/** The command line in this process, until it ends or is stopped. */
function run(...args: readonly string[]) {
  const stop = new AbortController()
  const out: string[] = []
  const err: string[] = []
  const code = main(['sandbox', ...args], {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    env: {},
    cwd: '/',
    terminal: false,
    stop: stop.signal,
  })
  const end = () => {
    stop.abort()
    return code
  }
  onTestFinished(async () => void (await end()))
  return { out, err, code, end }
}

const HEADERS = { 'Api-Key': 'sandbox-api-key', 'Secret-Key': 'sandbox-secret-key' }

test('answers by the contract that it was started with, and the later word wins', async () => {
  const { out, err, end } = run(
    '--port',
    '0',
    '--contract',
    'legacy nulls=absent',
    '--contract',
    'unknownUser=410 email=kept',
  )
  await expect.poll(() => err).toHaveLength(2)
  expect(err[0]).toMatch(/ createStatus=200 .*unknownUser=410 .*nulls=absent /)
  const url = out[0]?.replace('SERVICE_URL=', '')
  expect((await fetch(`${url}/s2s/v1/users/u`, { headers: HEADERS })).status).toBe(410)
  expect(await end()).toBe(0)
})

test('lists presets and dimensions, and ends', async () => {
  const words = run('--contracts')
  expect(await words.code).toBe(0)
  for (const name of Object.keys(PRESETS)) expect(words.out.join('\n')).toContain(`  ${name} `)
  const json = run('--contracts', '--json')
  expect(await json.code).toBe(0)
  expect(JSON.parse(json.out.join('\n'))).toMatchObject({ presets: { length: Object.keys(PRESETS).length } })
})

test('a fault that it cannot read is reported with the wrong word', async () => {
  const { code, err } = run('--fault', 'PATCH 503 rate=2')
  expect(await code).toBe(2)
  expect(err.join('\n')).toMatch(/"PATCH 503 rate=2": "rate=2": /)
  expect(err.join('\n')).toContain('`--help` lists all')
})

test.each<[readonly string[], boolean]>([
  [['--host', '0.0.0.0'], true],
  [['--host', '0.0.0.0', '--json'], true],
  [['--host', '0.0.0.0', '--control-token', 'secret-token'], false],
  [['--host', '127.0.0.2'], false],
])('%j: says when its control endpoints are shut, and how to open them', async (args, shut) => {
  const { out, err } = run('--port', '0', ...args)
  await expect.poll(() => out.length).toBeGreaterThan(0)
  expect(err.some((line) => line.includes('--control-token TOKEN'))).toBe(shut)
  expect(err.join()).not.toContain('secret-token')
})

test.each(['--control-token', '--api-key', '--secret-key', '--host'])(
  '%s of an unset variable is refused',
  async (option) => {
    for (const empty of ['', ' ']) {
      const { code, err } = run('--port', '0', option, empty)
      expect(await code).toBe(2)
      expect(err.join('\n')).toContain('not empty')
    }
  },
)

test('says why it cannot listen', async () => {
  const first = run('--port', '0')
  await expect.poll(() => first.out.length).toBeGreaterThan(0)
  const port = first.out[0]?.split(':').at(-1) ?? ''
  for (const [args, reported] of [
    [['--port', port], `127.0.0.1:${port}: something listens`],
    [['--host', '192.0.2.1', '--control-token', 'x'], '192.0.2.1:4010: this machine does not have'],
  ] as const) {
    const { code, err } = run(...args)
    expect(await code).toBe(1)
    expect(err.join('\n')).toContain(reported)
  }
})
