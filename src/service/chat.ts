// Interface of the service client's chat part (sections 4.1 and 4.2); see chat-client.ts for the making of one.
// One field each in our words, whichever of its two names came; times are moments, since zoneless ones are UTC.
import type { List, Message, Professional } from './chat-read.ts'
import type { CallOptions } from './client.ts'

export const MESSAGE_STATUSES = ['sent', 'received', 'read'] as const
export const PROFESSIONAL_STATUSES = ['offline', 'online'] as const

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
