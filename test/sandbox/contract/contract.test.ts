// Every value of every dimension, as a caller sees it. The table is complete by construction: a dimension without an
// entry does not compile, and a value without a case fails.
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Contract,
  type ContractInput,
  choicesOf,
  contract,
  DIMENSIONS,
  type Dimension,
  DOCUMENTED,
} from '../../../src/sandbox/contract/contract.ts'
import { ofFile } from '../../support/of-file.ts'
import { jsonOf, type Seen, startService } from './service.ts'

const to = ofFile(startService)
beforeEach(() => to.reset())

const FIELDS = {
  email: 'Ana.Gil@Example.com',
  gender: 0,
  mobile_phone: '612345678',
  mobile_phone_prefix: '34',
  description: null,
}
const NEW = { user_id: 'v', status: 2 }

type Json = Readonly<Record<string, unknown>>
const create = () => to.create({ user_id: 'u', status: 2, ...FIELDS })
const known = () => to.sandbox.users.set('u', { status: 2, ...FIELDS })
const held = () => to.sandbox.users.get('u')
const shown = async () => jsonOf(await to.retrieve('u')) as Json
const chatStatus = async () => (await to.chat('u', '/chat/professionals')).status

/** Status and body; error bodies by their code and the fields that they name. */
async function said(answer: Promise<Seen>): Promise<unknown> {
  const seen = await answer
  if (!seen.type?.startsWith('application/json')) return [seen.status, seen.text]
  const json = jsonOf(seen) as { error?: { code?: string; fields: object } } | null
  return [seen.status, ...(json?.error?.code ? [json.error.code, ...Object.keys(json.error.fields)] : [json])]
}
const HTML = [400, '<!doctype html><title>400 Bad Request</title>']
const OPAQUE = [400, { error: 'Bad Request' }]

/** A trial of a second that is over: what a GET shows, what the sandbox holds, and whether chat lets in. */
async function afterTrial(): Promise<unknown> {
  await to.create({ user_id: 'u', status: 4 })
  const during = [await chatStatus(), (await shown()).status]
  to.sandbox.clock.advance(1000)
  return [...during, await chatStatus(), (await shown()).status, held()?.status]
}

/** A room, as the list of professionals shows it. */
async function room() {
  known()
  const professionalId = to.sandbox.professionals.all()[0]?.professional_id ?? ''
  const hello = { from: 'user', content: { type: 'text', text: 'hello' } } as const
  to.sandbox.conversations.add({ userId: 'u', professionalId }, [hello])
  const [first] = jsonOf(await to.chat('u', '/chat/professionals')) as { room: { id: unknown } }[]
  return first?.room.id
}

type Case<Value> = readonly [given: Value, expected: unknown, besides?: ContractInput]
type Cases = {
  readonly [D in Dimension]: { see: () => Promise<unknown>; cases: readonly Case<Contract[D]>[] }
}

