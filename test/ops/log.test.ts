import { describe, expect, it } from 'vitest'
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

  it('is hidden by its text, wherever it stands, and the line stays JSON', () => {
    const secrets = ['s3"cre\\to', 's3"cre\\to-largo', 'corto']
    const { text, lines } = logged({ secrets }, (log) => {
      log.error({ a: { b: { c: { d: 'x s3"cre\\to y' } } }, list: ['s3"cre\\to-largo'] }, 'told: s3"cre\\to')
      log.error(new Error('failed with s3"cre\\to'))
    })
    expect(text).not.toContain('cre')
    expect(lines[0]).toMatchObject({
      a: { b: { c: { d: 'x [hidden] y' } } },
      list: ['[hidden]'],
      msg: 'told: [hidden]',
    })
    expect(lines).toHaveLength(2)
  })

  it('does not tear words apart for a secret of a few letters', () => {
    const { lines } = logged({ secrets: ['e'] }, (log) => log.info('the worker runs'))
    expect(lines[0].msg).toBe('the worker runs')
  })
})
