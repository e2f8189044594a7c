// Rooms and their messages (sections 2.1 and 2.5), in memory.
import type { MessageWire, RoomWire } from '../../service/chat-schema.ts'
import { type Clock, secondText } from '../clock.ts'

/** The two who share a room. */
export type Pair = { readonly userId: string; readonly professionalId: string }

type Head = 'from_user_id' | 'to_user_id' | 'room_id' | 'message_id' | 'status' | 'created_at'
type WithoutHead<Message> = Message extends unknown ? Omit<Message, Head> : never
/** A message's `type` and the fields that go with it. */
export type Content = WithoutHead<MessageWire>

export type Draft = {
  readonly from: 'user' | 'professional'
  readonly content: Content
  /** Default `sent`. */
  readonly status?: MessageWire['status']
  /** Epoch milliseconds, default now; shown in whole seconds. */
  readonly at?: number
}

export type StoredRoom = Pair & {
  readonly id: number
  /** Oldest first; of one second in the order in which they came. */
  readonly messages: readonly MessageWire[]
}

export type Added = {
  readonly kind: 'added'
  readonly room: StoredRoom
  readonly messages: readonly MessageWire[]
}

export type Conversations = {
  /** Messages in all rooms. */
  readonly size: number
  between(pair: Pair): StoredRoom | undefined
  room(id: number): StoredRoom | undefined
  /** The first message makes the room. `full`: nothing was added, and nothing will be before a `clear`. */
  add(pair: Pair, drafts: readonly Draft[]): Added | { readonly kind: 'full' }
  /** What the professional sent is read from now on; how many were not, or undefined without such a room. */
  markRead(roomId: number): number | undefined
  /** No room's id is used again. */
  clear(): void
}

export type ConversationsParts = {
  readonly clock: Clock
  /** For `message_id`. */
  readonly uuid: () => string
  /** In all rooms together. */
  readonly maxMessages?: number
  readonly maxText?: number
}

/** A bound in messages alone would still let large texts fill the memory. */
const MAX_TEXT = 64 * 1024 * 1024

type OpenRoom = Pair & { readonly id: number; messages: MessageWire[] }

export function makeConversations(parts: ConversationsParts): Conversations {
  const { clock, uuid, maxMessages = 100_000, maxText = MAX_TEXT } = parts
  const byPair = new Map<string, OpenRoom>()
  const byId = new Map<number, OpenRoom>()
  let lastId = 0
  let size = 0
  let text = 0

  function open(pair: Pair): OpenRoom {
    const found = byPair.get(keyOf(pair))
    if (found !== undefined) return found
    lastId += 1
    const { userId, professionalId } = pair
    const made = { userId, professionalId, id: lastId, messages: [] }
    byPair.set(keyOf(pair), made)
    byId.set(made.id, made)
    return made
  }

  return {
    get size() {
      return size
    },
    between: (pair) => byPair.get(keyOf(pair)),
    room: (id) => byId.get(id),
    add(pair, drafts) {
      const length = drafts.reduce((sum, { content }) => sum + JSON.stringify(content).length, 0)
      if (size + drafts.length > maxMessages || text + length > maxText) return { kind: 'full' }
      const room = open(pair)
      const messages = drafts.map((draft) => compose({ room, draft, id: uuid(), now: clock.now() }))
      insert(room, messages)
      size += messages.length
      text += length
      return { kind: 'added', room, messages }
    },
    markRead(roomId) {
      const room = byId.get(roomId)
      if (room === undefined) return undefined
      const unread = unreadIn(room)
      room.messages = room.messages.map((message) =>
        isUnread(room, message) ? { ...message, status: 'read' } : message,
      )
      return unread
    },
    clear() {
      byPair.clear()
      byId.clear()
      size = 0
      text = 0
    },
  }
}

/** Section 2.5; a room has a last message as soon as it exists. */
export function shownRoom(room: StoredRoom): RoomWire | null {
  const last = room.messages.at(-1)
  return last === undefined ? null : { id: room.id, last_message: last, unread_messages: unreadIn(room) }
}

function unreadIn(room: StoredRoom): number {
  return room.messages.filter((message) => isUnread(room, message)).length
}

/** What the user was sent and has not read. */
function isUnread({ userId }: Pair, { to_user_id, status }: MessageWire): boolean {
  return to_user_id === userId && status !== 'read'
}

/** No two pairs have one key, whatever their ids hold. */
function keyOf({ userId, professionalId }: Pair): string {
  return JSON.stringify([userId, professionalId])
}

type Composing = {
  readonly room: OpenRoom
  readonly draft: Draft
  readonly id: string
  readonly now: number
}

function compose({ room, draft, id, now }: Composing): MessageWire {
  const { from, content, status = 'sent', at = now } = draft
  const { userId, professionalId } = room
  return {
    from_user_id: from === 'user' ? userId : professionalId,
    to_user_id: from === 'user' ? professionalId : userId,
    room_id: room.id,
    message_id: id,
    status,
    created_at: secondText(at),
    ...content,
  }
}

/** The sort is stable, and times of one form sort as text. Mostly all of it is newer, and nothing has to move. */
function insert({ messages }: OpenRoom, added: readonly MessageWire[]): void {
  let last = messages.at(-1)?.created_at ?? ''
  const inOrder = added.every(({ created_at: at }) => {
    const follows = last <= at
    last = at
    return follows
  })
  messages.push(...added)
  if (!inOrder)
    messages.sort((a, b) => (a.created_at === b.created_at ? 0 : a.created_at < b.created_at ? -1 : 1))
}
