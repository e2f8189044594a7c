import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Clock } from '../../src/config/define.ts'
import { callPure, functionSource, NotListed, valueMapSource } from '../../src/config/source.ts'
import { TimedAnswer } from '../../src/config/until.ts'

describe('valueMapSource', () => {
  const values = { free: 0, premium: 2, '1': 4, true: 2 }

  it.each<[unknown, unknown]>([
    ['free', 0],
    ['premium   ', 2],
    [1, 4],
    [1n, 4],
    ['1', 4],
    [true, 2],
    [null, null],
    [undefined, null],
  ])('%s is looked up by its text: %s', (given, target) => {
    expect(valueMapSource({ column: 'plan', values }).value({ plan: given })).toBe(target)
  })

  it.each(['gold', '', 'Free', 'toString', '__proto__', false, 2, { free: 1 }, ['free']])(
    'does not list %j',
    (given) => {
      const answer = valueMapSource({ column: 'plan', values: { free: 0 } }).value({ plan: given })
      expect(answer).toEqual(new NotListed(['free']))
    },
  )

  it.each<[string, object, unknown, unknown]>([
    ['otherwise stands for what is not listed', { otherwise: 0 }, 'gold', 0],
    ['otherwise stands for an empty column', { otherwise: 0 }, null, 0],
    ['whenNull stands for an empty column', { whenNull: 4 }, null, 4],
    ['whenNull goes before otherwise', { whenNull: 4, otherwise: 0 }, null, 4],
    ['whenNull may be nothing', { whenNull: null, otherwise: 0 }, null, null],
    ['otherwise may be nothing', { otherwise: null }, 'gold', null],
  ])('%s', (_, extra, given, answer) => {
    expect(valueMapSource({ column: 'plan', values, ...extra }).value({ plan: given })).toBe(answer)
  })

  it('leaves whatever whenNull does not cover unlisted', () => {
    const { value } = valueMapSource({ column: 'plan', values: { free: 0 }, whenNull: 0 })
    expect(value({ plan: 'gold' })).toBeInstanceOf(NotListed)
  })
})

describe('functionSource', () => {
  const row = { plan: 'premium', zona: null, secreto: 'x' }

  it('gives the function its columns and nothing else', () => {
    const { value } = functionSource({
      columns: ['plan', 'zona'],
      call: (columns) => JSON.stringify({ ...columns }),
    })
    expect(value(row)).toBe('{"plan":"premium","zona":null}')
  })

  it.each<[string, (columns: Readonly<Record<string, unknown>>) => unknown, string]>([
    ['reads a column that it does not name', ({ plan, secreto }) => `${plan}${secreto}`, 'does not name'],
    ['changes what it was given', (columns) => void Object.assign(columns, { plan: 'free' }), ''],
  ])('fails when the function %s', (_, call, words) => {
    expect(() => functionSource({ columns: ['plan'], call }).value(row)).toThrow(words)
  })

  const promises: readonly [string, () => unknown][] = [
    ['a promise', () => Promise.resolve('x')],
    ['a promise that fails', () => Promise.reject(new Error('no'))],
    // biome-ignore lint/suspicious/noThenProperty: it is what the test is about
    ['something to wait for', () => ({ then: () => {} })],
    ['a promise with an end', () => ({ value: Promise.reject(new Error('no')), validUntil: null })],
  ]
  it.each(promises)('fails when the function answers with %s', (_, call) => {
    expect(() => callPure({ columns: [], call }, {}, NOW)).toThrow('promise')
  })
  it.each(promises.slice(0, 3))('fails without a clock too when it answers with %s', (_, call) => {
    expect(() => callPure({ columns: [], call }, {})).toThrow('promise')
  })
})

const NOW = new Date('2026-11-20T12:00:00.000Z')
const LATER = '2026-12-01T00:00:00.000Z'

type Call = (clock: Clock) => unknown

function ask(call: Call, now: Date = NOW): unknown {
  return callPure({ columns: [], call: (_row, clock) => call(clock as Clock) }, {}, now)
}

/** Until when the answer holds, as text; null: until a change. */
function heldUntil(validUntil: unknown): string | null {
  const answer = ask(() => ({ value: 'x', validUntil }))
  if (!(answer instanceof TimedAnswer)) return answer === 'x' ? null : 'another answer'
  expect(answer.value).toBe('x')
  return new Date(answer.untilMs).toISOString()
}

