import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeUsersClient } from '../../src/service/users.ts'
import { callService } from '../../src/sync/call.ts'
import type { Call } from '../../src/sync/plan.ts'

let answer = ''
let status = 200
const server = createServer((_request, response) => response.writeHead(status).end(answer))
let client: ReturnType<typeof makeUsersClient>

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  client = makeUsersClient({
    origin: `http://127.0.0.1:${port}`,
    apiKey: 'k',
    secretKey: 's',
    timeoutMs: 5000,
    concurrency: 2,
    allowPlainHttp: true,
  })
})
afterAll(async () => {
  await client.close()
  server.close()
})

async function shapeOf(call: Call, body: string) {
  answer = body
  const signal = new AbortController().signal
  return (await callService(client, { call, userId: 'garcia', signal })).shape
}

const PATCH: Call = { method: 'PATCH', body: { status: 2, first_name: 'Zoraida', gender: 1, email: null } }

test('a key that repeats what was sent is not in the shape of the answer', async () => {
  const body = JSON.stringify({ garcia: { zoraida: true, other: false } })
  expect(await shapeOf(PATCH, body)).toBe('{*: {*: boolean}}')
  expect(await shapeOf({ method: 'GET' }, body)).toBe('{*: {*: boolean}}')
})

const TAKEN = JSON.stringify({ message: 'email has already been taken' })

test.each<[string, number, string, boolean, string[]]>([
  ['an empty 409', 409, '', true, []],
  ['a 409 in plain text', 409, 'Conflict', true, []],
  ['a 409 with a page', 409, '<html><title>409 Conflict</title>', true, []],
  ['a 409 that says why', 409, TAKEN, true, ['email']],
  ['a problem', 409, JSON.stringify({ title: 'Conflict', detail: 'The email is in use.' }), true, ['email']],
  ['a list of errors', 409, JSON.stringify({ errors: [{ field: 'email' }] }), true, ['email']],
  ['a 422 that says why', 422, TAKEN, true, ['email']],
  ['a 400 that says why', 400, TAKEN, true, ['email']],
  ['a 400 that does not', 400, JSON.stringify({ errors: { email: ['is bad'] } }), false, ['email']],
  ['a 403, which is about the keys', 403, TAKEN, false, ['email']],
])('another user has what was sent: %s', async (_what, code, body, conflict, named) => {
  answer = body
  status = code
  const call = { call: PATCH, userId: 'garcia', signal: new AbortController().signal }
  expect(await callService(client, call)).toMatchObject({ conflict, named })
})
