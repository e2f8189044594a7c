import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readEnv, secretsOf, type Variable } from '../../src/config/env.ts'
import { explain, RollcallError } from '../../src/model/errors.ts'
import { detailsOf } from '../support/details.ts'

const folder = mkdtempSync(join(tmpdir(), 'rollcall-env-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const problems = (env: Record<string, string>, ...need: Variable[]) =>
  detailsOf('ENV_INVALID', () => readEnv(env, { need }))

const good: Record<Variable, string> = {
  DATABASE_URL: 'postgres://ana:s3creto@db.example:5432/crm?sslmode=verify-full',
  MIGRATE_DATABASE_URL: 'postgresql:///crm?host=/var/run/postgresql',
  QUEUE_URL: 'rediss://:s3creto@redis.example:6380/1',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'api-key',
  SERVICE_SECRET_KEY: 's3creto de verdad',
  SERVICE_ACCESS_TOKEN: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.s3creto-_',
  ROLLCALL_DIGEST_KEY: 's3creto-'.repeat(4),
  OPS_HOST: '127.0.0.1',
  OPS_PORT: '0',
}
const names = Object.keys(good) as Variable[]

describe('readEnv', () => {
  it('gives what was asked for', () => {
    expect(readEnv(good, { need: names })).toEqual({ ...good, LOG_LEVEL: 'info', LOG_KEYS: 'shown' })
  })

  it('does not check what was not asked for', () => {
    const env = { ...good, SERVICE_URL: 'nonsense', QUEUE_URL_FILE: '/nowhere' }
    expect(readEnv(env, { need: ['DATABASE_URL'] })).toEqual({
      DATABASE_URL: good.DATABASE_URL,
      LOG_LEVEL: 'info',
      LOG_KEYS: 'shown',
    })
  })

  it('does without a variable that may be missing, but not with a wrong one', () => {
    const wanted = { need: [], may: ['MIGRATE_DATABASE_URL'] } as const
    expect(readEnv({}, wanted)).toEqual({ LOG_LEVEL: 'info', LOG_KEYS: 'shown' })
    expect(readEnv(good, wanted).MIGRATE_DATABASE_URL).toBe(good.MIGRATE_DATABASE_URL)
    expect(() => readEnv({ MIGRATE_DATABASE_URL: 'mysql://x' }, wanted)).toThrow(RollcallError)
  })

  const ORIGIN = 'https://service.example'
  const TOKEN = 'aaa.bbb-_.ccc'
  const TAKEN: readonly (readonly [Variable, texts: readonly string[], read?: string])[] = [
    [
      'SERVICE_URL',
      [ORIGIN, `${ORIGIN}/`, `${ORIGIN}/s2s/v1`, 'https://SERVICE.example:443/s2s/v1/'],
      ORIGIN,
    ],
    [
      'QUEUE_URL',
      ['redis://localhost', 'rediss://h', 'redis://localhost/1', 'postgresql://h/d?sslmode=verify-full'],
    ],
    ['DATABASE_URL', ['postgres://h/d?sslmode=require&a=1'], 'postgres://h/d?sslmode=verify-full&a=1'],
    ['SERVICE_ACCESS_TOKEN', [TOKEN, `Bearer ${TOKEN}`, ` \t${TOKEN}\n`], TOKEN],
    ['OPS_PORT', ['0', '9464', '65535', 'off']],
  ]
  const taken = TAKEN.flatMap(([name, texts, read]) =>
    texts.map((text) => [name, text, read ?? text] as const),
  )
  it.each(taken)('takes for %s %j', (name, text, read) => {
    expect(readEnv({ [name]: text }, { need: [name] })[name]).toBe(read)
  })

  const REFUSED: readonly (readonly [Variable, problem: RegExp, texts: readonly string[]])[] = [
    [
      'SERVICE_URL',
      /expected https:.*without user name, password/,
      ['ftp://service.example', 'service.example', 'https://ana:s3creto@service.example'],
    ],
    [
      'SERVICE_URL',
      /expected https:/,
      ['/s2s', '/s2s/v2', '/api/s2s/v1', '//s2s/v1', '/?key=s3creto'].map((path) => ORIGIN + path),
    ],
    // Drivers misread these.
    [
      'QUEUE_URL',
      /expected redis:/,
      ['REDISS://h', 'POSTGRES://localhost/d', 'redis://localhost/rollcall', 'redis://localhost?db=x'],
    ],
    // A password that is not encoded: its beginning would pass for the host.
    [
      'QUEUE_URL',
      /expected redis:/,
      ['postgres://u:abc@S3cr3tP#y@localhost/d', 'postgres://u:42/S3cr3t@localhost/d'],
    ],
    // No header could carry these.
    ['SERVICE_API_KEY', /expected .*printable ASCII/, ['abc\ndef', 'a\tb', 'abc ', 'clave-ñ', 'a\u0007b']],
    [
      'SERVICE_ACCESS_TOKEN',
      /JWT/,
      ['aaa bbb', '"aaa.bbb.ccc"', 'Bearer', 'aaa.ñ.ccc', 'aaa\nbbb', '{"token":"aaa"}'],
    ],
    ['OPS_PORT', /`off`/, ['65536', '-1', 'OFF', '80a', '1e3', ' 80']],
  ]
  const refused = REFUSED.flatMap(([name, problem, texts]) =>
    texts.map((text) => [name, text, problem] as const),
  )
  it.each(refused)('refuses for %s %j', (name, text, problem) => {
    expect(problems({ [name]: text }, name)).toEqual([expect.stringMatching(`^${name}: .*${problem.source}`)])
  })

  it('wants every connection to another machine encrypted', () => {
    const plain = {
      DATABASE_URL: 'postgres://ana:s3creto@h/d',
      MIGRATE_DATABASE_URL: 'postgres://ana:s3creto@h/d?sslmode=disable',
      QUEUE_URL: 'redis://:s3creto@h',
    }
    const need = Object.keys(plain) as Variable[]
    const lines = problems(plain, ...need)
    expect(lines.map((line) => line.split(',')[0])).toEqual(
      need.map((name) => expect.stringMatching(`^${name}: .*not encrypted`)),
    )
    expect(lines.join()).not.toContain('s3creto')
    expect(problems({ ...plain, ALLOW_PLAINTEXT: 'database' }, ...need)).toEqual([lines[2]])
    expect(problems({ ...plain, ALLOW_PLAINTEXT: 'queue' }, ...need)).toEqual(lines.slice(0, 2))
    expect(problems({ ...plain, ALLOW_PLAINTEXT: 'queue, database' }, ...need)).toEqual([])
    expect(problems({ ...plain, ALLOW_PLAINTEXT: 'all' }, 'SERVICE_URL')).toContainEqual(
      expect.stringMatching(/^ALLOW_PLAINTEXT: .*one of: database; queue; /),
    )
  })

  it('tells all problems at once, each by name', () => {
    const lines = problems({ DATABASE_URL: 'mysql://h', LOG_LEVEL: 'loud' }, ...names)
    expect(lines.map((line) => line.split(':')[0])).toEqual([...names, 'LOG_LEVEL'])
  })

  it('repeats no secret, whatever is wrong with it', () => {
    const secret = 's3creto'
    const wrong: Record<Variable, string> = {
      DATABASE_URL: `postgres://ana:${secret}@[bad/crm`,
      MIGRATE_DATABASE_URL: `mysql://ana:${secret}@h`,
      QUEUE_URL: `redis//:${secret}@h`,
      SERVICE_URL: `https://${secret}@h`,
      SERVICE_API_KEY: `${secret}\n`,
      SERVICE_SECRET_KEY: `ñ${secret}`,
      SERVICE_ACCESS_TOKEN: `"${secret}"`,
      ROLLCALL_DIGEST_KEY: secret,
      OPS_HOST: `http://${secret}`,
      OPS_PORT: secret,
    }
    try {
      readEnv({ ...wrong, LOG_LEVEL: secret }, { need: names })
      expect.unreachable()
    } catch (error) {
      if (!(error instanceof RollcallError)) throw error
      expect(error.details).toHaveLength(Object.keys(wrong).length + 1)
      expect(explain(error) + error.stack).not.toContain(secret)
    }
  })
})

it('shows the form of an address whole, with the part for user and password', () => {
  const details = problems({ DATABASE_URL: 'postgres://u:p@h#@127.0.0.1:1/x' }, 'DATABASE_URL')
  expect(explain(new RollcallError('ENV_INVALID', details))).toContain('postgres://user:password@host:5432/')
})

it('knows the secrets in what was read: keys, and passwords as they are written and as they are meant', () => {
  const env = {
    ...good,
    DATABASE_URL: 'postgres://ana:p%40ss@h/d',
    MIGRATE_DATABASE_URL: 'postgres://ana@h/d?password=otra',
    QUEUE_URL: 'redis://:100%25@h',
    LOG_LEVEL: 'info',
  }
  expect(new Set(secretsOf(env))).toEqual(
    new Set([
      ...['p%40ss', 'p@ss', 'otra', '100%25', '100%'],
      ...[good.SERVICE_API_KEY, good.SERVICE_SECRET_KEY, good.SERVICE_ACCESS_TOKEN, good.ROLLCALL_DIGEST_KEY],
    ]),
  )
})

describe('a variable from a file', () => {
  const read = (env: Record<string, string>) => readEnv(env, { need: ['SERVICE_API_KEY'] }).SERVICE_API_KEY

  it.each(['key', 'key\n', 'key\r\n'])('drops one newline at the end of %j', (text) => {
    expect(read({ SERVICE_API_KEY_FILE: file('key', text) })).toBe('key')
  })

  it('counts an empty variable as not set', () => {
    expect(read({ SERVICE_API_KEY: '', SERVICE_API_KEY_FILE: file('key', 'key') })).toBe('key')
    expect(read({ SERVICE_API_KEY: 'key', SERVICE_API_KEY_FILE: '' })).toBe('key')
  })

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'both ways at once',
      { SERVICE_API_KEY: 'key', SERVICE_API_KEY_FILE: '/x' },
      /^SERVICE_API_KEY: .*SERVICE_API_KEY_FILE is also set/,
    ],
    ['no such file', { SERVICE_API_KEY_FILE: join(folder, 'none') }, /^SERVICE_API_KEY_FILE: .*cannot read/],
    ['a folder', { SERVICE_API_KEY_FILE: folder }, /^SERVICE_API_KEY_FILE: .*cannot read/],
    ['an empty file', { SERVICE_API_KEY_FILE: file('empty', '\n') }, /^SERVICE_API_KEY: missing/],
  ])('is refused: %s', (_, env, line) => {
    expect(problems(env, 'SERVICE_API_KEY')).toEqual([expect.stringMatching(line)])
  })
})
