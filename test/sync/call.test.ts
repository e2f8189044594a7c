import { expect, test } from 'vitest'
import { makeUsersClient } from '../../src/service/users.ts'
import { callService } from '../../src/sync/call.ts'
import type { Call } from '../../src/sync/plan.ts'
import { startChatServer, type Worded } from '../service/chat-server.ts'

async function callOf(call: Call, worded: Worded) {
  await using server = await startChatServer(() => worded)
  const keys = { apiKey: 'k', secretKey: 's' }
  const client = makeUsersClient({
    ...keys,
    origin: server.url,
    timeoutMs: 5000,
    concurrency: 2,
    allowPlainHttp: true,
  })
  const called = await callService(client, { call, userId: 'garcia', signal: new AbortController().signal })
  await client.close()
  return called
}

const PATCH: Call = { method: 'PATCH', body: { status: 2, first_name: 'Zoraida', gender: 1, email: null } }

test('a key that repeats what was sent is not in the shape of the answer', async () => {
  const body = JSON.stringify({ garcia: { zoraida: true, other: false } })
  for (const call of [PATCH, { method: 'GET' }] as const)
    expect(await callOf(call, { body })).toMatchObject({ shape: '{*: {*: boolean}}' })
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
])('another user has what was sent: %s', async (_what, status, body, conflict, named) => {
  expect(await callOf(PATCH, { status, body })).toMatchObject({ conflict, named })
})
