import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RollcallError } from '../../../src/model/errors.ts'
import { type FaultRule, faultRule } from '../../../src/sandbox/faults/faults.ts'
import { parseFault, readFault } from '../../../src/sandbox/faults/text.ts'

const rule = (part: Partial<FaultRule> & Pick<FaultRule, 'action'>): FaultRule => ({
  match: {},
  rate: 1,
  ...part,
})
const status = (code: number, part = {}) => ({
  kind: 'status' as const,
  status: code,
  body: 'json' as const,
  stored: false,
  ...part,
})

describe('parseFault', () => {
  it.each<[string, FaultRule]>([
    ['PATCH 503 rate=0.3', rule({ match: { method: 'PATCH' }, rate: 0.3, action: status(503) })],
    ['  patch   503 ', rule({ match: { method: 'PATCH' }, action: status(503) })],
    ['down', rule({ action: { kind: 'down' } })],
    ['drop-before times=2', rule({ times: 2, action: { kind: 'drop-before' } })],
    ['status=0 drop-after', rule({ match: { status: 0 }, action: { kind: 'drop-after' } })],
    [
      'PUT user=a%20b hang-after',
      rule({ match: { method: 'PUT', userId: 'a b' }, action: { kind: 'hang-after' } }),
    ],
    ['user=a=b down', rule({ match: { userId: 'a=b' }, action: { kind: 'down' } })],
    ['422 field=email', rule({ match: { field: 'email' }, action: status(422) })],
    ['latency=50', rule({ action: { kind: 'latency', minMs: 50, maxMs: 50 } })],
    ['latency=50..200', rule({ action: { kind: 'latency', minMs: 50, maxMs: 200 } })],
    ['429 retry-after=5', rule({ action: status(429, { retryAfter: { form: 'seconds', seconds: 5 } }) })],
    ['retry-after=date:5 503', rule({ action: status(503, { retryAfter: { form: 'date', seconds: 5 } }) })],
    ['html 502', rule({ action: status(502, { body: 'html' }) })],
    ['200 empty', rule({ action: status(200, { body: 'empty' }) })],
    ['500 stored', rule({ action: status(500, { stored: true }) })],
    ['error-200', rule({ action: status(200) })],
    ['latency=1s..1m', rule({ action: { kind: 'latency', minMs: 1000, maxMs: 60_000 } })],
    ['slow-body=250', rule({ action: { kind: 'slow-body', durationMs: 250 } })],
    ['GET slow-body=2s', rule({ match: { method: 'GET' }, action: { kind: 'slow-body', durationMs: 2000 } })],
    ['refuse=30s times=1', rule({ times: 1, action: { kind: 'refuse', durationMs: 30_000 } })],
    ['down for=30s', rule({ forMs: 30_000, action: { kind: 'down' } })],
    ['for=1d 503', rule({ forMs: 86_400_000, action: status(503) })],
    ['for=1h 503', rule({ forMs: 3_600_000, action: status(503) })],
    ['/chat/professionals 503', rule({ match: { path: '/chat/professionals' }, action: status(503) })],
    ['down /s2s/v1/users/a%20b', rule({ match: { path: '/s2s/v1/users/a b' }, action: { kind: 'down' } })],
    ['down /a=b', rule({ match: { path: '/a=b' }, action: { kind: 'down' } })],
  ])('%s', (text, expected) => {
    expect(parseFault(text)).toEqual(expected)
  })

  it.each([
    ['', 'no action'],
    ['PATCH', 'no action'],
    ['PATCH 503 down', 'down: only one'],
    ['DELETE 503', 'DELETE: not known'],
    ['99', '99: expected 200 to 599'],
    ['600', '600: expected 200 to 599'],
    ['503 rate=2', 'rate: expected 0 to 1'],
    ['503 rate=often', 'rate: expected 0 to 1'],
    ['503 times=0', 'times: expected 1 to 1000000000'],
    ['503 times=1.5', 'times: expected 1 to 1000000000'],
    ['503 field=shoe_size', 'field: expected one of'],
    ['503 status=x', 'status: expected a whole number'],
    ['503 rat=0.5', 'rat: not known; did you mean rate?'],
    ['drop-befor', 'drop-befor: not known; did you mean drop-before?'],
    ['down html', 'html: only with a status'],
    ['drop-after retry-after=3', 'retry-after: only with a status'],
    ['503 retry-after=soon', 'retry-after: expected seconds'],
    ['503 user=%zz', 'user: expected a text'],
    ['latency=200..50', 'latency: expected the smaller'],
    ['latency=fast', 'latency: expected milliseconds'],
    ['latency=1..2..3', 'latency: expected milliseconds'],
    ['latency=', 'latency: expected milliseconds'],
    ['slow-body=', 'slow-body: expected milliseconds, 0'],
    ['slow-body=-1', 'slow-body: expected milliseconds, 0'],
    ['slow-body=1h', 'slow-body: expected milliseconds, 0'],
    ['refuse=0', 'refuse: expected milliseconds, 1'],
    ['refuse', 'refuse: expected milliseconds, 1'],
    ['slow-body=1s down', 'down: only one'],
    ['slow-body=1s html', 'html: only with a status'],
    ['down for=soon', 'for: expected milliseconds, 1'],
    ['down for=0', 'for: expected milliseconds, 1'],
    ['down for=48h', 'for: expected milliseconds, 1'],
    ['down for=__proto__', 'for: expected milliseconds, 1'],
    ['down /%zz', 'the path: expected'],
    ['503 __proto__=1', '__proto__: not known'],
  ])('says what is wrong with "%s" and what was expected', (text, problem) => {
    expect(() => parseFault(text)).toThrowError(
      expect.objectContaining({ code: 'USAGE', details: [expect.stringContaining(`": ${problem}`)] }),
    )
  })

  it('reads the example of docs/sandbox.md as the object that stands below it', () => {
    const page = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')
    const [, text = '', object = ''] = /As an object, `(.*)` is\n+```json\n(.*?)```/s.exec(page) ?? []
    expect(parseFault(text)).toEqual(faultRule.parse(JSON.parse(object)))
  })

  it('tells every word that is wrong, and no value', () => {
    expect(readFault('503 user=%zz rate=hello shoe=hello retry-after=hello')).toEqual({
      rule: null,
      problems: [
        expect.stringMatching(/^shoe: not known/),
        expect.stringMatching(/^user: /),
        expect.stringMatching(/^rate: /),
        expect.stringMatching(/^retry-after: /),
      ],
    })
    expect(JSON.stringify(readFault('503 rate=hello shoe=hello down user=hello'))).not.toContain('hello')
  })

  it.each(['x'.repeat(60_000), `latency=${'1'.repeat(60_000)}`, '503 '.repeat(20_000)])(
    'says it in few words, however long the text',
    (text) => {
      const details = expect.toSatisfy((lines: string[]) => lines.join('').length < 3000)
      expect(() => parseFault(text)).toThrowError(expect.objectContaining({ code: 'USAGE', details }))
    },
  )

  it('gives a rule or a clear error, whatever the text', () => {
    const word = fc.constantFrom(
      'PATCH',
      '503',
      'down',
      'html',
      'rate=',
      'rate=0.5',
      'user=',
      'latency=1..',
      'latency=3',
      'slow-body=1s',
      'refuse=',
      'for=',
      'for=5m',
      '/',
      '/%',
      '=',
      'stored',
      '9'.repeat(400),
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(word).map((words) => words.join(' ')),
    )
    fc.assert(
      fc.property(text, (any) => {
        try {
          parseFault(any)
        } catch (error) {
          expect(error).toBeInstanceOf(RollcallError)
        }
      }),
    )
  })
})
