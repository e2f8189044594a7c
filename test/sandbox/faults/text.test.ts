import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RollcallError } from '../../../src/model/errors.ts'
import { type FaultInput, faultRule, parseFault } from '../../../src/sandbox/faults/faults.ts'

const status = (code: number, part = {}) => ({ kind: 'status' as const, status: code, ...part })

describe('parseFault', () => {
  it.each<[string, FaultInput]>([
    ['  PATCH  503 rate=0.3 ', { match: { method: 'PATCH' }, rate: 0.3, action: status(503) }],
    ['drop-before times=2', { times: 2, action: { kind: 'drop-before' } }],
    ['status=0 drop-after', { match: { status: 0 }, action: { kind: 'drop-after' } }],
    ['PUT user=a=b hang-after', { match: { method: 'PUT', userId: 'a=b' }, action: { kind: 'hang-after' } }],
    ['422 field=email', { match: { field: 'email' }, action: status(422) }],
    ['latency=1s..1m', { action: { kind: 'latency', minMs: 1000, maxMs: 60_000 } }],
    ['429 retry-after=5', { action: status(429, { retryAfter: { form: 'seconds', seconds: 5 } }) }],
    ['retry-after=date:5 503', { action: status(503, { retryAfter: { form: 'date', seconds: 5 } }) }],
    ['500 stored', { action: status(500, { stored: true }) }],
    ['error-200', { action: status(200) }],
    ['GET slow-body=2s', { match: { method: 'GET' }, action: { kind: 'slow-body', durationMs: 2000 } }],
    ['refuse=30s times=1', { times: 1, action: { kind: 'refuse', durationMs: 30_000 } }],
    ['for=1d 503', { forMs: 86_400_000, action: status(503) }],
    ['/chat/professionals 503', { match: { path: '/chat/professionals' }, action: status(503) }],
  ])('%s', (text, expected) => expect(parseFault(text)).toEqual(faultRule.parse(expected)))

  it.each([
    ['', 'action: missing or not known; expected an HTTP status (a number'],
    ['PATCH 503 latency=5', '"503": not known, or in conflict'],
    ['DELETE 503', '"DELETE": not known'],
    ['503 rate=2', '"rate=2": expected 0 to 1'],
    ['503 times=1.5', '"times=1.5": expected 1 to 1000000000'],
    ['503 field=shoe_size', '"field=shoe_size": expected one of email'],
    ['503 status=x', '"status=x": expected a whole number'],
    ['drop-before html', '"html": not known'],
    ['503 retry-after=2s', '"retry-after=2s": expected 0 to 86400 seconds'],
    ['latency=200..50', '"latency=200..50": write the smaller'],
    ['slow-body', '"slow-body": not known'],
    ['GET PATCH 503', '"PATCH": not known, or in conflict'],
    ['drop-before drop-after', '"drop-after": not known, or in conflict'],
    ['drop-before for=48h', '"for=48h": expected 1 to 86400000 milliseconds (at most 1d)'],
    ['503 __proto__=1', '"__proto__": not known'],
  ])('says what is wrong with "%s"', (text, problem) => {
    expect(() => parseFault(text)).toThrowError(
      expect.objectContaining({
        code: 'USAGE',
        details: expect.arrayContaining([expect.stringContaining(`--fault "${text}": ${problem}`)]),
      }),
    )
  })

  it('reads the example of docs/sandbox.md as the object that stands below it', () => {
    const page = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8')
    const [, text = '', object = ''] = /As an object, `(.*)` is\n+```json\n(.*?)```/s.exec(page) ?? []
    expect(parseFault(text)).toEqual(faultRule.parse(JSON.parse(object)))
  })

  it('gives a rule or a clear error, whatever the text', () => {
    const word = fc.constantFrom(
      ...['PATCH', '503', 'drop-before', 'html', 'rate=', 'rate=0.5', 'user=', 'latency=1..', 'latency=3'],
      ...['slow-body=1s', 'refuse=', 'for=', 'for=5m', '/', '/%', '=', 'stored', '9'.repeat(400)],
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
