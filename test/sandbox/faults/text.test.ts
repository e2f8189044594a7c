import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RollcallError } from '../../../src/model/errors.ts'
import type { FaultRule } from '../../../src/sandbox/faults/faults.ts'
import { parseFault } from '../../../src/sandbox/faults/text.ts'

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
    ['PATCH 503 down', 'one action only'],
    ['DELETE 503', '"DELETE" is no word'],
    ['99', 'action.status'],
    ['600', 'action.status'],
    ['503 rate=2', 'rate'],
    ['503 rate=often', 'rate: expected a number'],
    ['503 times=0', 'times'],
    ['503 times=1.5', 'times'],
    ['503 field=shoe_size', 'match.field'],
    ['503 status=x', 'status: expected a number'],
    ['down html', 'only with a status'],
    ['drop-after retry-after=3', 'only with a status'],
    ['503 retry-after=soon', 'retry-after: expected a number'],
    ['503 user=%zz', 'percent-encoded'],
    ['latency=200..50', 'the first figure is the smaller one'],
    ['latency=fast', 'latency: expected milliseconds, or like 500ms'],
    ['latency=1..2..3', 'latency: expected DURATION or DURATION..DURATION'],
    ['latency=', 'latency: expected milliseconds, or like 500ms'],
    ['slow-body=', 'slow-body: expected milliseconds, or like'],
    ['slow-body=-1', 'slow-body: expected milliseconds, or like'],
    ['slow-body=1h', 'action.durationMs'],
    ['refuse=0', 'action.durationMs'],
    ['refuse', '"refuse" is no word'],
    ['slow-body=1s down', 'one action only'],
    ['slow-body=1s html', 'only with a status'],
    ['down for=soon', 'for: expected milliseconds, or like'],
    ['down for=0', 'forMs'],
    ['down for=48h', 'forMs'],
    ['down for=__proto__', 'for: expected milliseconds, or like'],
    ['down /%zz', 'path: expected text that is percent-encoded'],
    ['503 __proto__=1', '"__proto__=1" is no word'],
  ])('says what is wrong with "%s" and what was expected', (text, problem) => {
    expect(() => parseFault(text)).toThrowError(
      expect.objectContaining({
        code: 'USAGE',
        details: [expect.stringContaining(problem), expect.stringMatching(/^expected: /)],
      }),
    )
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