describe('a function that goes by the time', () => {
  it('is given the present, which it cannot change for anybody', () => {
    const answer = ask((clock) => {
      clock.now.setFullYear(1999)
      return { value: clock.now.toISOString(), validUntil: LATER }
    })
    expect(answer).toEqual(new TimedAnswer(NOW.toISOString(), Date.parse(LATER)))
  })

  it.each<[string, Call]>([
    ['a plain value', ({ now }) => (now > new Date(0) ? 2 : 0)],
    ['nothing', ({ now }) => void now],
    ['a value in braces', ({ now }) => ({ value: now.getFullYear() })],
  ])('fails when it answers with %s, since nobody would check again', (_, call) => {
    expect(() => ask(call)).toThrow('{ value, validUntil }')
  })

  it('may answer with a plain value when it did not read the clock', () => {
    expect(ask(() => 2)).toBe(2)
    expect(ask(() => ({ value: 2 }))).toEqual({ value: 2 })
  })

  it('fails when its answer has no value, which would clear the field', () => {
    expect(() => ask(() => ({ vale: 2, validUntil: LATER }))).toThrow('both `value` and')
    expect(ask(() => ({ value: undefined, validUntil: null }))).toBe(undefined)
  })

  it.each<[unknown, string | null]>([
    [null, null],
    ['infinity', null],
    [new Date(LATER), LATER],
    ['2026-12-01T00:00:00Z', LATER],
    ['2026-12-01T01:00:00+01:00', LATER],
    ['2026-12-01', LATER],
    // As Postgres prints it.
    ['2026-12-01 00:00:00+00', LATER],
    ['2026-12-01 05:30:00.123456+05:30', '2026-12-01T00:00:00.123Z'],
    ['2026-11-30 20:00:00.5-04', '2026-12-01T00:00:00.500Z'],
    ['2026-11-30 23:45:16-00:14:44', LATER],
    ['10000-01-01 00:00:00+00', '+010000-01-01T00:00:00.000Z'],
  ])('says until when by %j', (validUntil, until) => expect(heldUntil(validUntil)).toBe(until))

  it.each(['Europe/Madrid', 'America/Los_Angeles'])('takes a time without zone for UTC in %s', (zone) => {
    vi.stubEnv('TZ', zone)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(heldUntil('2026-12-01 00:00:00')).toBe(LATER)
    expect(heldUntil('2026-12-01')).toBe(LATER)
  })

  const UNREADABLE = [
    'tomorrow',
    '12/01/2026',
    '2027-02-30',
    '2027-13-01',
    '2027-01-01T24:00:00Z',
    undefined,
    true,
  ]
  const PASSED = [
    NOW,
    new Date(0),
    '2026-11-20T12:00:00Z',
    '2026-11-20',
    '0050-01-01',
    '1970-01-01 00:00:00+00',
  ]
  it.each<[unknown, string]>([
    ...[...UNREADABLE, '2027-01-01T00:00:00 Europe/Madrid', new Date(Number.NaN), Date.parse(LATER)].map(
      (until): [unknown, string] => [until, 'ISO 8601'],
    ),
    // It would be asked again for ever.
    ...PASSED.map((until): [unknown, string] => [until, 'a `validUntil` after']),
  ])('fails when its validUntil is %j: %s', (validUntil, words) => {
    expect(() => heldUntil(validUntil)).toThrow(words)
  })

  it('reads back whatever time a text says, in any zone', () => {
    const time = fc.date({
      min: new Date(NOW.getTime() + 1),
      max: new Date('9999-12-30'),
      noInvalidDate: true,
    })
    const zone = fc.integer({ min: -15 * 60, max: 15 * 60 })
    fc.assert(
      fc.property(time, zone, fc.constantFrom('T', ' '), (at, minutes, between) => {
        const local = new Date(at.getTime() + minutes * 60_000)
          .toISOString()
          .slice(0, -1)
          .replace('T', between)
        const two = (n: number) => String(Math.trunc(Math.abs(n))).padStart(2, '0')
        const offset = `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
        expect(heldUntil(local + offset)).toBe(at.toISOString())
      }),
    )
  })
})
