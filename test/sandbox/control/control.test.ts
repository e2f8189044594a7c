import http from 'node:http'
import { describe, expect, it } from 'vitest'
import { HEADERS, sandboxOfTest, type Talked } from '../talk.ts'

/** With node:http, because fetch sets the Host header itself. */
function ask(url: string, options: http.RequestOptions = {}, body?: unknown): Promise<Talked> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        resolve({ status: response.statusCode ?? 0, json: text === '' ? undefined : JSON.parse(text) })
      })
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

describe('the control endpoints', () => {
  it('show journal and users, and are not in the journal themselves', async () => {
    const { url } = await sandboxOfTest()
    const post = { method: 'POST', headers: HEADERS }
    for (const user_id of ['u1', 'u2', 'u1']) {
      await ask(`${url}/s2s/v1/users`, post, { user_id, status: 2, country_code: 'ES' })
    }
    expect(await ask(`${url}/_sandbox/journal`)).toMatchObject({
      status: 200,
      json: {
        last: 3,
        entries: [{ number: 1, status: 201 }, { number: 2 }, { number: 3, status: 409, stored: false }],
      },
    })
    expect(await ask(`${url}/_sandbox/journal?after=1&user=u1`)).toMatchObject({
      json: { entries: [{ number: 3 }] },
    })
    expect(await ask(`${url}/_sandbox/users`)).toMatchObject({
      json: { users: [{ user_id: 'u1', country_code: 'ES' }, { user_id: 'u2' }] },
    })
    expect(await ask(`${url}/_sandbox/health`)).toEqual({ status: 200, json: { ok: true } })
  })

  it('tell of the journal whether there is more than they show', async () => {
    const { url } = await sandboxOfTest()
    for (const id of ['u1', 'u2', 'u1']) await ask(`${url}/s2s/v1/users/${id}`, { headers: HEADERS })
    const journal = (query: string) => ask(`${url}/_sandbox/journal?${query}`)
    const page = (more: boolean, ...numbers: readonly number[]) => ({
      json: { last: 3, more, entries: numbers.map((number) => expect.objectContaining({ number })) },
    })
    expect(await journal('')).toMatchObject(page(false, 1, 2, 3))
    expect(await journal('limit=2')).toMatchObject(page(true, 1, 2))
    expect(await journal('limit=2&after=2')).toMatchObject(page(false, 3))
    expect(await journal('limit=1&user=u2')).toMatchObject(page(false, 2))
    for (const wrong of ['after=x', 'after=-1', 'limit=0', 'limit=10001', 'user=a&user=b']) {
      const refused = { status: 400, json: { error: { code: 'bad_request' } } }
      expect(await journal(wrong), wrong).toMatchObject(refused)
    }
  })

  it('set faults as objects or as text, and lift them while everything else is down', async () => {
    const { url } = await sandboxOfTest()
    const put = { method: 'PUT', headers: { 'Content-Type': 'application/json' } }
    const faults = ['PATCH 503 rate=0.5', { action: { kind: 'drop-before' } }]
    expect(await ask(`${url}/_sandbox/faults`, put, faults)).toMatchObject({
      status: 200,
      json: {
        faults: [{ match: { method: 'PATCH' }, rate: 0.5, struck: 0 }, { action: { kind: 'drop-before' } }],
      },
    })
    await expect(ask(`${url}/s2s/v1/users/u`, { headers: HEADERS })).rejects.toThrow()
    expect(await ask(`${url}/_sandbox/faults`)).toMatchObject({
      json: { faults: [{ struck: 0 }, { struck: 1 }] },
    })
    expect((await ask(`${url}/_sandbox/faults`, put)).status).toBe(400)
    expect((await ask(`${url}/_sandbox/faults`, { method: 'DELETE' })).status).toBe(204)
    expect((await ask(`${url}/s2s/v1/users/u`, { headers: HEADERS })).status).toBe(404)
  })

  it.each([
    ['', 0, 0, 0],
    ['/users', 0, 1, 1],
    ['/journal', 1, 0, 1],
    ['/faults', 1, 1, 0],
  ])('DELETE /_sandbox%s resets', async (path, users, calls, faults) => {
    const { url, ...held } = await sandboxOfTest({
      faults: [{ match: { userId: 'nobody' }, action: { kind: 'drop-before' } }],
    })
    await ask(`${url}/s2s/v1/users`, { method: 'POST', headers: HEADERS }, { user_id: 'u', status: 2 })
    expect((await ask(`${url}/_sandbox${path}`, { method: 'DELETE' })).status).toBe(204)
    expect([held.users.size, held.journal.list().length, held.faults.list().length]).toEqual([
      users,
      calls,
      faults,
    ])
  })
})

