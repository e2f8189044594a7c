// docs/openapi.json against the sandbox over HTTP: what it says and what is answered are the same.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeOpenApi } from '../../../src/sandbox/openapi.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import { managedFields, rowOf, settingsFor } from '../../support/arbitrary.ts'
import { configOf, makeCustomer } from '../../support/pure-claims.ts'
import { runs } from '../../support/size.ts'
import { KEYS, HEADERS as S2S } from '../talk.ts'
import { compile, document, misfits, operations, pointers } from './reader.ts'
import { valuesOf } from './values.ts'

const OPENAPI_PATH = '/openapi.json'
const USERS = '/s2s/v1/users'
/** Registered at the start of each test; the `/` has to stay in its segment. */
const MEMBER = 'member/1'
const AT_MEMBER = `${USERS}/${encodeURIComponent(MEMBER)}`

const routes: { readonly method: string; readonly path: string }[] = []
let sandbox: Sandbox
let token: string

beforeAll(async () => {
  const name = 'fastify.initialization'
  const listen = (message: unknown) => {
    const { fastify } = message as { readonly fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, path }) => {
      for (const each of [method].flat()) routes.push({ method: each, path })
    })
  }
  subscribe(name, listen)
  sandbox = await startSandbox(KEYS)
  unsubscribe(name, listen)
})
afterAll(async () => {
  await sandbox.stop()
})
beforeEach(async () => {
  sandbox.users.clear()
  sandbox.conversations.clear()
  sandbox.contract.set({})
  sandbox.users.set(MEMBER, { status: 2, first_name: 'Ana', birthdate: '1984-02-29', gender: 1 })
  token = await sandbox.issueToken(MEMBER)
})

type Request = { readonly path: string; readonly headers?: Record<string, string>; readonly body?: unknown }

async function send(method: string, { path, headers = S2S, body }: Request) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await fetch(sandbox.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: text }),
  })
  const type = answer.headers.get('content-type') ?? ''
  return { status: answer.status, type, body: JSON.parse(await answer.text()) as unknown }
}

/** Another user has the address. */
const taken = (): Request => {
  sandbox.contract.set({ unique: 'email' })
  sandbox.users.set('other', { status: 2, email: 'a@correo.example' })
  return write(AT_MEMBER, { status: 2, email: 'a@correo.example' })
}

/** A room of the member with messages of every type; its id. */
function openRoom(): number {
  const professionalId = sandbox.professionals.all()[0]?.professional_id ?? ''
  const url = 'https://files.invalid/a'
  const { room } = sandbox.conversations.add({ userId: MEMBER, professionalId }, [
    { from: 'user', content: { type: 'text', text: 'hello' } },
    { from: 'professional', content: { type: 'file', file_url: url, file_name: 'a', file_size: '1' } },
    {
      from: 'professional',
      content: { type: 'image', image_url: url, image_thumb_url: url, image_width: '1', image_height: '1' },
    },
  ])
  return room.id
}

const chat = (path: string, headers = {}): Request => ({
  path,
  headers: { 'Api-Key': 'api', Authorization: `Bearer ${token}`, ...headers },
})
const shutOut = (path: string): Request => {
  sandbox.users.set(MEMBER, { status: 0 })
  return chat(path)
}
const forbidden = (request: Request): Request => {
  sandbox.contract.set({ forbidden: 'member' })
  return request
}
const gone = (request: Request): Request => {
  sandbox.contract.set({ unknownUser: 410 })
  return request
}
const write = (path: string, body: unknown, headers = S2S): Request => ({ path, body, headers })
const LARGE = `"${'x'.repeat(70_000)}"`
const NONE = `${USERS}/nobody`

type Cases = Readonly<Record<string, Readonly<Record<number, () => Request>>>>

const update = {
  200: () => write(AT_MEMBER, { status: 4, description: null, mobile_phone: '600000000' }),
  400: () => write(AT_MEMBER, '{'),
  401: () => write(AT_MEMBER, { status: 2 }, { ...S2S, 'Secret-Key': 'other' }),
  403: () => forbidden(write(AT_MEMBER, { status: 2 })),
  404: () => write(NONE, { status: 2 }),
  409: taken,
  410: () => gone(write(NONE, { status: 2 })),
  413: () => write(AT_MEMBER, LARGE),
  422: () => write(AT_MEMBER, { email: 'none' }),
}

/** How each answer that the document names is had. */
const CASES: Cases = {
  listMessages: {
    200: () => chat(`/chat/message?room=${openRoom()}&limit=2&older=true`),
    400: () => chat('/chat/message?limit=none'),
    401: () => chat('/chat/message?room=1', { Authorization: 'Bearer none' }),
    403: () => shutOut('/chat/message?room=1'),
    404: () => chat('/chat/message?room=0'),
  },
  listProfessionals: {
    200: () => {
      openRoom()
      return chat('/chat/professionals')
    },
    401: () => chat('/chat/professionals', { 'Api-Key': 'other' }),
    403: () => shutOut('/chat/professionals'),
  },
  createUser: {
    201: () => write(USERS, { user_id: 'new', status: 2, gender: 0, email: 'a@correo.example' }),
    400: () => write(USERS, '{'),
    401: () => write(USERS, {}, { ...S2S, 'Api-Key': 'other' }),
    403: () => forbidden(write(USERS, { user_id: 'member/2', status: 2 })),
    409: () => write(USERS, { user_id: MEMBER, status: 2 }),
    413: () => write(USERS, LARGE),
    422: () => write(USERS, { user_id: '..', status: 3, shoe: 1 }),
  },
  retrieveUser: {
    200: () => ({ path: AT_MEMBER }),
    400: () => ({ path: `${USERS}/%zz` }),
    401: () => ({ path: AT_MEMBER, headers: {} }),
    403: () => forbidden({ path: AT_MEMBER }),
    404: () => ({ path: NONE }),
    410: () => gone({ path: NONE }),
  },
  replaceUser: update,
  updateUser: update,
}

