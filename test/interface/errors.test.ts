import { expect, onTestFinished } from 'vitest'
import { callService } from '../../src/sync/call.ts'
import { classifyWrite } from '../../src/sync/classify.ts'
import type { Call } from '../../src/sync/plan.ts'
import { makeChat, startChatServer } from '../service/chat-server.ts'
import { makeClient } from '../service/pair.ts'
import { section } from './section.ts'
import { choices, openScene, USER } from './support.ts'

const scene = await openScene()

const GET: Call = { method: 'GET' }
const CREATE: Call = { method: 'POST', body: { user_id: USER, status: 2 } }
const PUT: Call = { method: 'PUT', body: { status: 2 } }
const PATCH: Call = { method: 'PATCH', body: { status: 2 } }

/** In the order POST, GET, PUT, PATCH. */
async function meanings(): Promise<readonly string[]> {
  const found: string[] = []
  for (const call of [CREATE, GET, PUT, PATCH]) found.push((await scene.call(USER, call)).meaning)
  return found
}

section('6', {
  'not shown: events': async () => {
    expect((await scene.call(USER, GET)).observed?.status).toBe(2)
    scene.sandbox.users.edit(USER, { status: 0 })
    expect((await scene.call(USER, GET)).observed?.status).toBe(0)
    scene.sandbox.users.edit(USER, { status: 2 })
    const room = scene.fill(1)
    const chat = await scene.chatAs(USER)
    expect((await chat.listMessages({ room })).items).toHaveLength(1)
    scene.fill(1)
    expect((await chat.listMessages({ room })).items).toHaveLength(2)
  },
})

section('7', {
  'not shown: status codes': async () => {
    const same = (meaning: string, get: string) => [meaning, get, meaning, meaning]
    for (const [statuses, expected] of [
      [[201, 202, 204, 299], same('done', 'failed')],
      [[301, 302, 405, 408, 418, 451, 500, 502, 503, 504, 599], same('unknown', 'failed')],
      [[401, 403], same('denied', 'denied')],
      [
        [404, 410],
        ['refused', 'absent', 'absent', 'absent'],
      ],
      [[400, 409, 422], same('refused', 'failed')],
      [[429], same('later', 'later')],
    ] as const) {
      for (const status of statuses) {
        scene.sandbox.faults.set([{ action: { kind: 'status', status, body: 'empty' } }])
        expect([status, ...(await meanings())]).toEqual([status, ...expected])
      }
    }
    const chat = await scene.chatAs(USER)
    for (const status of [302, 400, 401, 403, 404, 429, 500, 503]) {
      scene.sandbox.faults.set([{ match: { path: '/chat' }, action: { kind: 'status', status } }])
      const refused = { name: 'AnswerError', kind: 'refused', status }
      await expect(chat.listProfessionals()).rejects.toMatchObject(refused)
      await expect(chat.listMessages({ room: 1 })).rejects.toMatchObject(refused)
    }
  },
  'not shown: body': async () => {
    const chat = await scene.chatAs(USER)
    for (const body of ['json', 'html', 'empty'] as const) {
      for (const [status, meaning] of [
        [400, 'refused'],
        [403, 'denied'],
        [500, 'unknown'],
      ] as const) {
        scene.sandbox.faults.set([{ action: { kind: 'status', status, body } }])
        expect([body, status, (await scene.call(USER, PATCH)).meaning]).toEqual([body, status, meaning])
        await expect(chat.listProfessionals()).rejects.toMatchObject({ kind: 'refused', status })
      }
    }
    scene.sandbox.faults.set([{ action: { kind: 'status', status: 200, body: 'html' } }])
    expect(await meanings()).toEqual(['unknown', 'failed', 'unknown', 'unknown'])
    await expect(chat.listProfessionals()).rejects.toMatchObject({ kind: 'unreadable', status: 200 })
  },
  'not shown: error codes': async () => {
    await using server = await startChatServer()
    const users = makeClient({ origin: server.url })
    const chat = makeChat({ origin: server.url })
    onTestFinished(async () => {
      await users.close()
      await chat.close()
    })
    const signal = new AbortController().signal
    for (const body of [
      { error: { code: 'E-17', message: 'No.' } },
      { errors: ['email'] },
      { error_code: 17 },
      { success: false },
      { status: 'error' },
      { code: 422 },
      [{ error: 'No.' }],
      false,
    ]) {
      server.answer = () => ({ body: JSON.stringify(body) })
      const { outcome } = await callService(users, { call: PATCH, userId: USER, signal })
      expect([body, classifyWrite('PATCH', outcome)]).toEqual([body, 'unknown'])
      if (!Array.isArray(body))
        await expect(chat.listProfessionals()).rejects.toMatchObject({ kind: 'unreadable' })
    }
  },
  'not shown: conditions': async () => {
    for (const duplicate of choices('duplicate')) {
      await scene.become({ duplicate })
      const { meaning } = await scene.call(USER, CREATE)
      expect([duplicate, meaning]).toEqual([duplicate, duplicate === 'upsert' ? 'done' : 'refused'])
    }
    for (const unknownUser of choices('unknownUser')) {
      await scene.become({ unknownUser })
      const update = unknownUser === 'null' ? 'unclear' : 'absent'
      for (const [call, meaning] of [
        [GET, 'absent'],
        [PUT, update],
        [PATCH, update],
      ] as const)
        expect([unknownUser, (await scene.call('nobody', call)).meaning]).toEqual([unknownUser, meaning])
    }
    for (const refusal of choices('refusal')) {
      await scene.become({ refusal })
      const body = { status: 2, email: 'no address' } as const
      for (const method of ['PATCH', 'PUT'] as const)
        expect([refusal, (await scene.call(USER, { method, body })).meaning]).toEqual([refusal, 'refused'])
    }
    await scene.become({ forbidden: USER })
    expect(await meanings()).toEqual(['denied', 'denied', 'denied', 'denied'])
    expect(
      (await scene.call('other', { method: 'POST', body: { user_id: 'other', status: 2 } })).meaning,
    ).toBe('done')
  },
})
