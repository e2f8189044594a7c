// Bodies that no control endpoint takes: each is refused with the fields that are wrong, and changes nothing.
import { beforeAll, expect, it } from 'vitest'
import { PEOPLE } from '../../../src/sandbox/chat/professionals.ts'
import { sandboxOfFile, talk } from '../talk.ts'

const sandbox = sandboxOfFile({ now: () => Date.parse('2026-03-02T10:00:00Z') })
beforeAll(() => {
  sandbox.users.set('u', { status: 2 })
  sandbox.contract.set({ nulls: 'absent' })
  sandbox.faults.set([{ match: { userId: 'nobody' }, action: { kind: 'drop-before' } }])
})

function held(): unknown {
  const { users, contract, faults, clock, professionals, conversations } = sandbox
  const texts = [users.all(), contract.now, faults.list(), professionals.all(), conversations.room(1)]
  return structuredClone([...texts, clock.now()])
}

const [ONE] = PEOPLE
const PAIR = { user_id: 'u', professional_id: ONE?.professional_id }
const TEXT = { ...PAIR, type: 'text', text: 'hello' }
const schedules = [{ ...ONE?.schedules[0], end_first_period: 'noon' }]

type Row = readonly [endpoint: string, body: unknown, fields: string]

/** A body that is taken, and values with which it is not. */
const VALUES: Readonly<Record<string, readonly [object, Readonly<Record<string, readonly unknown[]>>]>> = {
  'PUT clock': [{}, { now: ['tomorrow', '9999-01-01T00:00:00Z', '1969-12-31T23:59:59Z'] }],
  'POST tokens': [{ user_id: 'u' }, { user_id: [7], expires_in: [-1, 1e12], admin: [true] }],
  'POST messages': [
    { ...TEXT, from: 'user' },
    {
      text: [undefined],
      type: ['video'],
      from: ['nobody'],
      created_at: ['2026-02-30T01:30:00'],
      message_id: ['mine'],
    },
  ],
  'PUT contract': [{}, { createStatus: [205], visibleAfterMs: ['2s'], forbidden: [''], preset: ['legasy'] }],
}
const ROWS: readonly Row[] = [
  ...Object.entries(VALUES).flatMap(([endpoint, [body, fields]]) =>
    Object.entries(fields).flatMap(([field, values]) =>
      values.map((value): Row => [endpoint, { ...body, [field]: value }, field]),
    ),
  ),
  ...[{}, null, { advance: '999999999d' }, { advance: '1h', now: '2026-07-01T12:00:00Z' }].map(
    (body): Row => ['PUT clock', body, 'body'],
  ),
  ['PUT clock', { advance: '36 hours' }, 'advance'],
  ['POST tokens', [], 'body'],
  ['POST messages', [], 'body'],
  ['PUT professionals', {}, 'body'],
  ['PUT professionals', [{ ...ONE, groups: 'gold' }], '0.groups'],
  ['PUT professionals', [{ ...ONE, professional_id: '' }], '0.professional_id'],
  ['PUT professionals', [{ ...ONE, schedules }], '0.schedules.0.end_first_period'],
  ['PUT professionals', [{ ...ONE, name: undefined }], '0.name'],
  ['PUT contract', { nulls: 1, names: 'none', numbers: 'text' }, 'names nulls'],
  ['PUT contract', '"lagging creat-204"', 'creat-204'],
  ['PUT contract', ['legacy'], 'body'],
  ['PUT contract', { '': 1 }, '""'],
  ['PUT faults', ['drop-before', 'PATCH'], '1.action.kind'],
  ['PUT faults', ['503 rate=2'], '0.rate'],
  ['PUT faults', [{ action: { kind: 'nothing' } }], '0.action.kind'],
  ['PUT faults', [{ action: { kind: 'status', status: 600 } }], '0.action.status'],
  ['PUT faults', [{ action: { kind: 'latency', minMs: 2, maxMs: 1 } }], '0.action'],
  ['PUT faults', [{ match: { userId: 1 }, action: { kind: 'drop-before' } }], '0.match.userId'],
  ['PUT faults', [{ match: { '': 1 }, action: { kind: 'drop-before' } }], '0.match.""'],
  ['PUT faults', '"drop-before"', 'body'],
  ['PUT faults', [null], '0'],
]

it.each(ROWS)('%s refuses %j: %s', async (endpoint, body, fields) => {
  const before = held()
  const { status, json } = await talk(sandbox, endpoint.replace(' ', ' /_sandbox/'), { body })
  const { error } = json as { error: { fields: object } }
  expect([status, Object.keys(error.fields).toSorted().join(' ')]).toEqual([422, fields])
  expect(JSON.stringify(json)).not.toContain('hello')
  expect(held()).toEqual(before)
})