describe('what the document names is what is there', () => {
  it('every schema compiles, strictly', () => {
    expect(pointers.length).toBeGreaterThan(20)
    for (const pointer of pointers) expect(compile(pointer), pointer).toBeTypeOf('function')
  })

  it('every route is in it, and every operation is a route', () => {
    const own = (path: string) => path.startsWith('/_sandbox') || path === OPENAPI_PATH
    const served = routes.filter(({ path }) => !own(path)).map(({ method, path }) => `${method} ${path}`)
    const named = operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`)
    expect(served.sort()).toEqual(named.sort())
  })

  it('every answer that it names is tried here', () => {
    const named = operations.map(({ operation }) => [operation.operationId, Object.keys(operation.responses)])
    const tried = Object.entries(CASES).map(([id, byStatus]) => [id, Object.keys(byStatus)])
    expect(Object.fromEntries(tried)).toEqual(Object.fromEntries(named))
  })
})

describe.each(operations)('$operation.operationId', ({ method, path, operation }) => {
  const at = `#/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}/responses`

  it.each(Object.entries(CASES[operation.operationId] ?? {}))(
    'answers %s as it says',
    async (status, ask) => {
      const answer = await send(method, ask())
      expect(answer).toMatchObject({
        status: Number(status),
        type: expect.stringMatching(/^application\/json/),
      })
      const named = operation.responses[status]?.$ref ?? `${at}/${status}`
      expect(misfits(`${named}/content/application~1json/schema`, answer.body)).toEqual([])
    },
  )
})

describe('what fits the document is taken', () => {
  it('every body that the schema of a create allows', async () => {
    await fc.assert(
      fc.asyncProperty(valuesOf(schemaOf('CreateUser')), async (body) => {
        sandbox.users.clear()
        expect((await send('POST', { path: USERS, body })).status, JSON.stringify(body)).toBe(201)
      }),
      { numRuns: runs(200) },
    )
  })

  it.each(['PUT', 'PATCH'])('every body that the schema of an update allows: %s', async (method) => {
    await fc.assert(
      fc.asyncProperty(valuesOf(schemaOf('UpdateUser')), async (body) => {
        const answer = await send(method, { path: AT_MEMBER, body })
        expect(answer.status, JSON.stringify(body)).toBe(200)
        expect(misfits('#/components/schemas/User', answer.body)).toEqual([])
      }),
      { numRuns: runs(200) },
    )
  })
})

it.each([
  { first_name: '\ud800' },
  { first_name: 'a\u0000' },
  { user_id: '\udc00' },
  { email: 'a@c.123' },
  { email: 'a@c' },
  { email: `${'a'.repeat(65)}@correo.example` },
])(
  'what the sandbox refuses although it is a text of the right kind does not fit the document either: %j',
  async (fields) => {
    const body = { user_id: 'u', status: 2, ...fields }
    expect((await send('POST', { path: USERS, body })).status).toBe(422)
    expect(misfits('#/components/schemas/CreateUser', body)).not.toEqual([])
  },
)

it('GET /openapi.json is the document with the address of the sandbox as its server, for any caller, and not in the journal', async () => {
  sandbox.journal.clear()
  const answer = await fetch(sandbox.url + OPENAPI_PATH)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  expect(await answer.json()).toEqual(makeOpenApi(sandbox.url))
  expect(sandbox.journal.list()).toEqual([])
})

it('every body that rollcall creates or updates a user with fits the document', async () => {
  const configured = managedFields.chain((fields) =>
    settingsFor(fields).map((settings) => configOf(fields, settings)),
  )
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(configured, fc.array(rowOf(), { minLength: 1, maxLength: 4 }), async (config, rows) => {
      const customer = makeCustomer({ config })
      for (const row of rows) {
        customer.row = row
        await customer.claim()
      }
      for (const { method, body } of customer.service.calls) {
        if (body === null || body === undefined) continue
        seen.add(method)
        const name = method === 'POST' ? 'CreateUser' : 'UpdateUser'
        expect(misfits(`#/components/schemas/${name}`, body), JSON.stringify(body)).toEqual([])
      }
    }),
    { numRuns: 300 },
  )
  expect([...seen].sort()).toEqual(['PATCH', 'POST', 'PUT'])
})

function schemaOf(name: string) {
  return document.components.schemas[name] ?? expect.fail(`there is no schema ${name}`)
}
