import { expect } from 'vitest'
import { WEEKDAYS } from '../../src/service/chat.ts'
import { section } from './section.ts'
import { inMadrid, openScene, USER } from './support.ts'

const scene = await openScene()

const MONDAY = {
  day: 'monday',
  start_first_period: '7:45',
  end_first_period: '12:30',
  start_second_period: '14:00',
  end_second_period: '18:15',
} as const

/** The one professional's mapping on Monday, the 23rd of March 2026, at a time in UTC. */
async function mondayAt(hour: number, minute: number) {
  scene.sandbox.clock.set(Date.UTC(2026, 2, 23, hour, minute))
  const [{ read } = expect.fail('nobody')] = await scene.professionals()
  const next = read.nextConnectionAt ?? read.nextDisconnectionAt
  return [read.status, next?.toISOString().slice(0, 16)]
}

/** Before and from a border of the schedule, with the moment that is shown as the next one. */
function border(field: keyof typeof MONDAY, [before, from]: readonly [string, string], next: string) {
  return async () => {
    inMadrid()
    const [given = expect.fail('nobody')] = scene.sandbox.professionals.all()
    scene.sandbox.professionals.set([{ ...given, schedules: [MONDAY] }])
    const [{ wire, read } = expect.fail('nobody')] = await scene.professionals()
    expect(wire.schedules).toEqual([MONDAY])
    expect(read.schedules).toEqual([
      { day: 'monday', first: { start: '7:45', end: '12:30' }, second: { start: '14:00', end: '18:15' } },
    ])
    const [hour = 0, minute = 0] = MONDAY[field].split(':').map(Number)
    const at = new Date(Date.UTC(2026, 2, 23, hour, minute)).toISOString().slice(0, 16)
    expect(await mondayAt(hour, minute - 1)).toEqual([before, at])
    expect(await mondayAt(hour, minute)).toEqual([from, next])
  }
}

section('2.4', {
  day: async () => {
    const days = (await scene.professionals()).flatMap(({ read }) => read.schedules.map(({ day }) => day))
    expect(new Set(days)).toEqual(new Set(WEEKDAYS))
    expect([...WEEKDAYS].sort()).toEqual(
      ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].sort(),
    )
  },
  start_first_period: border('start_first_period', ['offline', 'online'], '2026-03-23T12:30'),
  end_first_period: border('end_first_period', ['online', 'offline'], '2026-03-23T14:00'),
  start_second_period: border('start_second_period', ['offline', 'online'], '2026-03-23T18:15'),
  end_second_period: border('end_second_period', ['online', 'offline'], '2026-03-30T07:45'),
})

async function onlyRoom() {
  const both = await scene.professionals()
  const { wire, read } = both.find((each) => each.read.room !== null) ?? expect.fail('no room')
  return { wire: wire.room as Record<string, unknown>, read: read.room ?? expect.fail('no room') }
}

section('2.5', {
  id: async () => {
    const room = await scene.fill(5)
    const chat = await scene.chatAs(USER)
    for (const [roomId, form] of [
      ['number', room],
      ['text', String(room)],
    ] as const) {
      await scene.become({ roomId })
      const { wire, read } = await onlyRoom()
      expect([wire.id, read.id]).toEqual([form, String(room)])
      expect((await chat.listMessages({ room: read.id })).items).toHaveLength(5)
    }
  },
  last_message: async () => {
    const room = await scene.fill(5)
    const messages = await scene.askAs(USER, `/chat/message?room=${room}`)
    const { items } = await (await scene.chatAs(USER)).listMessages({ room })
    const shown = await onlyRoom()
    expect([shown.wire.last_message, shown.read.lastMessage]).toEqual([messages.at(-1), items.at(-1)])
  },
  unread_messages: async () => {
    const room = await scene.fill(12)
    const unread = (await scene.askAs(USER, `/chat/message?room=${room}`)).filter(
      ({ to_user_id, status }) => to_user_id === USER && status !== 'read',
    ).length
    expect(unread).toBeGreaterThan(0)
    const shown = await onlyRoom()
    expect([shown.wire.unread_messages, shown.read.unreadMessages]).toEqual([unread, unread])
    await scene.ask(`/_sandbox/rooms/${room}/read`, { method: 'POST', body: {} })
    expect((await onlyRoom()).read.unreadMessages).toBe(0)
  },
})
