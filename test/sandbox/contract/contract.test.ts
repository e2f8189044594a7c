// Every value of every dimension, as a caller sees it. The table is complete by construction: a dimension without an
// entry does not compile, and a value without a case fails.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Contract,
  type ContractInput,
  choicesOf,
  contract,
  DIMENSIONS,
  type Dimension,
  DOCUMENTED,
  makeContract,
} from '../../../src/sandbox/contract/contract.ts'
import type { UserEdit } from '../../../src/sandbox/users/users.ts'
import { jsonOf, type Seen, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(() => service.reset())

const FIELDS = {
  email: 'Ana.Gil@Example.com',
  gender: 0,
  mobile_phone: '612345678',
  mobile_phone_prefix: '34',
  description: null,
} satisfies UserEdit

/** What is seen of it depends on the value. */
type Case<Value> = {
  readonly given: Value
  readonly besides?: ContractInput
  readonly see: (service: Service) => Promise<unknown>
  readonly expected: unknown
}
type Cases = { readonly [D in Dimension]: readonly Case<Contract[D]>[] }

/** The same look at each value. */
function each<Value>(
  see: (service: Service) => Promise<unknown>,
  ...values: readonly (readonly [given: Value, expected: unknown])[]
): Case<Value>[] {
  return values.map(([given, expected]) => ({ given, see, expected }))
}

const statusOf = ({ status }: Seen) => status
const create = ({ create }: Service) => create({ user_id: 'u', status: 2, ...FIELDS })
const known = ({ sandbox }: Service) => sandbox.users.set('u', { status: 2, ...FIELDS })

async function shown(to: Service): Promise<Record<string, unknown>> {
  known(to)
  return jsonOf(await to.retrieve('u')) as Record<string, unknown>
}

async function bodyOf(answer: Promise<Seen>): Promise<unknown> {
  return jsonOf(await answer)
}

/** Error bodies by their code; what says nothing by itself. */
async function refusal(answer: Promise<Seen>): Promise<unknown> {
  const seen = await answer
  if (!seen.type?.startsWith('application/json')) return [seen.status, seen.type, seen.text]
  const json = jsonOf(seen) as { error?: { code?: string; fields?: object } } | null
  return [seen.status, json?.error?.code ?? json, Object.keys(json?.error?.fields ?? {})]
}

const HTML = [400, 'text/html', '<!doctype html><title>400 Bad Request</title>']
const OPAQUE = [400, { error: 'Bad Request' }, []]

/** A trial of a second that is over: what a GET shows, what the sandbox holds, and whether chat lets in. */
async function afterTrial(to: Service): Promise<unknown> {
  await to.create({ user_id: 'u', status: 4 })
  const during = [await chatStatus(to), (await userShown(to)).status]
  to.sandbox.clock.advance(1000)
  return [...during, await chatStatus(to), (await userShown(to)).status, to.sandbox.users.get('u')?.status]
}

async function userShown({ retrieve }: Service): Promise<Record<string, unknown>> {
  return jsonOf(await retrieve('u')) as Record<string, unknown>
}

const chatStatus = ({ chat }: Service) => chat('u', '/chat/professionals').then(statusOf)

async function room(to: Service): Promise<{ id: unknown; pages: (query: string) => Promise<string[]> }> {
  known(to)
  const [professional] = to.sandbox.professionals.all()
  const pair = { userId: 'u', professionalId: professional?.professional_id ?? '' }
  const said = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
  to.sandbox.conversations.add(
    pair,
    said.map((text) => ({ from: 'professional', status: 'sent', content: { type: 'text', text } })),
  )
  const list = jsonOf(await to.chat('u', '/chat/professionals')) as { room: { id: unknown } | null }[]
  const id = list.find(({ room }) => room !== null)?.room?.id
  const pages = async (query: string) => {
    const page = jsonOf(await to.chat('u', `/chat/message?room=${id}${query}`)) as { text: string }[]
    return page.map(({ text }) => text)
  }
  return { id, pages }
}

async function professionalFields(to: Service): Promise<unknown> {
  known(to)
  const [first] = jsonOf(await to.chat('u', '/chat/professionals')) as object[]
  return Object.keys(first ?? {}).filter((name) => /photo|avatar|speciality/.test(name))
}

async function around(to: Service): Promise<unknown> {
  const { id, pages } = await room(to)
  const third = to.sandbox.conversations.room(Number(id))?.messages[2]?.message_id
  return [
    await pages(`&pivot=${third}&older=true&limit=1`),
    await pages(`&pivot=${third}&older=false&limit=1`),
  ]
}

const CASES: Cases = {
  createStatus: each((to) => create(to).then(statusOf), [200, 200], [201, 201], [202, 202], [204, 204]),
  createBody: each(
    (to) => bodyOf(create(to)),
    ['user', expect.objectContaining({ user_id: 'u', status: 2, mobile_phone: '34612345678' })],
    ['none', undefined],
    ['ok', { ok: true }],
    ['id', { user_id: 'u' }],
  ),
  updateStatus: each(
    async (to) => {
      known(to)
      return [await to.update('u', { status: 2 }), await to.replace('u', { status: 2 })].map(statusOf)
    },
    [200, [200, 200]],
    [202, [202, 202]],
    [204, [204, 204]],
  ),
  updateBody: each(
    async (to) => {
      known(to)
      return [await bodyOf(to.update('u', { status: 0 })), await bodyOf(to.replace('u', { status: 0 }))]
    },
    ['user', [0, 0].map((status) => expect.objectContaining({ user_id: 'u', status }))],
    ['none', [undefined, undefined]],
    ['ok', [{ ok: true }, { ok: true }]],
    ['null', [null, null]],
  ),
  duplicate: [
    ...each<Contract['duplicate']>(
      async (to) => {
        known(to)
        const answer = await refusal(to.create({ user_id: 'u', status: 0, email: 'b@example.com' }))
        return [answer, to.sandbox.users.get('u')?.email]
      },
      [409, [[409, 'conflict', []], FIELDS.email]],
      [422, [[422, 'invalid', ['user_id']], FIELDS.email]],
      [400, [OPAQUE, FIELDS.email]],
    ),
    {
      given: 400,
      besides: { refusal: 'html' },
      see: async (to) => refusal(create(to).then(() => create(to))),
      expected: HTML,
    },
    {
      given: 'upsert',
      besides: { createStatus: 202, createBody: 'id' },
      see: async (to) => {
        known(to)
        const answer = await to.create({ user_id: 'u', status: 4, email: 'b@example.com' })
        const { email, gender, status } = to.sandbox.users.get('u') ?? {}
        return [answer.status, jsonOf(answer), { email, gender, status }]
      },
      expected: [202, { user_id: 'u' }, { email: 'b@example.com', gender: null, status: 4 }],
    },
  ],
  unknownUser: each<Contract['unknownUser']>(
    async (to) => {
      const answers = [
        await refusal(to.retrieve('nobody')),
        await refusal(to.replace('nobody', { status: 2 })),
        await refusal(to.update('nobody', { status: 2 })),
      ]
      return [new Set(answers.map((answer) => JSON.stringify(answer))), to.sandbox.users.size]
    },
    [404, [new Set(['[404,"not_found",[]]']), 0]],
    [410, [new Set(['[410,"not_found",[]]']), 0]],
    ['null', [new Set(['[200,null,[]]']), 0]],
  ),
  refusal: each(
    async (to) => {
      known(to)
      return [
        await refusal(to.create({ user_id: 'v', status: 3 })),
        await refusal(to.replace('u', { email: 'none' })),
        await refusal(to.update('u', { status: 2, shoe: 1 })),
        to.sandbox.users.size,
      ]
    },
    [
      'details',
      [[422, 'invalid', ['status']], [422, 'invalid', ['status', 'email']], [422, 'invalid', ['shoe']], 1],
    ],
    ['opaque', [OPAQUE, OPAQUE, OPAQUE, 1]],
    ['html', [HTML, HTML, HTML, 1]],
  ),
  refuses: each(
    async (to) => {
      const user = { user_id: 'v', status: 2, description: 'a note' }
      known(to)
      const taken = await to.update('u', { status: 0, description: 'a note' })
      return [
        (await to.create(user)).status,
        taken.status,
        Object.keys((jsonOf(taken) as { error?: { fields: object } }).error?.fields ?? {}),
        (await to.replace('u', { status: 0, description: null })).status,
        to.sandbox.users.size,
      ]
    },
    ['nothing', [201, 200, [], 200, 2]],
    ['description', [422, 422, ['description'], 200, 1]],
  ),
  unique: each(
    async (to) => {
      to.sandbox.users.set('v', { status: 2, email: 'Luis@Example.com' })
      known(to)
      const taken = await to.update('u', { status: 2, email: 'luis@example.com' })
      return [
        taken.status,
        Object.keys((jsonOf(taken) as { error?: { fields: object } }).error?.fields ?? {}),
        (await to.create({ user_id: 'w', status: 2, email: 'luis@example.com' })).status,
        (await to.replace('u', { status: 2, email: FIELDS.email })).status,
        (await to.update('v', { status: 2, email: null })).status,
        (await to.update('u', { status: 2, email: 'luis@example.com' })).status,
      ]
    },
    ['nothing', [200, [], 201, 200, 200, 200]],
    ['email', [409, ['email'], 409, 200, 200, 200]],
  ),
  nulls: each(
    async (to) => {
      const user = await shown(to)
      return [Object.hasOwn(user, 'birthdate'), user.birthdate, user.description, user.gender]
    },
    ['null', [true, null, null, 0]],
    ['absent', [false, undefined, undefined, 0]],
    ['empty', [true, '', '', 0]],
  ),
  numbers: each(
    async (to) => {
      const { status, gender, birthdate } = await shown(to)
      return [status, gender, birthdate]
    },
    ['number', [2, 0, null]],
    ['text', ['2', '0', null]],
  ),
  visibleAfterMs: each(
    async (to) => {
      const looks = []
      await create(to)
      looks.push((await to.retrieve('u')).status)
      to.sandbox.clock.advance(1000)
      looks.push((await to.retrieve('u')).status)
      await to.update('u', { status: 0 })
      looks.push((await userShown(to)).status, to.sandbox.users.get('u')?.status)
      to.sandbox.clock.advance(1000)
      return [...looks, (await userShown(to)).status]
    },
    [0, [200, 200, 0, 0, 0]],
    [1000, [404, 200, 2, 0, 0]],
  ),
  forbidden: each(
    async (to) => {
      to.sandbox.users.set('un-wanted', { status: 2 })
      const calls = [
        to.create({ user_id: 'wanted', status: 2 }),
        to.create({ user_id: 'also-wanted', status: 9 }),
        to.retrieve('un-wanted'),
        to.replace('un-wanted', { status: 0 }),
        to.update('nobody-wanted', { status: 0 }),
        to.retrieve('other'),
      ]
      const answers = (await Promise.all(calls)).map(statusOf)
      return [answers, to.sandbox.users.size, to.sandbox.users.get('un-wanted')?.status]
    },
    ['wanted', [[403, 403, 403, 403, 403, 404], 1, 2]],
    [null, [[201, 422, 200, 200, 404, 404], 2, 0]],
  ),
  trialMs: each(
    async (to) => {
      await to.create({ user_id: 'u', status: 4 })
      to.sandbox.clock.advance(999)
      const before = (await userShown(to)).status
      to.sandbox.clock.advance(1)
      return [before, (await userShown(to)).status]
    },
    [1000, [4, 0]],
    [DOCUMENTED.trialMs, [4, 4]],
  ),
  trialEnd: [
    { given: 'flips', besides: { trialMs: 1000 }, see: afterTrial, expected: [200, 4, 403, 0, 0] },
    { given: 'stays', besides: { trialMs: 1000 }, see: afterTrial, expected: [200, 4, 403, 4, 4] },
  ],
  trialAgain: (
    [
      ['continues', 'flips', [0, 403, 'trial-over']],
      ['continues', 'stays', [4, 403, 'trial-over']],
      ['restarts', 'flips', [4, 200, 'trial']],
      ['restarts', 'stays', [4, 200, 'trial']],
    ] as const
  ).map(([given, trialEnd, expected]) => ({
    given,
    besides: { trialMs: 1000, trialEnd },
    see: async (to) => {
      await afterTrial(to)
      await to.update('u', { status: 2 })
      expect(await chatStatus(to)).toBe(200)
      await to.update('u', { status: 4, email: 'b@example.com' })
      expect(await userShown(to)).toMatchObject({ email: 'b@example.com' })
      return [(await userShown(to)).status, await chatStatus(to), to.sandbox.users.access('u')]
    },
    expected,
  })),
  email: each(
    async (to) => (await shown(to)).email,
    ['kept', 'Ana.Gil@Example.com'],
    ['lower-case', 'ana.gil@example.com'],
  ),
  phone: each(
    async (to) => {
      const { mobile_phone: number, mobile_phone_prefix: prefix } = await shown(to)
      return [number, prefix]
    },
    ['joined', ['34612345678', '34']],
    ['kept', ['612345678', '34']],
    ['formatted', ['+34 612 345 678', '34']],
  ),
  names: each(
    professionalFields,
    ['table', ['photo', 'speciality_id']],
    ['sample', ['avatar', 'speciality']],
  ),
  roomId: each(async (to) => typeof (await room(to)).id, ['number', 'number'], ['text', 'string']),
  order: each(
    async (to) => (await room(to)).pages('&limit=8'),
    ['oldest-first', ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']],
    ['newest-first', ['eight', 'seven', 'six', 'five', 'four', 'three', 'two', 'one']],
    ['shuffled', expect.toSatisfy(isShuffled)],
  ),
  pivot: each(
    around,
    ['excluded', [['two'], ['four']]],
    [
      'included',
      [
        ['two', 'three'],
        ['three', 'four'],
      ],
    ],
  ),
}

function isShuffled(texts: readonly string[]): boolean {
  const order = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
  const at = texts.map((text) => order.indexOf(text))
  const inOrder = [at.toSorted((a, b) => a - b), at.toSorted((a, b) => b - a)]
  return new Set(at).size === 8 && inOrder.every((sorted) => String(sorted) !== String(at))
}

describe.each(DIMENSIONS)('%s', (dimension) => {
  const cases: readonly Case<unknown>[] = CASES[dimension]

  it.each(cases.map(({ given, ...rest }) => [String(given), given, rest] as const))(
    '%s',
    async (_name, given, { besides, see, expected }) => {
      service.sandbox.contract.set(contract.parse({ ...besides, [dimension]: given }))
      expect(await see(service)).toEqual(expected)
    },
  )

  it('has a case for every value', () => {
    const given = new Set(cases.map((each) => each.given))
    const choices = choicesOf(dimension)
    if (choices !== null) expect(given).toEqual(new Set(choices))
    // Of endless values: the default and another one.
    else {
      expect(given.has(DOCUMENTED[dimension])).toBe(true)
      expect(given.size).toBeGreaterThan(1)
    }
  })
})

describe('the contract', () => {
  it('has no dimension that is in no list', () => {
    const names = Object.keys(contract.shape).sort()
    expect(Object.keys(CASES).sort()).toEqual(names)
    for (const { description } of Object.values(contract.shape)) expect(description).toBeTruthy()
  })

  it('that is malformed changes nothing', () => {
    const live = makeContract({ createStatus: 204 })
    expect(() => live.set({ createStatus: 500 } as never)).toThrow()
    expect(() => live.set({ shoe: 1 } as never)).toThrow()
    expect(live.now).toEqual({ ...DOCUMENTED, createStatus: 204 })
  })
})

describe('delayed visibility', () => {
  beforeEach(() => service.sandbox.contract.set({ visibleAfterMs: 1000 }))

  it('concerns GETs alone: a second create of a user who is not shown yet is one of an existing user', async () => {
    await create(service)
    expect((await service.retrieve('u')).status).toBe(404)
    expect((await create(service)).status).toBe(409)
    expect(jsonOf(await service.update('u', { status: 0 }))).toMatchObject({ status: 0, email: FIELDS.email })
  })

  it('is none for what is edited behind rollcall', async () => {
    await create(service)
    service.sandbox.users.edit('u', { first_name: 'Eva' })
    expect(await userShown(service)).toMatchObject({ first_name: 'Eva', email: FIELDS.email })
    await service.update('u', { status: 0 })
    expect(await userShown(service)).toMatchObject({ status: 2 })
    service.sandbox.users.delete('u')
    expect((await service.retrieve('u')).status).toBe(404)
    await create(service)
    expect((await service.retrieve('u')).status).toBe(404)
  })

  it('lets a trial end in time, also in a state that is shown late', async () => {
    service.sandbox.contract.set({ visibleAfterMs: 10_000, trialMs: 1000 })
    await service.create({ user_id: 'u', status: 4 })
    service.sandbox.clock.advance(10_000)
    await service.update('u', { status: 2 })
    expect(await userShown(service)).toMatchObject({ status: 0 })
  })
})
