import { inspect } from 'node:util'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { MAX_LIST_BYTES } from '../../src/service/chat-client.ts'
import { AnswerError } from '../../src/service/chat-read.ts'
import { MAX_ANSWER_BYTES } from '../../src/service/http.ts'
import { type ChatServer, makeChat, startChatServer, TOKENS } from './chat-server.ts'
import { KEYS, makeClient } from './pair.ts'

const WRITTEN = 'written in confidence'
const MESSAGE = {
  ...{ from_user_id: 'a', to_user_id: 'b', room_id: 7, message_id: 'm1', status: 'read', type: 'text' },
  ...{ text: WRITTEN, created_at: '2026-03-29T01:30:00' },
}

let server: ChatServer
beforeEach(async () => {
  server = await startChatServer()
  return () => server[Symbol.asyncDispose]()
})

function chat(options: Partial<Parameters<typeof makeChat>[0]> = {}) {
  const client = makeChat({ origin: server.url, ...options })
  onTestFinished(client.close)
  return client
}

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.fail('was answered'),
    (error: unknown) => error,
  )

describe('credentials (section 5)', () => {
  it('chat carries Api-Key, Bearer token and Accept; no Content-Type and no Secret-Key', async () => {
    const client = chat()
    await client.listProfessionals()
    await client.listMessages({ room: 7 })
    expect(server.requests).toHaveLength(2)
    for (const { method, headers } of server.requests) {
      expect(method).toBe('GET')
      expect(headers).toEqual({
        host: expect.any(String),
        connection: 'keep-alive',
        accept: 'application/json',
        'api-key': TOKENS.apiKey,
        authorization: `Bearer ${TOKENS.accessToken}`,
        'user-agent': 'rollcall',
        'accept-encoding': 'identity',
      })
    }
  })

  it('server-to-server carries Secret-Key, and never an Authorization', async () => {
    const users = makeClient({ origin: server.url })
    onTestFinished(users.close)
    await users.createUser({ user_id: 'u', status: 2 })
    await users.retrieveUser('u')
    await users.replaceUser('u', { status: 2 })
    await users.updateUser('u', { status: 2 })
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'PUT', 'PATCH'])
    for (const { method, headers } of server.requests) {
      const { 'content-length': length, ...others } = headers
      expect(others, method).toEqual({
        host: expect.any(String),
        connection: 'keep-alive',
        accept: 'application/json',
        'content-type': 'application/json',
        'api-key': KEYS.apiKey,
        'secret-key': KEYS.secretKey,
        'user-agent': 'rollcall',
        'accept-encoding': 'identity',
      })
      expect(length === undefined).toBe(method === 'GET')
    }
  })

  it('plain http to elsewhere is refused', () => {
    expect(() => chat({ origin: 'http://service.example' })).toThrowError(
      expect.objectContaining({ code: 'SERVICE_INSECURE' }),
    )
  })
})

describe('answers', () => {
  it('an array is a list, what cannot be read in it is counted', async () => {
    server.answer = () => ({ body: [MESSAGE, null, {}] })
    const { items, unreadable } = await chat().listMessages({ room: 7 })
    expect(items).toMatchObject([{ kind: 'text', roomId: '7', createdAt: new Date('2026-03-29T01:30:00Z') }])
    expect(unreadable).toBe(2)
    server.answer = () => ({
      status: 203,
      headers: { 'content-type': 'text/plain' },
      body: [{ professional_id: 1 }],
    })
    expect((await chat().listProfessionals()).items).toMatchObject([{ professionalId: '1', room: null }])
  })

  it.each<[string, unknown, number]>([
    ['a wrapped list', { data: [MESSAGE] }, 200],
    ['null', null, 200],
    ['nothing', '', 204],
    ['HTML', `<p>${WRITTEN}</p>`, 200],
  ])('%s is unreadable', async (_name, body, status) => {
    server.answer = () => ({ status, body })
    const client = chat()
    const calls = [client.listMessages({ room: 7 }), client.listProfessionals()]
    for (const error of await Promise.all(calls.map(failure))) {
      expect(error).toBeInstanceOf(AnswerError)
      expect(error).toMatchObject({ name: 'AnswerError', kind: 'unreadable', status })
      expect(error).not.toHaveProperty('retryAfterMs')
    }
  })

  it.each([301, 401, 429, 503])('%i is refused, even with a list in it', async (status) => {
    server.answer = () => ({ status, headers: { 'retry-after': '7' }, body: [MESSAGE] })
    const error = await failure(chat().listMessages({ room: 7 }))
    expect(error).toMatchObject({ name: 'AnswerError', kind: 'refused', status, retryAfterMs: 7000 })
    expect(server.requests).toHaveLength(1)
  })

  it('no error shows a token, a key or what was written, however it is printed', async () => {
    const errors = []
    for (const status of [200, 500]) {
      server.answer = () => ({ status, body: { message: WRITTEN } })
      errors.push(await failure(chat().listMessages({ room: 7, pivot: 'pivot-of-the-test' })))
    }
    await server[Symbol.asyncDispose]()
    errors.push(await failure(chat().listProfessionals()))
    expect(errors.map((error) => (error as Error).name)).toEqual(['AnswerError', 'AnswerError', 'CallError'])
    for (const error of errors) {
      const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error)
      for (const secret of [...Object.values(TOKENS), WRITTEN, 'pivot-of-the-test']) {
        expect(shown).not.toContain(secret)
      }
    }
    server = await startChatServer()
  })

  it('a list may be larger than a user, up to a limit of its own', async () => {
    const of = (bytes: number) => JSON.stringify([{ ...MESSAGE, text: 'x'.repeat(bytes) }])
    server.answer = () => ({ body: of(4 * MAX_ANSWER_BYTES) })
    expect((await chat().listMessages({ room: 7 })).items).toHaveLength(1)
    server.answer = () => ({ body: of(MAX_LIST_BYTES) })
    expect(await failure(chat().listMessages({ room: 7 }))).toMatchObject({
      kind: 'too-large',
      reached: 'maybe',
    })
    const users = makeClient({ origin: server.url })
    onTestFinished(users.close)
    server.answer = () => ({ body: of(MAX_ANSWER_BYTES) })
    expect(await failure(users.retrieveUser('u'))).toMatchObject({ kind: 'too-large' })
  })
})

describe('calls that end without an answer', () => {
  it('an abort ends a call', async () => {
    const client = chat()
    server.answer = () => undefined
    const stop = new AbortController()
    const { signal } = stop
    const calls = [client.listProfessionals({ signal }), client.listMessages({ room: 7 }, { signal })]
    const failures = calls.map(failure)
    await expect.poll(() => server.requests.length).toBe(2)
    stop.abort()
    for (const error of await Promise.all(failures))
      expect(error).toMatchObject({ kind: 'aborted', reached: 'maybe' })
  })

  it('a service that never answers: timeout; a closed client: aborted, not sent', async () => {
    server.answer = () => undefined
    expect(await failure(chat({ timeoutMs: 200 }).listProfessionals())).toMatchObject({ kind: 'timeout' })
    const client = chat()
    await client.close()
    expect(await failure(client.listProfessionals())).toMatchObject({ kind: 'aborted', reached: 'no' })
    expect(server.requests).toHaveLength(1)
  })
})
