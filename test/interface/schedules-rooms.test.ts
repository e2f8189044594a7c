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

/** A border of a period, which the client reads at its place, and as UTC on a machine in Madrid. */
function border(field: keyof typeof MONDAY, [period, edge]: readonly ['first' | 'second', 'start' | 'end']) {
  return async () => {
    inMadrid()
    const [given = expect.fail('nobody')] = scene.sandbox.professionals.all()
    scene.sandbox.professionals.set([{ ...given, schedules: [MONDAY] }])
    const [{ wire, read } = expect.fail('nobody')] = await scene.professionals()
    expect(wire.schedules).toEqual([MONDAY])
    expect(read.schedules[0]?.[period]?.[edge]).toBe(MONDAY[field])
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
  start_first_period: border('start_first_period', ['first', 'start']),
  end_first_period: border('end_first_period', ['first', 'end']),
  start_second_period: border('start_second_period', ['second', 'start']),
  end_second_period: border('end_second_period', ['second', 'end']),
})

async function onlyRoom() {
  const both = await scene.professionals()
  const { wire, read } = both.find((each) => each.read.room !== null) ?? expect.fail('no room')
  return { wire: wire.room as Record<string, unknown>, read: read.room ?? expect.fail('no room') }
}

section('2.5', {
  id: async () => {
    const room = scene.fill(5)
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
    const room = scene.fill(5)
    const messages = await scene.askAs(USER, `/chat/message?room=${room}`)
    const { items } = await (await scene.chatAs(USER)).listMessages({ room })
    const shown = await onlyRoom()
    expect([shown.wire.last_message, shown.read.lastMessage]).toEqual([messages.at(-1), items.at(-1)])
  },
  unread_messages: async () => {
    const room = scene.fill(12)
    const unread = (await scene.askAs(USER, `/chat/message?room=${room}`)).filter(
      ({ to_user_id, status }) => to_user_id === USER && status !== 'read',
    ).length
    expect(unread).toBeGreaterThan(0)
    const shown = await onlyRoom()
    expect([shown.wire.unread_messages, shown.read.unreadMessages]).toEqual([unread, unread])
  },
})
