import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readUser } from '../../src/service/body.ts'
import { expectCallError, jsonOf, KEYS, makeClient, type Pair, startPair } from './pair.ts'

let pair: Pair
beforeAll(async () => {
  pair = await startPair()
})
afterAll(async () => {
  await pair[Symbol.asyncDispose]()
})
beforeEach(() => {
  pair.sandbox.users.clear()
  pair.sandbox.journal.clear()
  pair.sandbox.faults.clear()
})

describe('what is sent', () => {
  it('has the headers of section 5 on every method, Content-Type on GET too (section 4.4), and no others', async () => {
    const seen: http.IncomingMessage[] = []
    const server = http.createServer((request, response) => {
      seen.push(request)
      response.setHeader('set-cookie', 'a=b').end('{}')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = makeClient({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    await client.createUser({ user_id: 'u', status: 2 })
    await client.retrieveUser('u')
    await client.replaceUser('u', { status: 2 })
    await client.updateUser('u', { status: 2 })
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'PUT', 'PATCH'])
    for (const { method, headers } of seen) {
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
    await client.close()
    server.close()
  })

  it('carries every user_id unchanged through path, sandbox and answer (section 4.4)', async () => {
    const { client, sandbox } = pair
    const ids = [
      'a/b',
      'ñ',
      '%2e',
      '%2e%2e',
      '...',
      'a b',
      '😀',
      'x'.repeat(300),
      '😀'.repeat(300),
      '?a=b',
      '#',
      '\\',
      '%',
      '%zz',
      '%2F',
      '%25',
      '+',
      ';',
      '__proto__',
      'constructor',
      '"',
      '\t\n',
      ' ',
      '//',
      'a/../b',
      '*',
      ':user_id',
    ]
    for (const userId of ids) {
      expect((await client.createUser({ user_id: userId, status: 2 })).status, userId).toBe(201)
      expect((await client.updateUser(userId, { status: 4, first_name: 'Eva' })).status, userId).toBe(200)
      expect(readUser(jsonOf(await client.retrieveUser(userId)), userId), userId).toMatchObject({
        userId,
        status: 4,
        fields: { first_name: 'Eva' },
      })
      expect(
        sandbox.journal.list({ userId }).map(({ method }) => method),
        userId,
      ).toEqual(['POST', 'PATCH', 'GET'])
    }
    expect(sandbox.users.all().map(({ user_id }) => user_id)).toEqual(ids)
  })

  it.each(['', '.', '..'])(
    'never calls for the user_id "%s", which would be another path',
    async (userId) => {
      await expectCallError(pair.client.retrieveUser(userId), 'bad-user-id', 'no')
      await expectCallError(pair.client.updateUser(userId, { status: 0 }), 'bad-user-id', 'no')
      expect(pair.sandbox.journal.list()).toEqual([])
    },
  )
})

describe('secrets', () => {
  it('no error shows a header, a body or a path, however it is printed', async () => {
    const { sandbox, client } = pair
    sandbox.faults.set([{ action: { kind: 'drop-before' } }])
    const body = { user_id: 'user-of-the-test', status: 2, email: 'ana@correo.example' } as const
    const thrown = [
      await client.createUser(body).catch((error: unknown) => error),
      await client.updateUser(body.user_id, body).catch((error: unknown) => error),
    ]
    for (const error of thrown) {
      expect(error).toBeInstanceOf(Error)
      const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error)
      for (const secret of [KEYS.apiKey, KEYS.secretKey, body.email, body.user_id]) {
        expect(shown).not.toContain(secret)
      }
    }
  })

  it('a key that no header can carry is named at once, and not shown', () => {
    for (const key of ['line\nbreak', 'emoji😀']) {
      expect(() => makeClient({ origin: 'https://service.example', secretKey: key })).toThrowError(
        expect.objectContaining({
          code: 'ENV_INVALID',
          details: [expect.stringMatching(/^SERVICE_SECRET_KEY: [a-zA-Z ]+$/)],
        }),
      )
    }
  })

  it('the journal holds no credentials', async () => {
    await pair.client.createUser({ user_id: 'u1', status: 2 })
    const journal = JSON.stringify(pair.sandbox.journal.list())
    expect(journal).not.toContain(KEYS.apiKey)
    expect(journal).not.toContain(KEYS.secretKey)
  })
})
