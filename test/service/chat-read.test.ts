import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  type Message,
  type Professional,
  readMessages,
  readProfessionals,
} from '../../src/service/chat-read.ts'
import { readBody } from '../../src/service/json.ts'
import { runs } from '../support/size.ts'

const HEAD = {
  ...{ from_user_id: 'ana', to_user_id: 'luis', room_id: 7, status: 'sent' },
  ...{ message_id: '6f1c0c1e-0000-4000-8000-000000000001', created_at: '2026-03-29T01:30:00' },
}
const FILES = 'https://files.example'
const TEXT = { ...HEAD, type: 'text', text: 'hola' }
const IMAGE = {
  ...{ ...HEAD, type: 'image', image_url: `${FILES}/a.jpg`, image_thumb_url: `${FILES}/a-small.jpg` },
  ...{ image_width: '640', image_height: '480' },
}
const FILE = { ...HEAD, type: 'file', file_url: `${FILES}/a.pdf`, file_name: 'a.pdf', file_size: '12' }
const READ_HEAD = {
  ...{ messageId: HEAD.message_id, roomId: '7', fromUserId: 'ana', toUserId: 'luis', status: 'sent' },
  createdAt: new Date('2026-03-29T01:30:00Z'),
}

const messageOf = (value: unknown): Message | undefined => readMessages([value])?.items[0]
const professionalOf = (fields: object): Professional | undefined =>
  readProfessionals([{ professional_id: 'p', ...fields }])?.items[0]
const without = (value: object, field: string): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field))

describe('messages (section 2.1)', () => {
  it.each<[string, object, object]>([
    ['text', TEXT, { kind: 'text', text: 'hola' }],
    [
      'image',
      IMAGE,
      { kind: 'image', url: IMAGE.image_url, thumbUrl: IMAGE.image_thumb_url, width: 640, height: 480 },
    ],
    ['file', FILE, { kind: 'file', url: FILE.file_url, name: 'a.pdf', sizeKb: 12 }],
    ['a type not known yet', { ...HEAD, type: 'audio', text: 'x' }, { kind: 'other', type: 'audio' }],
    [
      'a type that is a name of Object',
      { ...HEAD, type: 'constructor' },
      { kind: 'other', type: 'constructor' },
    ],
  ])('%s: has its own fields and no others', (_name, wire, fields) => {
    const more = { ...TEXT, ...IMAGE, ...FILE, surprise: { text: 1 }, ...wire }
    for (const value of [wire, more]) expect(messageOf(value)).toStrictEqual({ ...READ_HEAD, ...fields })
  })
  it.each<[string, object]>([
    ['an empty message_id', { message_id: '' }],
    ['a null message_id', { message_id: null }],
    ['an id that is an object', { from_user_id: {} }],
    ['a text that is null', { text: null }],
    ['a time that is none', { created_at: 'yesterday' }],
    ['a time as a number', { created_at: 1_767_261_600 }],
  ])('with %s: unreadable', (_name, fields) => {
    expect(readMessages([{ ...TEXT, ...fields }])).toEqual({ items: [], unreadable: 1 })
  })

  it('ids and texts that came as numbers are text; a room id is text either way', () => {
    const numbers = { ...TEXT, message_id: 1, room_id: '7', from_user_id: 2, to_user_id: 3, text: 123 }
    expect(messageOf(numbers)).toMatchObject({
      messageId: '1',
      roomId: '7',
      fromUserId: '2',
      toUserId: '3',
      text: '123',
    })
  })

  it.each<[unknown, number | null]>([
    ['640', 640],
    [640, 640],
    ['12.5', 12.5],
    ['', null],
    ['640px', null],
    ['0x10', null],
    [-1, null],
    [null, null],
    [{}, null],
    [['1'], null],
    ['9'.repeat(400), null],
  ])('a size of %j is %j', (written, read) => {
    expect(messageOf({ ...FILE, file_size: written })).toMatchObject({ sizeKb: read })
    expect(messageOf({ ...IMAGE, image_width: written, image_height: '1' })).toMatchObject({
      width: read,
      height: 1,
    })
  })
})

