import { expect } from 'vitest'
import { z } from 'zod'
import { makeDrafts } from '../../../src/sandbox/chat/conversations.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import { type MessageWire, message } from '../../../src/service/chat-schema.ts'
import { chatHeaders, KEYS, type Talked, talk } from '../talk.ts'

/** A Monday, when most professionals are there. */
export const NOW = Date.parse('2026-03-02T10:00:00Z')
export const PRO = 'pro-tax-1'

const listed = z.array(message)

export type ChatScene = {
  readonly sandbox: Sandbox
  /** Nothing but the user `u`, with full access. */
  reset(): void
  /** A GET on behalf of a user. */
  as(userId: string, path: string): Promise<Talked>
  /** The number of a room with that many messages. */
  fill(userId?: string, count?: number): number
  messagesIn(room: number): readonly MessageWire[]
  /** The messages of an answer that fits section 2.1. */
  page(query: string): Promise<MessageWire[]>
}

export async function startChatScene(): Promise<ChatScene> {
  const sandbox = await startSandbox({ ...KEYS, now: () => NOW })
  const as = async (userId: string, path: string) =>
    talk(sandbox, `GET ${path}`, { headers: await chatHeaders(sandbox, userId) })
  return {
    sandbox,
    reset() {
      const { users, journal, faults, clock, conversations } = sandbox
      for (const part of [users, journal, faults, clock, conversations]) part.clear()
      sandbox.contract.set({})
      users.set('u', { status: 2 })
    },
    as,
    fill(userId = 'u', count = 50) {
      return sandbox.conversations.add({ userId, professionalId: PRO }, makeDrafts(count, NOW)).room.id
    },
    messagesIn: (room) => sandbox.conversations.room(room)?.messages ?? [],
    async page(query) {
      const { status, json } = await as('u', `/chat/message?${query}`)
      expect(status).toBe(200)
      return listed.parse(json)
    },
  }
}
