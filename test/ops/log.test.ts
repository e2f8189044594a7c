import { describe, expect, it } from 'vitest'
import { secretsOf } from '../../src/config/env.ts'
import { hideKey, type Log, makeLog } from '../../src/ops/log.ts'

function logged(options: Omit<Parameters<typeof makeLog>[1], 'stream'>, write: (log: Log) => void) {
  const lines: string[] = []
  write(makeLog('trace', { ...options, stream: { write: (line: string) => lines.push(line) } }))
  return { text: lines.join(''), lines: lines.map((line) => JSON.parse(line)) }
}

const KEY = 'digest-key-of-thirty-two-characters'

describe('customer keys in the log', () => {
  it('stand there as they are, unless they are to be hidden', () => {
    const { lines } = logged({}, (log) => log.info({ customer: 'c-1', keys: ['c-2'] }, 'x'))
    expect(lines[0]).toMatchObject({ customer: 'c-1', keys: ['c-2'] })
  })

  it('are hidden under every name they have, alike in each line, so that lines can be joined', () => {
    const { text, lines } = logged({ hideKeysBy: KEY }, (log) => {
      log.info({ customer: 'c-1' }, 'x')
      log.warn({ key: 'c-1', keys: ['c-1', '["ES", "c-2"]'], customers: 2 }, 'x')
      log.child({ customer: 'c-1' }).trace('x')
      log.info({ keys: undefined, customer: null }, 'x')
      log.error({ examples: ['c-1', 'c-2'] }, 'x')
    })
    const hidden = hideKey('c-1', KEY)
    expect(hidden).toMatch(/^[0-9a-f]{12}$/)
    expect(lines[0].customer).toBe(hidden)
    expect(lines[1]).toMatchObject({
      key: hidden,
      keys: [hidden, hideKey('["ES", "c-2"]', KEY)],
      customers: 2,
    })
    expect(lines[2].customer).toBe(hidden)
    expect(lines[4].examples).toEqual([hidden, hideKey('c-2', KEY)])
    expect(text).not.toMatch(/c-\d/)
  })

  it('are hidden by another digest where the key is another', () => {
    expect(hideKey('c-1', KEY)).not.toBe(hideKey('c-1', `${KEY}.`))
  })
})

describe('a secret that gets into a log object after all', () => {
  it.each([
    [{ password: 's3creto' }],
    [{ env: { SERVICE_SECRET_KEY: 's3creto' } }],
    [{ options: { headers: { 'Secret-Key': 's3creto', authorization: 's3creto' } } }],
    [{ pool: { connectionString: 'postgres://ana:s3creto@h/d' } }],
  ])('is hidden by its name: %j', (object) => {
    const { text } = logged({}, (log) => log.error(object, 'x'))
    expect(text).toContain('[hidden]')
    expect(text).not.toContain('s3creto')
  })

  it('is hidden by its text where that looks random, wherever it stands, and the line stays JSON', () => {
    const [short, long] = ['aB3"dE5\\gH7-jK9xY5/mN1', 'aB3"dE5\\gH7-jK9xY5/mN1pQ2']
    const { text, lines } = logged({ secrets: [short, long] }, (log) => {
      log.error({ a: { b: { c: { d: `x ${short} y` } } }, list: [long] }, `reported: ${short}`)
      log.error(new Error(`failed with ${short}`))
    })
    expect(text).not.toContain('gH7')
    expect(lines[0]).toMatchObject({
      a: { b: { c: { d: 'x [hidden] y' } } },
      list: ['[hidden]'],
      msg: 'reported: [hidden]',
    })
    expect(lines).toHaveLength(2)
  })

  it('leaves every sentence whole where a password is a word, and an address loses it all the same', () => {
    const url = 'postgres://ana:worker@h/d'
    const { text, lines } = logged({ secrets: secretsOf({ DATABASE_URL: url }) }, (log) => {
      log.info({ ms: 12 }, 'the worker runs')
      log.error(Object.assign(new Error(`cannot use ${url}`), { input: { url } }), 'it failed')
    })
    expect(lines[0].msg).toBe('the worker runs')
    expect(text).toContain('postgres://[hidden]@h/d')
    expect(text).not.toContain(':worker')
  })
})
