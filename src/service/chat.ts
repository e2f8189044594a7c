// Interface of the service client's chat part (sections 4.1 and 4.2); see chat-client.ts for the making of one.
// One field each in our words, whichever of its two names came; times are moments, since zoneless ones are UTC.
import type { CallOptions } from './client.ts'

/** A value of a closed list, or one that the document does not know yet. */
export type Open<Known extends string> = Known | (string & {})

export const MESSAGE_STATUSES = ['sent', 'received', 'read'] as const
type MessageStatus = Open<(typeof MESSAGE_STATUSES)[number]>

/** Section 2.1; `roomId` as text, whether it came as number or as text. */
type MessageHead = {
  readonly messageId: string
  readonly roomId: string
  readonly fromUserId: string
  readonly toUserId: string
  readonly status: MessageStatus
  readonly createdAt: Date
}
type TextMessage = MessageHead & { readonly kind: 'text'; readonly text: string }
type ImageMessage = MessageHead & {
  readonly kind: 'image'
  readonly url: string
  readonly thumbUrl: string
  /** In pixels; null when what came is no number. */
  readonly width: number | null
  readonly height: number | null
}
type FileMessage = MessageHead & {
  readonly kind: 'file'
  readonly url: string
  readonly name: string
  readonly sizeKb: number | null
}
/** Of a type that the document does not know. */
type OtherMessage = MessageHead & { readonly kind: 'other'; readonly type: string }
export type Message = TextMessage | ImageMessage | FileMessage | OtherMessage

export const PROFESSIONAL_STATUSES = ['offline', 'online'] as const
type ProfessionalStatus = Open<(typeof PROFESSIONAL_STATUSES)[number]>

/** Section 2.3: the specialities that the document names, by id. */
export const SPECIALITIES: ReadonlyMap<number, string> = new Map([
  [1, 'Generalist'],
  [2, 'Tax'],
  [3, 'Debts'],
  [4, 'Driving'],
  [5, 'Work'],
  [6, 'Family'],
  [7, 'Housing'],
  [8, 'Consumer'],
  [11, 'Criminal'],
])

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const
type Weekday = Open<(typeof WEEKDAYS)[number]>

/** Section 2.4: UTC, as `h:mm`; null where a day has one period only. */
export type Period = { readonly start: string; readonly end: string }
export type Schedule = {
  readonly day: Weekday
  readonly first: Period | null
  readonly second: Period | null
}

/** Section 2.5. */
export type Room = {
  readonly id: string
  readonly lastMessage: Message | null
  /** Null when no number came: nothing is said then, not "none". */
  readonly unreadMessages: number | null
}

/** Section 2.2; null where nothing came. */
export type Professional = {
  readonly professionalId: string
  readonly status: ProfessionalStatus | null
  readonly photo: string | null
  readonly name: string | null
  readonly title: string | null
  readonly titleHtml: string | null
  readonly description: string | null
  readonly specialityId: number | null
  readonly collegiateNumber: string | null
  readonly schedules: readonly Schedule[]
  readonly nextConnectionAt: Date | null
  readonly nextDisconnectionAt: Date | null
  readonly room: Room | null
}

/** What a list answered. One element that cannot be read does not cost the others: it is counted. */
export type List<Item> = { readonly items: readonly Item[]; readonly unreadable: number }

/** Section 4.1; which of them are required is not shown. */
export type MessageQuery = {
  readonly room: string | number
  /** `message_id` of the message used as offset. */
  readonly pivot?: string
  readonly limit?: number
  /** True: older than the pivot; false: newer. */
  readonly older?: boolean
}

export type PageQuery = {
  readonly room: string | number
  /** Where to begin; without it the service decides. It is not among what comes. */
  readonly pivot?: string
  readonly direction: 'older' | 'newer'
  /** Messages asked for in one call; default 50. */
  readonly limit?: number
}

/**
 * Calls of one authenticated end user (section 5). One HTTP call each, never a retry. They reject with a CallError
 * when there was no answer, and with an AnswerError (chat-read.ts) when the answer holds no list.
 */
export type ChatClient = {
  listMessages(query: MessageQuery, options?: CallOptions): Promise<List<Message>>
  /** The messages of a room, page by page, each once; see chat-pages.ts. */
  pageMessages(query: PageQuery, options?: CallOptions): AsyncGenerator<Message, void, void>
  listProfessionals(options?: CallOptions): Promise<List<Professional>>
  close(): Promise<void>
}
