// The lists of the chat part as they came (sections 2.1 to 2.5), in our words. Lenient and total: whatever the
// service sends, what is credible is read, and the rest costs one field or one element, never the list.
import * as z from 'zod'
import { parseTime } from '../model/time.ts'

/** The answer of a list. One element that cannot be read does not cost the others: it is counted. */
export type List<Item> = { readonly items: readonly Item[]; readonly unreadable: number }

/** Section 2.1, by its `kind`; `other` is a type that the document does not know. Sizes are null where no number came. */
export type Message = NonNullable<ReturnType<typeof readMessage>>

/** Section 2.2; null where nothing came. */
export type Professional = NonNullable<ReturnType<typeof readProfessional>>

/** There was an answer, and no list in it (`refused`: not 2xx; `unreadable`: 2xx). The body is not kept: it may hold messages. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
  readonly kind: 'refused' | 'unreadable'
  readonly status: number
  /** As Reply has it: absent when there was none. */
  declare readonly retryAfterMs?: number

  constructor(kind: AnswerError['kind'], status: number, retryAfterMs?: number) {
    const but = kind === 'refused' ? '' : ', but with something that is no list'
    super(`The service answered with status ${status}${but}`)
    this.kind = kind
    this.status = status
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }
}

/** Null when it is no array. A message counts as unreadable without its ids, time, type or type's fields. */
export function readMessages(value: unknown): List<Message> | null {
  return readList(value, readMessage)
}

/** Null when it is no array. Only `professional_id` is needed. */
export function readProfessionals(value: unknown): List<Professional> | null {
  return readList(value, readProfessional)
}

/** Beyond that elements are counted as unreadable: reading millions of them would hold up everything else. */
const MOST_ELEMENTS = 10_000
const MOST_SCHEDULES = 100

function readList<Item>(value: unknown, read: (item: unknown) => Item | null): List<Item> | null {
  if (!Array.isArray(value)) return null
  const items = value.slice(0, MOST_ELEMENTS).flatMap((each) => read(each) ?? [])
  return { items, unreadable: value.length - items.length }
}

/** Texts and ids that came as numbers are taken as text: some services write every numeric text as a number. */
const text = z.union([z.string(), z.number().transform(String)])
const id = text.refine((each) => each !== '')
/** Sizes and counts; z.number() knows no infinity, a text of four hundred digits would be one. */
const number = z.union([
  z.number().min(0),
  z
    .string()
    .regex(/^\s*\d+(\.\d+)?\s*$/)
    .transform(Number)
    .refine(Number.isFinite),
])
const whole = number.refine(Number.isSafeInteger)
const optionalText = text.nullable().catch(null)
const optionalWhole = whole.nullable().catch(null)

/** A size has to be there (section 2.1); one that is no number says nothing, and does not cost the message. */
const size = number.or(z.unknown().nonoptional().transform(unknownSize))

function unknownSize(): null {
  return null
}

/** A moment, never a day alone. The document's times have no zone and are UTC; with a zone it is heeded. */
const moment = z.string().transform((written, context) => {
  const at = /\d[T ]\d/i.test(written) ? parseTime(written.trim()) : Number.NaN
  if (!Number.isNaN(at)) return new Date(at)
  context.addIssue('no time')
  return z.NEVER
})
const optionalMoment = moment.nullable().catch(null)

const messageHead = z
  .object({
    message_id: id,
    room_id: text,
    from_user_id: text,
    to_user_id: text,
    status: text,
    type: text,
    created_at: moment,
  })
  .transform(({ message_id: messageId, room_id: roomId, created_at: createdAt, status, type, ...sides }) => ({
    ...{ messageId, roomId, fromUserId: sides.from_user_id, toUserId: sides.to_user_id, createdAt, status },
    type,
  }))
/** "Required when type is …" (section 2.1); fields of another type are not looked at. */
const PARTS = {
  text: z.object({ text }).transform((part) => ({ kind: 'text' as const, text: part.text })),
  image: z
    .object({ image_url: text, image_thumb_url: text, image_width: size, image_height: size })
    .transform(({ image_url: url, image_thumb_url: thumbUrl, image_width: width, image_height: height }) => ({
      ...{ kind: 'image' as const, url, thumbUrl, width, height },
    })),
  file: z
    .object({ file_url: text, file_name: text, file_size: size })
    .transform(({ file_url: url, file_name: name, file_size: sizeKb }) => ({
      ...{ kind: 'file' as const, url, name, sizeKb },
    })),
}

function readMessage(value: unknown) {
  const read = messageHead.safeParse(value)
  if (!read.success) return null
  const { type, ...head } = read.data
  if (type !== 'text' && type !== 'image' && type !== 'file') return { ...head, kind: 'other' as const, type }
  const part = PARTS[type].safeParse(value)
  return part.success ? { ...head, ...part.data } : null
}

/** Section 2.4: UTC, as `h:mm`; null where a day has one period only. */
const schedule = z
  .object({
    day: text,
    start_first_period: optionalText,
    end_first_period: optionalText,
    start_second_period: optionalText,
    end_second_period: optionalText,
  })
  .transform((wire) => ({
    day: wire.day,
    first: period(wire.start_first_period, wire.end_first_period),
    second: period(wire.start_second_period, wire.end_second_period),
  }))

/** Half a period is none. */
function period(start: string | null, end: string | null) {
  return start && end ? { start, end } : null
}

/** Section 2.5. Without its id there is no room to ask messages of; without a number, nothing is said of unread messages. */
const room = z
  .object({ id, last_message: z.unknown().optional(), unread_messages: optionalWhole })
  .transform(({ id, last_message: last, unread_messages: unreadMessages }) => {
    return { id, lastMessage: readMessage(last), unreadMessages }
  })

/** Both names of the two fields that the table and the sample call differently (section 2.2). */
const professional = z
  .object({
    professional_id: id,
    status: optionalText,
    photo: optionalText,
    avatar: optionalText,
    name: optionalText,
    title: optionalText,
    title_html: optionalText,
    description: optionalText,
    speciality_id: optionalWhole,
    speciality: optionalWhole,
    collegiate_number: optionalText,
    schedules: z
      .unknown()
      .transform((list): readonly unknown[] => (Array.isArray(list) ? list.slice(0, MOST_SCHEDULES) : []))
      .optional()
      .default([]),
    next_connection_at: optionalMoment,
    next_disconnection_at: optionalMoment,
    room: room.nullable().catch(null),
  })
  .transform(({ status, name, title, description, room, ...wire }) => ({
    professionalId: wire.professional_id,
    ...{ status, photo: wire.photo ?? wire.avatar, name, title, titleHtml: wire.title_html, description },
    specialityId: wire.speciality_id ?? wire.speciality,
    collegiateNumber: wire.collegiate_number,
    schedules: wire.schedules.flatMap((each) => schedule.safeParse(each).data ?? []),
    nextConnectionAt: wire.next_connection_at,
    nextDisconnectionAt: wire.next_disconnection_at,
    room,
  }))

function readProfessional(value: unknown) {
  return professional.safeParse(value).data ?? null
}