const CASES: Cases = {
  createStatus: {
    see: async () => [(await create()).status, held()?.email],
    cases: [200, 201, 202, 204].map((status) => [status as 200, [status, FIELDS.email]]),
  },
  createBody: {
    see: () => said(create()),
    cases: [
      ['user', [201, expect.objectContaining({ user_id: 'u', status: 2, mobile_phone: '34612345678' })]],
      ['none', [201, '']],
      ['ok', [201, { ok: true }]],
      ['ok', [204, ''], { createStatus: 204 }],
      ['id', [201, { user_id: 'u' }]],
    ],
  },
  updateStatus: {
    see: async () => {
      known()
      const answers = [await to.update('u', { status: 2 }), await to.replace('u', { status: 0 })]
      return [...answers.map(({ status }) => status), held()?.email]
    },
    cases: [200, 202, 204].map((status) => [status as 200, [status, status, null]]),
  },
  updateBody: {
    see: async () => {
      known()
      return [await said(to.update('u', { status: 0 })), await said(to.replace('u', { status: 0 }))]
    },
    cases: [
      ['user', [0, 0].map((status) => [200, expect.objectContaining({ user_id: 'u', status })])],
      ['none', [0, 0].map(() => [200, ''])],
      ['ok', [0, 0].map(() => [200, { ok: true }])],
      ['null', [0, 0].map(() => [200, null])],
    ],
  },
  duplicate: {
    see: async () => {
      known()
      return [await said(to.create({ user_id: 'u', status: 0, email: 'b@example.com' })), held()?.email]
    },
    cases: [
      [409, [[409, 'conflict'], FIELDS.email]],
      [422, [[422, 'invalid', 'user_id'], FIELDS.email]],
      [400, [OPAQUE, FIELDS.email]],
      [400, [HTML, FIELDS.email], { refusal: 'html' }],
      ['upsert', [[202, { user_id: 'u' }], 'b@example.com'], { createStatus: 202, createBody: 'id' }],
    ],
  },
  unknownUser: {
    see: async () => [
      await said(to.retrieve('nobody')),
      await said(to.replace('nobody', { status: 2 })),
      await said(to.update('nobody', { status: 2 })),
      to.sandbox.users.size,
    ],
    cases: [
      [404, [...[0, 0, 0].map(() => [404, 'not_found']), 0]],
      [410, [...[0, 0, 0].map(() => [410, 'not_found']), 0]],
      ['null', [...[0, 0, 0].map(() => [200, null]), 0]],
    ],
  },
  refusal: {
    see: async () => {
      known()
      return [
        await said(to.create({ user_id: 'v', status: 3 })),
        await said(to.replace('u', { email: 'none' })),
        await said(to.update('u', { status: 2, shoe: 1 })),
        to.sandbox.users.size,
      ]
    },
    cases: [
      [
        'details',
        [[422, 'invalid', 'status'], [422, 'invalid', 'status', 'email'], [422, 'invalid', 'shoe'], 1],
      ],
      ['opaque', [OPAQUE, OPAQUE, OPAQUE, 1]],
      ['html', [HTML, HTML, HTML, 1]],
    ],
  },
  refuses: {
    see: async () => {
      known()
      return [
        (await to.create({ ...NEW, description: 'a note' })).status,
        (await to.update('u', { status: 0, description: 'a note' })).status,
        (await to.replace('u', { status: 0, description: null })).status,
        to.sandbox.users.size,
      ]
    },
    cases: [
      ['nothing', [201, 200, 200, 2]],
      ['description', [422, 422, 200, 1]],
    ],
  },
  unique: {
    see: async () => {
      to.sandbox.users.set('v', { status: 2, email: 'Luis@Example.com' })
      known()
      return [
        (await said(to.update('u', { status: 2, email: 'luis@example.com' })).then(String)).slice(0, 18),
        (await to.create({ user_id: 'w', status: 2, email: 'luis@example.com' })).status,
        (await to.replace('u', { status: 2, email: FIELDS.email })).status,
        (await to.update('v', { status: 2, email: null })).status,
        (await to.update('u', { status: 2, email: 'luis@example.com' })).status,
      ]
    },
    cases: [
      ['nothing', [expect.stringMatching(/^200/), 201, 200, 200, 200]],
      ['email', ['409,conflict,email', 409, 200, 200, 200]],
    ],
  },
  nulls: {
    see: async () => {
      known()
      const user = await shown()
      return [Object.hasOwn(user, 'birthdate'), user.birthdate, user.description, user.gender]
    },
    cases: [
      ['null', [true, null, null, 0]],
      ['absent', [false, undefined, undefined, 0]],
      ['empty', [true, '', '', 0]],
    ],
  },
  numbers: {
    see: async () => {
      known()
      const { status, gender, birthdate } = await shown()
      return [status, gender, birthdate]
    },
    cases: [
      ['number', [2, 0, null]],
      ['text', ['2', '0', null]],
    ],
  },
  visibleAfterMs: {
    see: async () => {
      await create()
      const first = (await to.retrieve('u')).status
      const again = (await create()).status
      to.sandbox.clock.advance(1000)
      await to.update('u', { status: 0 })
      const before = [(await shown()).status, held()?.status]
      to.sandbox.clock.advance(1000)
      return [first, again, ...before, (await shown()).status]
    },
    cases: [
      [0, [200, 409, 0, 0, 0]],
      [1000, [404, 409, 2, 0, 0]],
    ],
  },
  forbidden: {
    see: async () => {
      to.sandbox.users.set('un-wanted', { status: 2 })
      const calls = [
        to.create({ user_id: 'wanted', status: 2 }),
        to.create({ user_id: 'also-wanted', status: 9 }),
        to.retrieve('un-wanted'),
        to.replace('un-wanted', { status: 0 }),
        to.update('nobody-wanted', { status: 0 }),
        to.retrieve('other'),
        fetch(`${to.sandbox.url}/s2s/v1/users/un-wanted`),
      ]
      return [(await Promise.all(calls)).map(({ status }) => status), to.sandbox.users.size]
    },
    cases: [
      ['wanted', [[403, 403, 403, 403, 403, 404, 401], 1]],
      [null, [[201, 422, 200, 200, 404, 404, 401], 2]],
    ],
  },
  trialMs: {
    see: async () => {
      await to.create({ user_id: 'u', status: 4 })
      to.sandbox.clock.advance(999)
      const before = (await shown()).status
      to.sandbox.clock.advance(1)
      return [before, (await shown()).status]
    },
    cases: [
      [1000, [4, 0]],
      [DOCUMENTED.trialMs, [4, 4]],
    ],
  },
  trialEnd: {
    see: afterTrial,
    cases: [
      ['flips', [200, 4, 403, 0, 0], { trialMs: 1000 }],
      ['stays', [200, 4, 403, 4, 4], { trialMs: 1000 }],
    ],
  },
  trialAgain: {
    see: async () => {
      await afterTrial()
      await to.update('u', { status: 2 })
      const premium = await chatStatus()
      await to.update('u', { status: 4 })
      return [premium, (await shown()).status, await chatStatus(), to.sandbox.users.access('u')]
    },
    cases: [
      ['continues', [200, 0, 403, 'trial-over'], { trialMs: 1000 }],
      ['continues', [200, 4, 403, 'trial-over'], { trialMs: 1000, trialEnd: 'stays' }],
      ['restarts', [200, 4, 200, 'trial'], { trialMs: 1000 }],
    ],
  },
  email: {
    see: async () => jsonOf(await create()),
    cases: [
      ['kept', expect.objectContaining({ email: 'Ana.Gil@Example.com' })],
      ['lower-case', expect.objectContaining({ email: 'ana.gil@example.com' })],
    ],
  },
  phone: {
    see: async () => {
      known()
      return shown()
    },
    cases: [
      ['joined', expect.objectContaining({ mobile_phone: '34612345678', mobile_phone_prefix: '34' })],
      ['kept', expect.objectContaining({ mobile_phone: '612345678', mobile_phone_prefix: '34' })],
      ['formatted', expect.objectContaining({ mobile_phone: '+34 612 345 678', mobile_phone_prefix: '34' })],
    ],
  },
  names: {
    see: async () => {
      known()
      const [first] = jsonOf(await to.chat('u', '/chat/professionals')) as object[]
      return Object.keys(first ?? {}).filter((name) => /photo|avatar|speciality/.test(name))
    },
    cases: [
      ['table', ['photo', 'speciality_id']],
      ['sample', ['avatar', 'speciality']],
    ],
  },
  roomId: {
    see: async () => typeof (await room()),
    cases: [
      ['number', 'number'],
      ['text', 'string'],
    ],
  },
}

