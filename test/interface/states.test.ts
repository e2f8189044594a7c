import { expect } from 'vitest'
import { STATUSES } from '../../src/model/user.ts'
import { MESSAGE_STATUSES, PROFESSIONAL_STATUSES } from '../../src/service/chat.ts'
import { section } from './section.ts'
import { choices, LAWYER, openScene, USER } from './support.ts'
import { readAs } from './wire.ts'

const scene = await openScene()

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const ROOMS = '/chat/message?room='

/** How the chat answers a user. */
async function chatStatus(userId: string): Promise<number> {
  return (await scene.ask('/chat/professionals', { headers: await scene.chatHeaders(userId) })).status
}

async function say(more: object = {}) {
  const body = { user_id: USER, professional_id: LAWYER, from: 'user', type: 'text', text: 'Hello', ...more }
  return (await scene.ask('/_sandbox/messages', { method: 'POST', body })).json as Record<string, unknown>
}

section('3', {
  Message: async () => {
    expect(MESSAGE_STATUSES).toEqual(['sent', 'received', 'read'])
    for (const status of MESSAGE_STATUSES) expect(await say({ status })).toMatchObject({ status })
    const [wire] = await scene.askAs(USER, `${ROOMS}${(await say()).room_id}`)
    const { items } = await readAs([{ ...wire, status: 'recalled' }], (chat) =>
      chat.listMessages({ room: 1 }),
    )
    expect(items).toMatchObject([{ kind: 'text', status: 'recalled' }])
  },
  Professional: async () => {
    expect(PROFESSIONAL_STATUSES).toEqual(['offline', 'online'])
    const seen = new Set<unknown>()
    for (const hour of [3, 11]) {
      scene.sandbox.clock.set(Date.UTC(2026, 2, 24, hour))
      for (const { status } of await scene.askAs(USER, '/chat/professionals')) seen.add(status)
    }
    expect(seen).toEqual(new Set(PROFESSIONAL_STATUSES))
    const busy = [{ professional_id: 'p', status: 'busy' }]
    expect((await readAs(busy, (chat) => chat.listProfessionals())).items).toMatchObject([{ status: 'busy' }])
  },
  User: async () => {
    expect(STATUSES).toEqual([0, 2, 4])
    for (const status of STATUSES) {
      await scene.users.updateUser(USER, { status })
      expect((await scene.call(USER, { method: 'GET' })).observed?.status).toBe(status)
    }
  },
  'not shown: transitions': async () => {
    for (const from of STATUSES) {
      for (const to of STATUSES) {
        await scene.users.updateUser(USER, { status: from })
        expect((await scene.call(USER, { method: 'PATCH', body: { status: to } })).meaning).toBe('done')
        expect((await scene.call(USER, { method: 'GET' })).observed?.status).toBe(to)
      }
    }
    const [wire] = await scene.askAs(USER, `${ROOMS}${(await say({ status: 'read' })).room_id}`)
    const { items } = await readAs([{ ...wire, status: 'sent' }], (chat) => chat.listMessages({ room: 1 }))
    expect(items).toMatchObject([{ status: 'sent' }])
  },
  'fact 1': async () => {
    for (const hour of [0, 5, 9, 13, 17, 23]) {
      scene.sandbox.clock.set(Date.UTC(2026, 2, 25, hour, 30))
      for (const each of (await (await scene.chatAs(USER)).listProfessionals()).items) {
        const shown = { status: each.status, on: each.nextConnectionAt, off: each.nextDisconnectionAt }
        if (each.status === 'online') expect(shown).toMatchObject({ on: null, off: expect.any(Date) })
        else expect(shown).toMatchObject({ on: expect.any(Date), off: null })
      }
    }
  },
  'fact 2': async () => {
    for (const trialEnd of choices('trialEnd')) {
      for (const trialAgain of choices('trialAgain')) {
        const contract = { trialEnd, trialAgain, trialMs: 3 * DAY_MS }
        await scene.become(contract)
        for (const status of STATUSES)
          await scene.users.createUser({ user_id: `${trialEnd}-${trialAgain}-${status}`, status })
        const chat = () =>
          Promise.all(STATUSES.map((status) => chatStatus(`${trialEnd}-${trialAgain}-${status}`)))
        expect(await chat()).toEqual([403, 200, 200])
        scene.sandbox.clock.advance(3 * DAY_MS - MINUTE_MS)
        expect(await chat()).toEqual([403, 200, 200])
        scene.sandbox.clock.advance(MINUTE_MS)
        expect(await chat()).toEqual([403, 200, 403])
        const trial = `${trialEnd}-${trialAgain}-4`
        const shown = async () => (await scene.call(trial, { method: 'GET' })).observed?.status
        expect(await shown()).toBe(trialEnd === 'flips' ? 0 : 4)
        await scene.users.updateUser(trial, { status: 4 })
        expect(await chat()).toEqual([403, 200, trialAgain === 'restarts' ? 200 : 403])
      }
    }
  },
})
