// Input of an attacker: JSON as text, so that it may hold what JSON.stringify never writes.
import fc from 'fast-check'
import { words } from '../../src/model/values.ts'
import { PEOPLE } from '../../src/sandbox/chat/professionals.ts'
import { anyText } from '../support/arbitrary.ts'

const PAIR = { user_id: 'u', professional_id: PEOPLE[0]?.professional_id }

/** Every endpoint that takes a body, with one that it takes. The users `u` and `new` are the attacker's. */
export const BODIES: readonly (readonly [endpoint: string, body: object])[] = [
  ['POST /s2s/v1/users', { user_id: 'new', status: 2, email: 'a@correo.example', gender: 1 }],
  ['PUT /s2s/v1/users/u', { status: 4, birthdate: '1990-02-28', mobile_phone: '600000000' }],
  ['PATCH /s2s/v1/users/u', { status: 0, description: null, country_code: 'ES' }],
  [
    'PUT /_sandbox/faults',
    [{ match: { method: 'GET', path: '/x' }, times: 1, action: { kind: 'drop-before' } }],
  ],
  ['PUT /_sandbox/contract', { preset: 'legacy', createStatus: 204, trialMs: 5, forbidden: 'x' }],
  ['PUT /_sandbox/clock', { advance: '36h' }],
  ['PUT /_sandbox/clock', { now: '2026-03-02T09:30:00Z' }],
  ['PUT /_sandbox/professionals', PEOPLE.slice(0, 1)],
  ['POST /_sandbox/tokens', { user_id: 'u', expires_in: 60 }],
  ['POST /_sandbox/messages', { ...PAIR, from: 'user', type: 'text', text: 'hello' }],
]

/** Endpoints that take none. */
export const READS =
  words(`/s2s/v1/users/u /chat/message?room=2 /chat/professionals /_sandbox/health /_sandbox/journal?limit=10
  /_sandbox/users /_sandbox/faults /_sandbox/contract /_sandbox/clock /_sandbox/professionals`)

const DEPTH = 10_000

const nastyString = fc.oneof(
  anyText.map((text) => JSON.stringify(text)),
  fc.constantFrom(
    ...['""', '"\\u0000"', '"\\ud800"', '"\\udfff\\ud800"', '"__proto__"', '"constructor"', '"."', '".."'],
    ...['"NaN"', '"legacy __proto__=1 createStatus="', '"drop-before for="', '"%"', '"9999-12-31T23:59:59Z"'],
    '"-000001-01-01T00:00:00Z"',
    `"${'x'.repeat(50_000)}"`,
    `"${'🙂'.repeat(10_000)}"`,
    `"${'z '.repeat(1000)}"`,
  ),
)
const nastyNumber = fc.constantFrom(...['-0', '-1', '0.5', '1e999', '-1e999', '1e-400', '9'.repeat(400)])
const deep = fc.constantFrom(
  '['.repeat(DEPTH) + ']'.repeat(DEPTH),
  `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`,
  '['.repeat(60) + ']'.repeat(60),
  '['.repeat(DEPTH),
)
const key = fc.oneof(
  fc.constantFrom(...'__proto__ constructor prototype toString hasOwnProperty then toJSON'.split(' '), ''),
  fc.constantFrom(...'user_id status match action kind preset type text groups messages'.split(' ')),
  fc.string({ maxLength: 5 }),
)
const pollution = fc.constantFrom('{"polluted":1}', '{"__proto__":{"polluted":1}}')

const nasty: fc.Arbitrary<string> = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false', '{}', '[]', '2', '"u"'),
    nastyString,
    nastyNumber,
    pollution,
    { arbitrary: deep, weight: 1 },
    fc.array(tie('any'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc.array(fc.tuple(key, tie('any')), { maxLength: 4 }).map(asObject),
  ),
})).any

/** JSON as text, or nearly JSON: duplicate keys, numbers that do not fit, half characters, absurd nesting. */
export const hostileJson: fc.Arbitrary<string> = fc.oneof(
  nasty,
  fc.string(),
  nasty.map((text) => text.slice(0, -1)),
  nasty.map((text) => `\u{feff}${text}`),
)

/** A body that would be taken, with some of its values replaced and with keys that it should not have. */
export function spoilt(sample: unknown): fc.Arbitrary<string> {
  if (Array.isArray(sample)) {
    const items = fc.array(fc.oneof(spoilt(sample[0]), nasty), { maxLength: 3 })
    return items.map((texts) => `[${texts.join()}]`)
  }
  if (typeof sample !== 'object' || sample === null)
    return fc.oneof(fc.constant(JSON.stringify(sample)), nasty)
  const kept = Object.entries(sample).map(([name, value]) =>
    fc.option(spoilt(value), { nil: JSON.stringify(value), freq: 1 }).map((text): Entry => [name, text]),
  )
  const more = fc.array(fc.tuple(key, fc.oneof(pollution, nasty)), { maxLength: 2 })
  return fc.tuple(fc.tuple(...kept), more).map(([own, added]) => asObject([...own, ...added]))
}

type Entry = [string, string]

function asObject(entries: readonly Entry[]): string {
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`
}
