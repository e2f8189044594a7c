// Rooms, their messages and the pages of them (sections 2.1, 2.5 and 4.1), in memory.
import type { MessageWire, RoomWire } from '../../service/chat-schema.ts'
import { type SandboxClock, secondText } from '../clock.ts'
import type { Contract } from '../contract/contract.ts'

/** The user and the professional who share a room. */
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

/** Messages oldest first; those of one second in the order in which they came. */
type StoredRoom = Pair & { readonly id: number; messages: readonly MessageWire[] }

export type Added = {
  readonly kind: 'added'
  readonly room: StoredRoom
  readonly messages: readonly MessageWire[]
}

type ConversationsParts = {
  readonly clock: SandboxClock
  /** For `message_id`. */
  readonly uuid: () => string
  /** In all rooms together. Large texts could fill the memory long before the number of messages does. */
  readonly maxMessages?: number
  readonly maxText?: number
}

export type Conversations = ReturnType<typeof makeConversations>

export function makeConversations(parts: ConversationsParts) {
  const { clock, uuid, maxMessages = 100_000, maxText = 64 * 1024 * 1024 } = parts
  const byPair = new Map<string, StoredRoom>()
  const byId = new Map<number, StoredRoom>()
  let lastId = 0
  let size = 0
  let text = 0

  function open(pair: Pair): StoredRoom {
    const found = byPair.get(keyOf(pair))
    if (found !== undefined) return found
    lastId += 1
    const room = { ...pair, id: lastId, messages: [] }
    byPair.set(keyOf(pair), room)
    byId.set(room.id, room)
    return room
  }

  return {
    /** Messages in all rooms. */
    get size() {
      return size
    },
    between: (pair: Pair) => byPair.get(keyOf(pair)),
    room: (id: number) => byId.get(id),
    /** The first message creates the room. `full`: nothing was added, and nothing will be before a `clear`. */
    add(pair: Pair, drafts: readonly Draft[]): Added | { readonly kind: 'full' } {
      const length = drafts.reduce((sum, { content }) => sum + JSON.stringify(content).length, 0)
      if (size + drafts.length > maxMessages || text + length > maxText) return { kind: 'full' }
      const room = open(pair)
      const messages = drafts.map((draft) => compose(room, draft, { id: uuid(), now: clock.now() }))
      // The sort is stable, and times of one form sort as text.
      room.messages = [...room.messages, ...messages].sort((a, b) =>
        a.created_at === b.created_at ? 0 : a.created_at < b.created_at ? -1 : 1,
      )
      size += messages.length
      text += length
      return { kind: 'added', room, messages }
    },
    /** Marks what the professional sent as read; how many were not, or undefined without such a room. */
    markRead(roomId: number): number | undefined {
      const room = byId.get(roomId)
      if (room === undefined) return undefined
      const unread = unreadIn(room)
      room.messages = room.messages.map((each) => (isUnread(room, each) ? { ...each, status: 'read' } : each))
      return unread
    },
    /** No id of a room is used again. */
    clear(): void {
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

/** A message to the user that the user has not read. */
function isUnread({ userId }: Pair, { to_user_id, status }: MessageWire): boolean {
  return to_user_id === userId && status !== 'read'
}

/** No two pairs have one key, whatever their ids hold. */
function keyOf({ userId, professionalId }: Pair): string {
  return JSON.stringify([userId, professionalId])
}

function compose(
  room: StoredRoom,
  draft: Draft,
  made: { readonly id: string; readonly now: number },
): MessageWire {
  const { from, content, status = 'sent', at = made.now } = draft
  const { userId, professionalId } = room
  return {
    from_user_id: from === 'user' ? userId : professionalId,
    to_user_id: from === 'user' ? professionalId : userId,
    room_id: room.id,
    message_id: made.id,
    status,
    created_at: secondText(at),
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

/** `limit` messages next to the pivot, with the pivot where the contract says so. Null: no such pivot. */
export function pageOf(
  messages: readonly MessageWire[],
  { pivot, limit, older }: PageRequest,
  contract: Pick<Contract, 'order' | 'pivot'>,
): readonly MessageWire[] | null {
  if (pivot === undefined) return inOrder(older ? messages.slice(-limit) : messages.slice(0, limit), contract)
  const spot = messages.findIndex(({ message_id: id }) => id === pivot)
  if (spot === -1) return null
  const own = contract.pivot === 'included' ? 1 : 0
  const page = older
    ? messages.slice(Math.max(0, spot - limit), spot + own)
    : messages.slice(spot + 1 - own, spot + 1 + limit)
  return inOrder(page, contract)
}

function inOrder(page: readonly MessageWire[], { order }: Pick<Contract, 'order'>): readonly MessageWire[] {
  if (order === 'oldest-first') return page
  if (order === 'newest-first') return page.toReversed()
  // By an id that has nothing to do with time: no order to rely on, and yet the same one each time.
  return page.toSorted((a, b) => (a.message_id < b.message_id ? -1 : 1))
}

/** Messages that are typed fast share a second. */
const BURST = 3
const BETWEEN_BURSTS_MS = 47_000
const UNREAD = 5

/**
 * Messages to page through, of every type and from both sides; the same number gives the same messages. The last is
 * of now and from the professional, so that something is always unread.
 */
export function makeDrafts(count: number, now: number): readonly Draft[] {
  return Array.from({ length: count }, (_, index) => {
    const age = count - 1 - index
    return {
      from: age % 2 === 0 ? 'professional' : 'user',
      content: contentOf(index + 1),
      status: age >= UNREAD ? 'read' : age > 1 ? 'received' : 'sent',
      at: now - Math.floor(age / BURST) * BETWEEN_BURSTS_MS,
    }
  })
}

function contentOf(number: number): Content {
  const file = `https://sandbox.invalid/files/${number}`
  if (number % 5 === 4) {
    const size = { image_width: '1280', image_height: '960' }
    return { type: 'image', image_url: `${file}.jpg`, image_thumb_url: `${file}-small.jpg`, ...size }
  }
  if (number % 5 !== 0) return { type: 'text', text: `Message ${number}` }
  return {
    type: 'file',
    file_url: `${file}.pdf`,
    file_name: `document-${number}.pdf`,
    file_size: String(40 + (number % 300)),
  }
}

/** UUIDs of version 4 from a seeded random source, so that the same seed gives the same ids. */
export function makeUuid(random: () => number): () => string {
  return () => {
    const bytes = Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256))
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    return Buffer.from(bytes)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}