describe('times', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it.each<[string, string]>([
    ['2026-03-29T01:30:00', '2026-03-29T01:30:00Z'],
    ['2026-03-29T02:30:00', '2026-03-29T02:30:00Z'], // an hour that Madrid does not have on that day
    ['2026-03-29 02:30:00', '2026-03-29T02:30:00Z'],
    ['2026-07-01T10:00:00.123456', '2026-07-01T10:00:00.123Z'],
    ['2026-07-01T10:00:00Z', '2026-07-01T10:00:00Z'],
    ['2026-07-01T10:00+02:00', '2026-07-01T08:00:00Z'],
    ['2026-07-01T10:00:00.25-0530', '2026-07-01T15:30:00.250Z'],
    ['2026-07-01T10:00:00+02', '2026-07-01T08:00:00Z'],
  ])('%s is %s, whatever zone the process has', (written, meant) => {
    for (const tz of ['UTC', 'Europe/Madrid', 'Pacific/Auckland', 'America/St_Johns']) {
      vi.stubEnv('TZ', tz)
      expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(tz)
      expect(messageOf({ ...TEXT, created_at: written })?.createdAt, tz).toEqual(new Date(meant))
      const seen = professionalOf({ next_connection_at: written, next_disconnection_at: written })
      expect(seen?.nextConnectionAt, tz).toEqual(new Date(meant))
      expect(seen?.nextDisconnectionAt, tz).toEqual(new Date(meant))
    }
  })

  it.each([
    '',
    '2026-02-30T10:00:00',
    '2026-07-01T25:00:00',
    '2026-07-01T10:00:00+99:99',
    '2026-07-01',
    'Wed, 01 Jul 2026 10:00:00 GMT',
    '2026-07-01T10:00:00 Europe/Madrid',
    null,
    {},
  ])('%j is none: costs a message, but of a professional only the field', (written) => {
    expect(readMessages([{ ...TEXT, created_at: written }])?.unreadable).toBe(1)
    const seen = professionalOf({ next_connection_at: written, next_disconnection_at: written })
    expect(seen).toMatchObject({ nextConnectionAt: null, nextDisconnectionAt: null })
  })
})

describe('professionals (section 2.2)', () => {
  const FULL = {
    ...{ professional_id: 'p1', status: 'online', photo: `${FILES}/p1.jpg`, name: 'Eva', title: 'Abogada' },
    ...{ title_html: '<b>Abogada</b>', description: 'Larga experiencia', speciality_id: 11 },
    collegiate_number: '28001',
    schedules: [
      {
        ...{ day: 'monday', start_first_period: '8:00', end_first_period: '13:00' },
        ...{ start_second_period: '15:30', end_second_period: '19:00' },
      },
    ],
    ...{ next_connection_at: null, next_disconnection_at: '2026-07-01T13:00' },
    room: { id: 7, last_message: TEXT, unread_messages: 3 },
  }

  it('has every field of the table', () => {
    const read = {
      ...{ professionalId: 'p1', status: 'online', photo: FULL.photo, name: 'Eva', title: 'Abogada' },
      ...{ titleHtml: '<b>Abogada</b>', description: 'Larga experiencia', specialityId: 11 },
      collegiateNumber: '28001',
      schedules: [
        { day: 'monday', first: { start: '8:00', end: '13:00' }, second: { start: '15:30', end: '19:00' } },
      ],
      nextConnectionAt: null,
      nextDisconnectionAt: new Date('2026-07-01T13:00:00Z'),
      room: { id: '7', lastMessage: { ...READ_HEAD, kind: 'text', text: 'hola' }, unreadMessages: 3 },
    }
    expect(readProfessionals([FULL])).toStrictEqual({ items: [read], unreadable: 0 })
  })

  it('needs its professional_id and nothing else', () => {
    const nothing = {
      ...{ status: null, photo: null, name: null, title: null, titleHtml: null, description: null },
      ...{ specialityId: null, collegiateNumber: null, schedules: [], room: null },
      ...{ nextConnectionAt: null, nextDisconnectionAt: null },
    }
    expect(readProfessionals([{ professional_id: 5 }, without(FULL, 'professional_id')])).toStrictEqual({
      items: [{ professionalId: '5', ...nothing }],
      unreadable: 1,
    })
  })

  it.each<[object, object]>([
    [{ avatar: 'b' }, { photo: 'b' }],
    [{ photo: 'a', avatar: 'b' }, { photo: 'a' }],
    [{ photo: {}, avatar: 'b' }, { photo: 'b' }],
    [{ speciality: '11' }, { specialityId: 11 }],
    [{ speciality_id: '3', speciality: 4 }, { specialityId: 3 }],
    [{ speciality_id: 'tax', speciality: 4 }, { specialityId: 4 }],
    [{ speciality_id: 99 }, { specialityId: 99 }],
    [{ speciality_id: 1.5 }, { specialityId: null }],
  ])('of two names of a field the table goes before the sample: %j is read as %j', (fields, read) => {
    expect(professionalOf(fields)).toMatchObject(read)
  })

  it('values of closed lists that the document does not know pass (2.1, 2.2, 2.4)', () => {
    expect(messageOf({ ...TEXT, status: 'archived' })?.status).toBe('archived')
    const seen = professionalOf({ status: 'away', schedules: [{ day: 'holiday' }] })
    expect(seen?.status).toBe('away')
    expect(seen?.schedules).toEqual([{ day: 'holiday', first: null, second: null }])
  })

  it('a day with one period has no other; a schedule without day is left out (section 2.4)', () => {
    const [day] = FULL.schedules
    const schedules = [
      { ...day, start_second_period: null, end_second_period: null },
      { ...day, start_first_period: '', end_first_period: '' },
      { ...day, end_first_period: undefined },
      { ...day, day: null },
      'monday',
      null,
    ]
    expect(professionalOf({ schedules })?.schedules).toMatchObject([
      { first: { start: '8:00' }, second: null },
      { first: null, second: { start: '15:30' } },
      { first: null, second: { end: '19:00' } },
    ])
    for (const odd of [null, {}, 'monday', 7])
      expect(professionalOf({ schedules: odd })?.schedules).toEqual([])
  })

  it.each<[unknown, unknown]>([
    [undefined, null],
    [null, null],
    ['7', null],
    [{}, null],
    [{ id: null, unread_messages: 1 }, null],
    [{ id: 7 }, { id: '7', lastMessage: null, unreadMessages: null }],
    [
      { id: '7', last_message: null, unread_messages: '2' },
      { id: '7', lastMessage: null, unreadMessages: 2 },
    ],
    [
      { id: 7, last_message: { ...TEXT, created_at: '?' }, unread_messages: 'many' },
      { id: '7', lastMessage: null, unreadMessages: null },
    ],
  ])('the room %j is read as %j (section 2.5)', (room, read) => {
    expect(professionalOf({ room })?.room).toEqual(read)
  })
})

