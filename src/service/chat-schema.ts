// The chat resources as they go over the wire in the documented form (sections 2.1 to 2.5). The sandbox answers
// so, and the OpenAPI document is made from them; the client reads more leniently (chat-read.ts).
import * as z from 'zod'
import { MESSAGE_STATUSES, PROFESSIONAL_STATUSES, SPECIALITIES, WEEKDAYS } from './chat.ts'

/** `YYYY-MM-DDThh:mm:ss`, UTC without a zone suffix. */
const second = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/)
  .meta({ description: 'UTC without a zone suffix: YYYY-MM-DDThh:mm:ss.', examples: ['2026-03-02T09:15:00'] })
/** `YYYY-MM-DDThh:mm`, UTC. */
const minute = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/)
const hour = z.string().regex(/^([01]?\d|2[0-3]):[0-5]\d$/, 'a time such as 8:00')
const uri = z.url('an address such as https://service.example/a.jpg')
const numericText = z.string().regex(/^\d+$/, 'a number as text')

const head = {
  from_user_id: z.string().meta({ description: 'Unique identifier of the sender.' }),
  to_user_id: z.string().meta({ description: 'Unique identifier of the receiver.' }),
  room_id: z.int().meta({ description: 'The room that it stands in.' }),
  message_id: z.uuid(),
  status: z.enum(MESSAGE_STATUSES),
  created_at: second,
}

export const textMessage = z
  .strictObject({ ...head, type: z.literal('text'), text: z.string() })
  .meta({ description: 'A message of type text (2.1).' })
export const imageMessage = z
  .strictObject({
    ...head,
    type: z.literal('image'),
    image_url: uri,
    image_thumb_url: uri,
    image_width: numericText.meta({ description: 'A number as text.', examples: ['1280'] }),
    image_height: numericText.meta({ description: 'A number as text.', examples: ['720'] }),
  })
  .meta({ description: 'A message of type image (2.1).' })
export const fileMessage = z
  .strictObject({
    ...head,
    type: z.literal('file'),
    file_url: uri,
    file_name: z.string(),
    file_size: numericText.meta({ description: 'In KB, a number as text.', examples: ['348'] }),
  })
  .meta({ description: 'A message of type file (2.1).' })

/** Section 2.1. Strict: fields that belong to another type are absent (rule 1). */
export const message = z.discriminatedUnion('type', [textMessage, imageMessage, fileMessage]).meta({
  description: 'A message (2.1). Fields that belong to another type are absent.',
})
export type MessageWire = z.infer<typeof message>

/** Section 2.4. */
const schedule = z
  .strictObject({
    day: z.enum(WEEKDAYS),
    start_first_period: period('UTC time at which the morning period starts, h:mm.', '8:00'),
    end_first_period: period('UTC time at which the morning period ends.', '12:30'),
    start_second_period: period('UTC time at which the afternoon period starts.', '14:00'),
    end_second_period: period('UTC time at which the afternoon period ends.', '18:00'),
  })
  .meta({ description: "A weekday's two periods of connection (2.4)." })
export type ScheduleWire = z.infer<typeof schedule>

/** Section 2.5. */
export const room = z
  .strictObject({
    id: z.int().meta({ description: 'What `room` of the message list takes.' }),
    last_message: message,
    unread_messages: z.int().min(0).meta({ description: 'How many the user has not read.' }),
  })
  .meta({ description: 'A chat room (2.5).' })
export type RoomWire = z.infer<typeof room>

const SPECIALITY_NAMES = [...SPECIALITIES].map(([id, name]) => `${id} = ${name}`).join(', ')

/** Section 2.2, with the names of the field table. */
export const professional = z
  .strictObject({
    professional_id: z.string(),
    status: z.enum(PROFESSIONAL_STATUSES),
    photo: uri.meta({ description: 'URL of a photo; the sample payload names it `avatar`.' }),
    name: z.string(),
    title: z.string().meta({ description: 'Short description, plain text.' }),
    title_html: z.string().meta({
      description: 'Short description with basic HTML: bold, italic, underline, colour.',
    }),
    description: z.string().meta({ description: 'Long description.' }),
    speciality_id: z.literal([...SPECIALITIES.keys()]).meta({
      description: `${SPECIALITY_NAMES} (2.3). The sample payload names it \`speciality\`.`,
    }),
    collegiate_number: z.string(),
    schedules: z.array(schedule),
    next_connection_at: minute.nullable().meta({
      description: 'UTC, YYYY-MM-DDThh:mm; null when the professional is already connected.',
    }),
    next_disconnection_at: minute.nullable().meta({
      description: 'UTC, YYYY-MM-DDThh:mm; null when the professional is already disconnected.',
    }),
    room: room.nullable(),
  })
  .meta({ description: 'A professional (2.2); `room` is null when no room exists.' })
export type ProfessionalWire = z.infer<typeof professional>

function period(description: string, example: string) {
  return hour.meta({ description, examples: [example] })
}
