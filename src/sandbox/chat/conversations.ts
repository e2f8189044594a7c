// Rooms, their messages and the pages of them (sections 2.1, 2.5 and 4.1), in memory.
import { randomUUID } from 'node:crypto'
import type { MessageWire, RoomWire } from '../../service/chat-schema.ts'
import { type SandboxClock, secondText } from '../clock.ts'

/** The user and the professional who share a room. */
export type Pair = { readonly userId: string; readonly professionalId: string }

/** A message's `type` and the fields that go with it. */
export type Content<Message = MessageWire> = Message extends unknown
  ? Omit<Message, 'from_user_id' | 'to_user_id' | 'room_id' | 'message_id' | 'status' | 'created_at'>
  : never

export type Draft = {
  readonly from: 'user' | 'professional'
  readonly content: Content
  /** Default `sent`. */
  readonly status?: MessageWire['status']
  /** Epoch milliseconds, default now; shown in whole seconds. */
  readonly at?: number | undefined
}

/** Messages oldest first; those of one second in the order in which they came. */
type StoredRoom = Pair & { readonly id: number; messages: readonly MessageWire[] }

export type Conversations = ReturnType<typeof makeConversations>

export function makeConversations(clock: SandboxClock) {
  let rooms: readonly StoredRoom[] = []
  let lastId = 0
  const room = (id: number) => rooms.find((each) => each.id === id)
  const between = ({ userId, professionalId }: Pair) =>
    rooms.find((each) => each.userId === userId && each.professionalId === professionalId)

  return {
    between,
    room,
    /** The first message creates the room. */
    add(pair: Pair, drafts: readonly Draft[]): { room: StoredRoom; messages: readonly MessageWire[] } {
      const known = between(pair)
      const room: StoredRoom = known ?? { ...pair, id: lastId + 1, messages: [] }
      if (known === undefined) {
        rooms = [...rooms, room]
        lastId += 1
      }
      const messages = drafts.map((draft) => compose(room, draft, clock.now()))
      // The sort is stable, and times of one form sort as text.
      room.messages = [...room.messages, ...messages].sort(
        (a, b) => Number(a.created_at > b.created_at) - Number(a.created_at < b.created_at),
      )
      return { room, messages }
    },
    /** No id of a room is used again. */
    clear(): void {
      rooms = []
    },
  }
}

/** Section 2.5; a room has a last message as soon as it exists. */
export function shownRoom(room: StoredRoom): RoomWire | null {
  const last = room.messages.at(-1)
  return last === undefined ? null : { id: room.id, last_message: last, unread_messages: unreadIn(room) }
}

/** Messages to the user that the user has not read. */
function unreadIn({ userId, messages }: StoredRoom): number {
  return messages.filter(({ to_user_id, status }) => to_user_id === userId && status !== 'read').length
}

function compose(room: StoredRoom, { from, content, status = 'sent', at }: Draft, now: number): MessageWire {
  const fromUser = from === 'user'
  return {
    from_user_id: fromUser ? room.userId : room.professionalId,
    to_user_id: fromUser ? room.professionalId : room.userId,
    room_id: room.id,
    message_id: randomUUID(),
    status,
    created_at: secondText(at ?? now),
    ...content,
  }
}

/** Neither default nor maximum is shown (section 8): these are the sandbox's choice. */
export const DEFAULT_LIMIT = 20
export const MAX_LIMIT = 100

type PageRequest = {
  readonly pivot?: string | undefined
  readonly limit: number
  /** True: messages right before the pivot; false: right after it. Without a pivot: the last, or the first. */
  readonly older: boolean
}

/** `limit` messages next to the pivot and without it, oldest first: the order is not shown (section 4.1). Null: no such pivot. */
export function pageOf(
  messages: readonly MessageWire[],
  { pivot, limit, older }: PageRequest,
): readonly MessageWire[] | null {
  const spot = messages.findIndex(({ message_id: id }) => id === pivot)
  if (pivot !== undefined && spot === -1) return null
  const end = pivot === undefined ? messages.length : spot
  return older ? messages.slice(Math.max(0, end - limit), end) : messages.slice(spot + 1, spot + 1 + limit)
}