describe.each(DIMENSIONS)('%s', (dimension) => {
  const { see, cases }: { see: () => Promise<unknown>; cases: readonly Case<unknown>[] } = CASES[dimension]

  it.each(cases.map(([given, expected, besides]) => ({ given, expected, besides })))(
    '$given',
    async ({ given, expected, besides }) => {
      to.sandbox.contract.set(contract.parse({ ...besides, [dimension]: given }))
      expect(await see()).toEqual(expected)
    },
  )

  it('has a case for every value', () => {
    const given = new Set(cases.map(([value]) => value))
    const choices = choicesOf(dimension)
    // Without a list of choices: the default and another value.
    if (choices === null) expect([given.has(DOCUMENTED[dimension]), given.size > 1]).toEqual([true, true])
    else expect(given).toEqual(new Set(choices))
  })
})

it('what is edited behind rollcall is shown at once', async () => {
  to.sandbox.contract.set({ visibleAfterMs: 1000 })
  await create()
  to.sandbox.users.edit('u', { first_name: 'Eva' })
  expect(await shown()).toMatchObject({ first_name: 'Eva', email: FIELDS.email })
  await to.update('u', { status: 0 })
  expect(await shown()).toMatchObject({ status: 2 })
  to.sandbox.users.delete('u')
  await create()
  expect((await to.retrieve('u')).status).toBe(404)
})
