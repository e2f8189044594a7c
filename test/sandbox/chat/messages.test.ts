// Section 4.1: the messages of a room over HTTP.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ChatScene, startChatScene } from './scene.ts'

let scene: ChatScene
beforeAll(async () => {
  scene = await startChatScene()
})
afterAll(() => scene.sandbox.stop())
beforeEach(() => scene.reset())

describe('GET /chat/message (section 4.1)', () => {
  it('without a pivot: the latest, or with older=false the first; oldest first', async () => {
    const id = scene.fill()
    const all = scene.messagesIn(id)
    expect(await scene.page(`room=${id}`)).toEqual(all.slice(-20))
    expect(await scene.page(`room=${id}&older=true&limit=3`)).toEqual(all.slice(-3))
    expect(await scene.page(`room=${id}&older=false&limit=3`)).toEqual(all.slice(0, 3))
  })

  it('with a pivot: limit messages older or newer than it', async () => {
    const id = scene.fill()
    const all = scene.messagesIn(id)
    const pivot = all[25]?.message_id
    expect(await scene.page(`room=${id}&pivot=${pivot}&limit=4`)).toEqual(all.slice(21, 25))
    expect(await scene.page(`room=${id}&pivot=${pivot}&limit=4&older=true`)).toEqual(all.slice(21, 25))
    expect(await scene.page(`room=${id}&pivot=${pivot}&limit=4&older=false`)).toEqual(all.slice(26, 30))
  })

  it('gives a hundred at most, 20 when no limit is given', async () => {
    const id = scene.fill('u', 300)
    expect(await scene.page(`room=${id}&limit=300`)).toHaveLength(100)
    expect(await scene.page(`room=${id}&limit=${'9'.repeat(400)}`)).toHaveLength(100)
    expect(await scene.page(`room=${id}`)).toHaveLength(20)
  })

  it('shows a page as the contract has it', async () => {
    const id = scene.fill()
    const all = scene.messagesIn(id)
    const pivot = all[25]?.message_id
    scene.sandbox.contract.set({ order: 'newest-first', pivot: 'included' })
    expect(await scene.page(`room=${id}&pivot=${pivot}&limit=2`)).toEqual([all[25], all[24], all[23]])
    scene.sandbox.contract.set({ order: 'shuffled' })
    const shuffled = await scene.page(`room=${id}&limit=50`)
    expect(shuffled).not.toEqual(all)
    expect(new Set(shuffled.map((each) => each.message_id))).toEqual(
      new Set(all.map((each) => each.message_id)),
    )
  })

  it.each([
    ['', 'room'],
    ['limit=3', 'room'],
    ['room=1.5', 'room'],
    ['room=1&room=2', 'room'],
    ['room=1&limit=0', 'limit'],
    ['room=1&limit=ten', 'limit'],
    ['room=1&limit=1&limit=1', 'limit'],
    ['room=1&older=1', 'older'],
    ['room=1&older=true&older=true', 'older'],
    ['room=1&pivot=a&pivot=b', 'pivot'],
    ['__proto__=1', 'room'],
  ])('"%s" is 400 and names the field', async (query, field) => {
    scene.fill()
    const { status, json } = await scene.as('u', `/chat/message?${query}`)
    expect(status).toBe(400)
    expect(Object.keys((json as { error: { fields: object } }).error.fields)).toEqual([field])
  })

  it('a room of somebody else is not there, nor one that there is not, nor an unknown pivot', async () => {
    scene.sandbox.users.set('v', { status: 2 })
    const theirs = scene.fill('v')
    const mine = scene.fill('u')
    const pivot = scene.messagesIn(theirs)[3]?.message_id
    for (const query of [
      `room=${theirs}`,
      'room=999',
      'room=-1',
      'room=0',
      `room=${'9'.repeat(400)}`,
      `room=${mine}&pivot=nothing`,
      `room=${mine}&pivot=`,
      `room=${mine}&pivot=${pivot}`,
    ]) {
      expect(await scene.as('u', `/chat/message?${query}`), query).toMatchObject({
        status: 404,
        json: { error: { code: 'not_found' } },
      })
    }
  })

  it('names that mean nothing are let pass', async () => {
    const id = scene.fill()
    expect(await scene.page(`room=${id}&limit=1&sort=asc`)).toHaveLength(1)
  })
})
