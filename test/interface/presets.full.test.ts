// Sections 4.1, 4.3, 4.5, 4.6 and 7 leave these habits open: both clients have to cope with each.
// test/flow/presets.full.test.ts syncs customers with each.
import { describe, expect, it } from 'vitest'
import { DIMENSIONS } from '../../src/sandbox/contract/contract.ts'
import { KINDS } from '../support/presets.ts'
import { choices, openScene, USER } from './support.ts'

const scene = await openScene()

const LATER_MS = 10_000
const ALL = {
  status: 2,
  email: 'Ana@Example.com',
  mobile_phone: '612345678',
  mobile_phone_prefix: '34',
} as const

async function usersPart() {
  const look = async () => {
    scene.sandbox.clock.advance(LATER_MS)
    const { meaning, observed } = await scene.call('u', { method: 'GET' })
    return [meaning, observed?.status]
  }
  const before = await look()
  const { meaning: created } = await scene.call('u', { method: 'POST', body: { user_id: 'u', ...ALL } })
  const afterCreate = await look()
  const { meaning: again } = await scene.call('u', { method: 'POST', body: { user_id: 'u', ...ALL } })
  await scene.call('u', { method: 'PATCH', body: { status: 0 } })
  const afterPatch = await look()
  await scene.call('u', { method: 'PUT', body: ALL })
  const bad = await scene.call('u', { method: 'PATCH', body: { status: 2, email: 'no address' } })
  expect(['done', 'refused']).toContain(again)
  return { before, created, afterCreate, afterPatch, afterPut: await look(), bad: bad.meaning }
}

/** Sorted, because the service chooses the order in a page. */
async function chatPart(room: number) {
  const chat = await scene.chatAs(USER)
  const { items: professionals } = await chat.listProfessionals()
  const { items: messages } = await chat.listMessages({ room, limit: 50 })
  return { professionals, messages: messages.toSorted((a, b) => (a.messageId < b.messageId ? -1 : 1)) }
}

describe('what is not shown', () => {
  it.each(Object.entries(KINDS))('users: %s', async (_name, contract) => {
    scene.sandbox.contract.set(contract)
    expect(await usersPart()).toEqual({
      before: ['absent', undefined],
      created: 'done',
      afterCreate: ['present', 2],
      afterPatch: ['present', 0],
      afterPut: ['present', 2],
      bad: 'refused',
    })
  })

  it.each(Object.entries(KINDS))('chat: %s', async (_name, contract) => {
    scene.sandbox.clock.set(Date.UTC(2026, 2, 25, 10))
    const room = scene.fill(40)
    const documented = await chatPart(room)
    expect(documented.messages).toHaveLength(40)
    scene.sandbox.contract.set(contract)
    scene.sandbox.clock.set(Date.UTC(2026, 2, 25, 10))
    expect(await chatPart(room)).toEqual(documented)
  })

  it('a GET that shows a write late is read as what it shows', async () => {
    await scene.become({ visibleAfterMs: 5000 })
    const seen = async () => (await scene.call(USER, { method: 'GET' })).observed?.status
    scene.sandbox.clock.advance(LATER_MS)
    expect((await scene.call(USER, { method: 'PATCH', body: { status: 0 } })).meaning).toBe('done')
    expect(await seen()).toBe(2)
    scene.sandbox.clock.advance(LATER_MS)
    expect(await seen()).toBe(0)
  })

  it('has a preset for every value of every dimension that is a choice', () => {
    const open = DIMENSIONS.filter(
      (dimension) => !['visibleAfterMs', 'trialMs', 'forbidden'].includes(dimension),
    )
    const seen = new Set(
      Object.values(KINDS).flatMap((contract) => Object.entries(contract).map((entry) => entry.join('='))),
    )
    const unseen = open.flatMap((dimension) => choices(dimension).map((value) => `${dimension}=${value}`))
    expect(unseen.filter((word) => !seen.has(word))).toEqual([])
  })
})
