// The data of the chat part of the service (section 2), and the requests to it (section 4.1).

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