it('DELETE /_sandbox/ clears everything that the sandbox holds, and leaves the contract', async () => {
  const { url, ...held } = await sandboxOfTest({ contract: { names: 'sample' } })
  const people = held.professionals.all()
  held.users.set('u', { status: 2 })
  held.professionals.set([])
  held.conversations.add({ userId: 'u', professionalId: 'p' }, [
    { from: 'user', content: { type: 'text', text: 'hello' } },
  ])
  held.clock.advance(86_400_000)
  expect((await ask(`${url}/_sandbox/`, { method: 'DELETE' })).status).toBe(204)
  expect([held.users.size, held.conversations.room(1)]).toEqual([0, undefined])
  expect(held.professionals.all()).toEqual(people)
  expect(held.clock.now()).toBeLessThan(Date.now() + 60_000)
  expect(held.contract.now.names).toBe('sample')
})

describe('who may control', () => {
  it('a page of another origin may not, not even without seeing the answer', async () => {
    const { url, ...held } = await sandboxOfTest()
    held.users.set('u', { status: 2 })
    const post = (origin: string) =>
      ask(
        `${url}/_sandbox/tokens`,
        { method: 'POST', headers: { origin, 'Content-Type': 'text/plain' } },
        { user_id: 'u' },
      )
    for (const origin of ['https://attacker.example', 'null', 'http://localhost.attacker.example', 'x']) {
      expect((await post(origin)).status, origin).toBe(403)
    }
    for (const origin of [url, 'http://localhost:3000', 'http://[::1]:5173']) {
      expect((await post(origin)).status, origin).toBe(201)
    }
  })

  it('a page in a browser that points its own name at loopback may not', async () => {
    const { url } = await sandboxOfTest()
    const answer = await ask(`${url}/_sandbox/users`, { headers: { host: 'attacker.example' } })
    expect(answer).toMatchObject({ status: 403, json: { error: { code: 'forbidden' } } })
    expect((await ask(`${url}/_sandbox/users`, { headers: { host: 'localhost:1' } })).status).toBe(200)
  })

  it('no caller, when it is bound to other addresses without a token; its health may be asked', async () => {
    const { url } = await sandboxOfTest({ host: '0.0.0.0' })
    for (const call of ['GET users', 'GET journal', 'PUT faults', 'POST tokens', 'DELETE ']) {
      const [method = '', path = ''] = call.split(' ')
      const body = method.startsWith('P') ? {} : undefined
      expect((await ask(`${url}/_sandbox/${path}`, { method }, body)).status, call).toBe(403)
    }
    expect((await ask(`${url}/_sandbox/health`)).status).toBe(200)
    expect((await ask(`${url}/s2s/v1/users/u`, { headers: HEADERS })).status).toBe(404)
  })

  it('a caller with the token', async () => {
    const { url } = await sandboxOfTest({ host: '0.0.0.0', controlToken: 'token' })
    expect((await ask(`${url}/_sandbox/users`)).status).toBe(403)
    expect((await ask(`${url}/_sandbox/users`, { headers: { 'Sandbox-Token': 'wrong' } })).status).toBe(403)
    expect((await ask(`${url}/_sandbox/users`, { headers: { 'Sandbox-Token': 'token' } })).status).toBe(200)
  })
})