describe('whatever the service sends', () => {
  it.each([null, undefined, {}, { data: [] }, '[]', 5, true])(
    '%j is no list, and an empty one is',
    (value) => {
      expect(readMessages([])).toEqual({ items: [], unreadable: 0 })
      expect(readMessages(value)).toBeNull()
      expect(readProfessionals(value)).toBeNull()
    },
  )

  it('never throws, and reads or counts every element', () => {
    const wires = [
      TEXT,
      IMAGE,
      FILE,
      { professional_id: 'p', room: { id: 1, last_message: TEXT }, schedules: [{}] },
    ]
    const wild = fc.anything({
      withNullPrototype: true,
      withBigInt: true,
      withDate: true,
      withSparseArray: true,
    })
    // A good element of which any fields are replaced: gets deeper than chance alone.
    const bent = fc
      .tuple(fc.constantFrom(...wires), fc.dictionary(fc.constantFrom(...wires.flatMap(Object.keys)), wild))
      .map(([wire, fields]) => ({ ...wire, ...fields }))
    fc.assert(
      fc.property(fc.array(fc.oneof(wild, bent, fc.jsonValue())), (list) => {
        for (const read of [readMessages(list), readProfessionals(list)]) {
          expect((read?.items.length ?? 0) + (read?.unreadable ?? 0)).toBe(list.length)
        }
      }),
      { numRuns: runs(2000) },
    )
  })

  it('__proto__ as a key changes nothing, neither in the element nor in the process', () => {
    const json = JSON.stringify(TEXT).replace(
      '{',
      '{"__proto__":{"polluted":1,"text":"x"},"constructor":{"a":1},',
    )
    const body = readBody(Buffer.from(`[${json},{"__proto__":${JSON.stringify(TEXT)}}]`))
    const list = readMessages(body.kind === 'json' ? body.value : null)
    expect(list).toStrictEqual({ items: [{ ...READ_HEAD, kind: 'text', text: 'hola' }], unreadable: 1 })
    expect(Object.getPrototypeOf(list?.items[0])).toBe(Object.prototype)
    expect({}).not.toHaveProperty('polluted')
  })
})
