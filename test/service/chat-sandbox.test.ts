// Client and sandbox together, over real HTTP, for everything that the document leaves open about lists.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContractInput } from '../../src/sandbox/contract/contract.ts'
import { makeChat } from './chat-server.ts'
import { KEYS, type Pair, startPair } from './pair.ts'

const EPOCH = Date.UTC(2026, 2, 29, 1, 30)
const WRITTEN = 130

let pair: Pair
let room: string
let token: string
beforeAll(async () => {
  pair = await startPair()
  const { client, sandbox } = pair
  await client.createUser({ user_id: 'u1', status: 2 })
  token = await sandbox.issueToken('u1')
  const chat = chatOf(token)
  const [lawyer] = (await chat.listProfessionals()).items
  await chat.close()
  // Twelve a second: pages of five end in the middle of one.
  const drafts = Array.from({ length: WRITTEN }, (_, i) => ({
    from: i % 2 === 0 ? ('user' as const) : ('professional' as const),
    content: { type: 'text' as const, text: String(i) },
    at: EPOCH + Math.floor(i / 12) * 1000,
  }))
  const { room: made } = sandbox.conversations.add(
    { userId: 'u1', professionalId: lawyer?.professionalId ?? '' },
    drafts,
  )
  room = String(made.id)
})
afterAll(async () => {
  await pair[Symbol.asyncDispose]()
})

function chatOf(accessToken: string) {
  return makeChat({ origin: pair.sandbox.url, apiKey: KEYS.apiKey, accessToken })
}

const contracts = (['oldest-first', 'newest-first', 'shuffled'] as const).flatMap((order) =>
  (['excluded', 'included'] as const).map((pivot): ContractInput => ({ order, pivot })),
)

describe('a room (section 4.1)', () => {
  it.each(contracts)('is paged whole in both directions, each message once, under %j', async (contract) => {
    pair.sandbox.contract.set(contract)
    const chat = chatOf(token)
    for (const direction of ['older', 'newer'] as const) {
      const texts = []
      for await (const each of chat.pageMessages({ room, direction, limit: 5 })) {
        texts.push(each.kind === 'text' ? Number(each.text) : -1)
      }
      const seconds = texts.map((i) => Math.floor(i / 12))
      expect(seconds).toEqual(seconds.toSorted((a, b) => (direction === 'older' ? b - a : a - b)))
      expect(texts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: WRITTEN }, (_, i) => i))
    }
    await chat.close()
  })
})

describe('professionals (section 4.2)', () => {
  it('are the same in our words, whichever names and room id the service uses', async () => {
    const chat = chatOf(token)
    const read = async (contract: ContractInput) => {
      pair.sandbox.contract.set(contract)
      return chat.listProfessionals()
    }
    const [table, sample] = [await read({}), await read({ names: 'sample', roomId: 'text' })]
    expect(sample).toEqual(table)
    expect(table.unreadable).toBe(0)
    for (const { photo, specialityId } of table.items) {
      expect(photo).toMatch(/^https?:/)
      expect(specialityId).toBeGreaterThan(0)
    }
    expect(table.items.find((each) => each.room !== null)?.room).toMatchObject({
      id: room,
      lastMessage: { kind: 'text', text: String(WRITTEN - 1), roomId: room },
      unreadMessages: WRITTEN / 2,
    })
    await chat.close()
  })
})

describe('credentials (section 5)', () => {
  it('a token of nobody and a wrong Api-Key are refused', async () => {
    const [stranger, wrongKey] = [
      chatOf('eyJhbGciOiJub25lIn0.e30.c2ln'),
      makeChat({ origin: pair.sandbox.url, apiKey: 'wrong', accessToken: token }),
    ]
    for (const chat of [stranger, wrongKey]) {
      await expect(chat.listProfessionals()).rejects.toMatchObject({
        name: 'AnswerError',
        kind: 'refused',
        status: 401,
      })
      await expect(chat.listMessages({ room })).rejects.toMatchObject({
        name: 'AnswerError',
        kind: 'refused',
      })
      await chat.close()
    }
  })
})
