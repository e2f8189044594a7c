import { expect } from 'vitest'
import { OPTIONAL_FIELDS } from '../../src/model/user.ts'
import { section } from './section.ts'
import { ALL, choices, openScene, S2S, USER } from './support.ts'
import { expectHeaders, type Send } from './wire.ts'

const scene = await openScene()

const USERS = '/s2s/v1/users'
const ONE = `${USERS}/${USER}`
const held = (userId = USER) => scene.sandbox.users.get(userId)

function updates(method: 'PUT' | 'PATCH') {
  const send: Send = ({ users }) =>
    method === 'PUT' ? users.replaceUser(USER, { status: 2 }) : users.updateUser(USER, { status: 2 })
  return {
    headers: async () => {
      await expectHeaders(scene, send, { headers: S2S, body: { status: 2 } })
    },
    body: async () => {
      for (const [body, status] of [
        [{ status: 0 }, 200],
        [ALL, 200],
        [{}, 422],
        [{ email: 'ana@example.com' }, 422],
        [{ user_id: USER, status: 2 }, 422],
        [{ status: 2, shoe_size: 40 }, 422],
      ] as const) {
        expect([body, (await scene.ask(ONE, { method, body })).status]).toEqual([body, status])
      }
      expect(held()).toEqual({ user_id: USER, ...ALL })
    },
    'not shown: answer': async () => {
      for (const updateStatus of choices('updateStatus')) {
        for (const updateBody of choices('updateBody')) {
          await scene.users.updateUser(USER, { status: 0 })
          await scene.become({ updateStatus, updateBody })
          const { meaning, outcome } = await scene.call(USER, { method, body: { status: 2 } })
          // JSON null may be the normal answer, or mean that the user does not exist: a GET decides.
          const unclear = updateBody === 'null' && updateStatus !== 204
          expect([updateBody, outcome]).toMatchObject([updateBody, { status: updateStatus }])
          expect([updateStatus, updateBody, meaning]).toEqual([
            updateStatus,
            updateBody,
            unclear ? 'unclear' : 'done',
          ])
          expect((await scene.call(USER, { method: 'GET' })).observed?.status).toBe(2)
        }
      }
    },
  }
}

section('4.5', {
  ...updates('PUT'),
  sample: async () => {
    expect((await scene.call(USER, { method: 'PUT', body: ALL })).meaning).toBe('done')
    expect(held()).toEqual({ user_id: USER, ...ALL })
  },
  'rule 1': async () => {
    await scene.users.replaceUser(USER, ALL)
    await scene.users.replaceUser(USER, { status: 4, first_name: 'Eva' })
    const none = Object.fromEntries(OPTIONAL_FIELDS.map((field) => [field, null]))
    expect(held()).toEqual({ user_id: USER, ...none, status: 4, first_name: 'Eva' })
  },
})

section('4.6', {
  ...updates('PATCH'),
  sample: async () => {
    await scene.users.replaceUser(USER, ALL)
    expect((await scene.call(USER, { method: 'PATCH', body: { status: 0 } })).meaning).toBe('done')
    expect(held()).toEqual({ user_id: USER, ...ALL, status: 0 })
    expect(scene.sandbox.journal.list().at(-1)?.raw).toBe('{"status":0}')
  },
  'rule 2': async () => {
    await scene.users.replaceUser(USER, ALL)
    await scene.users.updateUser(USER, { status: 2, first_name: 'Eva', email: null })
    expect(held()).toEqual({ user_id: USER, ...ALL, first_name: 'Eva', email: null })
  },
})
