import { expect } from 'vitest'
import { sameField } from '../../src/model/normal.ts'
import { OPTIONAL_FIELDS } from '../../src/model/user.ts'
import { section } from './section.ts'
import { ALL, choices, openScene, S2S, USER } from './support.ts'
import { arriving, expectHeaders } from './wire.ts'

const scene = await openScene()

const USERS = '/s2s/v1/users'
const ONE = `${USERS}/${USER}`
const held = (userId = USER) => scene.sandbox.users.get(userId)

section('4.3', {
  purpose: async () => {
    const token = () => scene.ask('/_sandbox/tokens', { method: 'POST', body: { user_id: 'new' } })
    expect((await token()).status).toBe(404)
    expect((await scene.call('new', { method: 'POST', body: { user_id: 'new', status: 2 } })).meaning).toBe(
      'done',
    )
    expect((await token()).status).toBe(201)
    expect((await (await scene.chatAs('new')).listProfessionals()).items.length).toBeGreaterThan(0)
  },
  headers: async () => {
    const body = { user_id: USER, status: 2 } as const
    await scene.become({ duplicate: 'upsert' })
    await expectHeaders(scene, ({ users }) => users.createUser(body), { headers: S2S, body })
  },
  body: async () => {
    for (const [body, status] of [
      [{ user_id: 'a', status: 2 }, 201],
      [{ user_id: 'b', ...ALL }, 201],
      [{ user_id: 'c' }, 422],
      [{ status: 2 }, 422],
      [{}, 422],
      [[], 422],
      ['{"user_id":', 400],
    ] as const) {
      expect([body, (await scene.ask(USERS, { method: 'POST', body })).status]).toEqual([body, status])
    }
    expect(held('b')).toEqual({ user_id: 'b', ...ALL })
    expect(held('c')).toBeUndefined()
  },
  'not shown: answer': async () => {
    for (const createStatus of choices('createStatus')) {
      for (const createBody of choices('createBody')) {
        const userId = `${createStatus}-${createBody}`
        await scene.become({ createStatus, createBody })
        const { meaning, outcome } = await scene.call(userId, {
          method: 'POST',
          body: { user_id: userId, status: 2 },
        })
        expect([userId, meaning, outcome]).toMatchObject([userId, 'done', { status: createStatus }])
        expect(held(userId)?.status).toBe(2)
      }
    }
  },
})

section('4.4', {
  path: async () => {
    for (const userId of ['4711', 'ñ ?#%2F', '😀', '...', '%2e%2e', 'a/../b', '__proto__', '\t\n', '//']) {
      scene.sandbox.users.set(userId, { status: 2 })
      const { meaning, observed } = await scene.call(userId, { method: 'GET' })
      expect([meaning, observed?.userId]).toEqual(['present', userId])
    }
    for (const userId of ['', '.', '..']) {
      await expect(scene.users.retrieveUser(userId)).rejects.toMatchObject({
        kind: 'bad-user-id',
        reached: 'no',
      })
    }
  },
  headers: async () => {
    await expectHeaders(scene, ({ users }) => users.retrieveUser(USER), { headers: S2S })
  },
  request: async () => {
    const requests = await arriving(({ users }) => users.retrieveUser(USER))
    expect(requests).toMatchObject([{ method: 'GET', url: ONE, hasBody: false }])
  },
  answer: async () => {
    await scene.users.replaceUser(USER, { ...ALL, description: 'note' })
    const { country_code: _hidden, ...shown } = ALL
    const wire = { user_id: USER, ...shown, description: 'note', mobile_phone: '34612345678' }
    expect((await scene.ask(ONE)).json).toEqual(wire)
    const { user_id: _id, status: _status, ...fields } = wire
    expect((await scene.call(USER, { method: 'GET' })).observed).toEqual({ userId: USER, status: 2, fields })
  },
  'not shown: empty fields': async () => {
    const { country_code: _hidden, ...desired } = { ...ALL, last_name: null, gender: 1 }
    for (const nulls of choices('nulls')) {
      for (const numbers of choices('numbers')) {
        await scene.users.replaceUser(USER, { ...ALL, last_name: null })
        await scene.become({ nulls, numbers })
        const { meaning, observed } = await scene.call(USER, { method: 'GET' })
        expect([nulls, numbers, meaning, observed?.status]).toEqual([nulls, numbers, 'present', 2])
        for (const field of OPTIONAL_FIELDS) {
          if (field === 'country_code') continue
          expect([field, sameField(field, desired, observed?.fields ?? {})]).toEqual([field, true])
        }
      }
    }
  },
})
