// The chat resources as they go over the wire in the documented form (sections 2.1 to 2.5). The sandbox answers
// so, and the OpenAPI document is made from them; the client reads more leniently (chat-read.ts).
import { z } from 'zod'
import { MESSAGE_STATUSES, PROFESSIONAL_STATUSES, SPECIALITIES, WEEKDAYS } from './chat.ts'

/** `YYYY-MM-DDThh:mm:ss`, UTC without a zone suffix. */
const second = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/)
/** `YYYY-MM-DDThh:mm`, UTC. */
const minute = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/)
const hour = z.string().regex(/^([01]?\d|2[0-3]):[0-5]\d$/)
const numericText = z.string().regex(/^\d+$/)

const head = {
  from_user_id: z.string(),
  to_user_id: z.string(),
  room_id: z.int(),
  message_id: z.uuid(),
  status: z.enum(MESSAGE_STATUSES),
  created_at: second,
}

export const textMessage = z.strictObject({ ...head, type: z.literal('text'), text: z.string() })
export const imageMessage = z.strictObject({
  ...head,
  type: z.literal('image'),
  image_url: z.url(),
  image_thumb_url: z.url(),
  image_width: numericText,
  image_height: numericText,
})
export const fileMessage = z.strictObject({
  ...head,
  type: z.literal('file'),
  file_url: z.url(),
  file_name: z.string(),
  file_size: numericText,
})

/** Section 2.1. Strict: fields that belong to another type are absent (rule 1). */
export const message = z.discriminatedUnion('type', [textMessage, imageMessage, fileMessage])
export type MessageWire = z.infer<typeof message>

/** Section 2.4. */
export const schedule = z.strictObject({
  day: z.enum(WEEKDAYS),
  start_first_period: hour,
  end_first_period: hour,
  start_second_period: hour,
  end_second_period: hour,
})
export type ScheduleWire = z.infer<typeof schedule>

/** Section 2.5. */
export const room = z.strictObject({ id: z.int(), last_message: message, unread_messages: z.int().min(0) })
export type RoomWire = z.infer<typeof room>

/** Section 2.2, with the names of the field table. */
export const professional = z.strictObject({
  professional_id: z.string(),
  status: z.enum(PROFESSIONAL_STATUSES),
  photo: z.url(),
  name: z.string(),
  title: z.string(),
  title_html: z.string(),
  description: z.string(),
  speciality_id: z.literal([...SPECIALITIES.keys()]),
  collegiate_number: z.string(),
  schedules: z.array(schedule),
  next_connection_at: minute.nullable(),
  next_disconnection_at: minute.nullable(),
  room: room.nullable(),
})
export type ProfessionalWire = z.infer<typeof professional>
