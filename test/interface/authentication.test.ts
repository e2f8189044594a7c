import { expect, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/sandbox/server.ts'
import { makeChat } from '../service/chat-server.ts'
import { KEYS, makeClient } from '../service/pair.ts'
import { section } from './section.ts'
import { openScene, S2S, USER } from './support.ts'
import { arriving } from './wire.ts'

const scene = await openScene()

const refused = (status: number) => ({ name: 'AnswerError', kind: 'refused', status })

section('5', {
  '/chat/*': async () => {
    const headers = await scene.chatHeaders(USER)
    const token = headers.Authorization?.slice('Bearer '.length) ?? ''
    expect(token.split('.')).toHaveLength(3)
    for (const [changed, status] of [
      [{}, 200],
      [{ 'Api-Key': 'another' }, 401],
      [{ Authorization: token }, 401],
      [{ Authorization: `Basic ${token}` }, 401],
      [{ Authorization: `Bearer ${token.slice(0, -4)}AAAA` }, 401],
    ] as const) {
      expect((await scene.ask('/chat/professionals', { headers: { ...headers, ...changed } })).status).toBe(
        status,
      )
    }
    const [seen] = await arriving(({ chat }) => chat.listProfessionals())
    expect(seen?.headers).not.toHaveProperty('secret-key')
    expect(seen?.headers).toMatchObject({
      accept: 'application/json',
      authorization: expect.stringMatching(/^Bearer /),
    })
  },
  '/s2s/v1/*': async () => {
    for (const [changed, status] of [
      [{}, 200],
      [{ 'Api-Key': 'another' }, 401],
      [{ 'Secret-Key': 'another' }, 401],
      [{ 'Api-Key': KEYS.secretKey, 'Secret-Key': KEYS.apiKey }, 401],
    ] as const) {
      const asked = await scene.ask(`/s2s/v1/users/${USER}`, { headers: { ...S2S, ...changed } })
      expect([changed, asked.status]).toEqual([changed, status])
    }
    const [seen] = await arriving(({ users }) => users.retrieveUser(USER))
    expect(seen?.headers).toMatchObject({ 'content-type': 'application/json', 'secret-key': KEYS.secretKey })
    expect(seen?.headers).not.toHaveProperty('authorization')
  },
  'rule 1': async () => {
    await scene.users.createUser({ user_id: 'other', status: 2 })
    const [mine, theirs] = [scene.fill(3), scene.fill(4, 'other')]
    const chat = await scene.chatAs(USER)
    expect((await chat.listMessages({ room: mine })).items).toHaveLength(3)
    await expect(chat.listMessages({ room: theirs })).rejects.toMatchObject(refused(404))
    const rooms = (await chat.listProfessionals()).items.flatMap(({ room }) => room ?? [])
    expect(rooms.map(({ id }) => id)).toEqual([String(mine)])
  },
  'rule 2': async () => {
    const seen = await arriving(async ({ users, chat }) => {
      await users.createUser({ user_id: 'u', status: 2 })
      await users.retrieveUser('u')
      await chat.listProfessionals()
      await chat.listMessages({ room: 1 })
    })
    expect(seen.map(({ url, headers }) => [url.startsWith('/s2s/v1/'), 'secret-key' in headers])).toEqual([
      [true, true],
      [true, true],
      [false, false],
      [false, false],
    ])
  },
  'rule 3': async () => {
    const keys = { apiKey: 'k-1/+=:', secretKey: '"quoted" ~ secret' }
    const own = await startSandbox(keys)
    onTestFinished(() => own.stop())
    const users = makeClient({ origin: own.url, ...keys })
    onTestFinished(() => users.close())
    expect((await users.createUser({ user_id: 'u', status: 2 })).status).toBe(201)
    const chat = makeChat({ origin: own.url, apiKey: keys.apiKey, accessToken: await own.issueToken('u') })
    onTestFinished(() => chat.close())
    expect((await chat.listProfessionals()).unreadable).toBe(0)
  },
  'not shown: how a token is had': async () => {
    const accessToken = await scene.sandbox.issueToken(USER, { expiresInMs: 60_000 })
    const chat = makeChat({ origin: scene.sandbox.url, apiKey: KEYS.apiKey, accessToken })
    onTestFinished(() => chat.close())
    expect((await chat.listProfessionals()).items.length).toBeGreaterThan(0)
    scene.sandbox.clock.advance(61_000)
    await expect(chat.listProfessionals()).rejects.toMatchObject(refused(401))
    const foreign = makeChat({ origin: scene.sandbox.url, apiKey: KEYS.apiKey, accessToken: 'e30.e30.c2ln' })
    onTestFinished(() => foreign.close())
    await expect(foreign.listProfessionals()).rejects.toMatchObject(refused(401))
  },
})
