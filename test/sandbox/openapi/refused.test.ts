// What the sandbox refuses although it is a text of the right kind: the document says so too.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import { KEYS, talk } from '../talk.ts'
import { misfits } from './reader.ts'

const headers = { 'Api-Key': 'api', 'Secret-Key': 'secret', 'Content-Type': 'application/json' }

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox(KEYS)
})
afterAll(() => sandbox.stop())

it.each([
  { first_name: '\ud800' },
  { first_name: 'a\u0000' },
  { user_id: '\udc00' },
  { email: 'a@c.123' },
  { email: 'a@c' },
  { email: `${'a'.repeat(65)}@correo.example` },
])('%j', async (fields) => {
  const body = { user_id: 'u', status: 2, ...fields }
  expect((await talk(sandbox, 'POST /s2s/v1/users', { headers, body })).status).toBe(422)
  expect(misfits('#/components/schemas/CreateUser', body)).not.toEqual([])
})
