import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeUsersClient } from '../../src/service/users.ts'
import { callService } from '../../src/sync/call.ts'
import type { Call } from '../../src/sync/turn.ts'

let answer = ''
const server = createServer((_request, response) => response.end(answer))
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

test('an answer that is no JSON has no shape, and JSON null has one', async () => {
  expect(await shapeOf(PATCH, '<html>')).toBeNull()
  expect(await shapeOf(PATCH, '')).toBeNull()
  expect(await shapeOf(PATCH, 'null')).toBe('null')
})
