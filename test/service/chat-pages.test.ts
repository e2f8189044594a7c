import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MessageQuery, PageQuery } from '../../src/service/chat.ts'
import { type ListMessages, pageMessages } from '../../src/service/chat-pages.ts'
import type { Message } from '../../src/service/chat-read.ts'
import { runs } from '../support/size.ts'

const EPOCH = Date.UTC(2026, 0, 1)

function message(messageId: string, second: number): Message {
  const createdAt = new Date(EPOCH + second * 1000)
  const head = { messageId, roomId: '7', fromUserId: 'a', toUserId: 'b', status: 'read', createdAt }
  return { ...head, kind: 'text', text: messageId }
}
const secondOf = ({ createdAt }: Message) => (createdAt.getTime() - EPOCH) / 1000

/** A room as a service may hold it: oldest first, in an order of its own among those of one second. */
type Room = readonly { readonly message: Message; readonly readable: boolean }[]

/** What the document leaves open about a page (section 4.1). */
type Habits = {
  readonly cap: number
  readonly ignores: readonly ('limit' | 'older' | 'pivot')[]
  readonly pivot: 'excluded' | 'beside' | 'counted'
  readonly order: (page: Room, call: number) => Room
}
const HABITS: Habits = { cap: 100, ignores: [], pivot: 'excluded', order: (page) => page }

type Service = { readonly list: ListMessages; readonly queries: readonly MessageQuery[] }

/** Answers with the block that follows the pivot in the room's order, or that lies at the room's end. */
function serve(room: Room, { cap, ignores, pivot: own, order }: Habits): Service {
  const queries: MessageQuery[] = []
  return {
    queries,
    async list(query) {
      queries.push(query)
      const older = ignores.includes('older') ? false : query.older === true
      const pivot = ignores.includes('pivot') ? undefined : query.pivot
      const wanted = ignores.includes('limit') ? room.length + 1 : Math.min(query.limit ?? 20, cap)
      const line = older ? room.toReversed() : room
      const at = line.findIndex(({ message: { messageId } }) => messageId === pivot)
      const from = own === 'excluded' ? at + 1 : Math.max(at, 0)
      const page = line.slice(from, from + wanted + (own === 'beside' && at >= 0 ? 1 : 0))
      const items = order(page, queries.length).filter(({ readable }) => readable)
      return { items: items.map((each) => ({ ...each.message })), unreadable: page.length - items.length }
    },
  }
}

async function take(
  list: ListMessages,
  query: PageQuery,
  most = Number.POSITIVE_INFINITY,
): Promise<Message[]> {
  const got: Message[] = []
  for await (const each of pageMessages(list, query)) {
    got.push(each)
    if (got.length >= most) break
  }
  return got
}

const ids = (messages: readonly Message[]) => messages.map(({ messageId }) => messageId)
const roomOf = (seconds: readonly number[]): Room =>
  seconds.map((second, i) => ({ message: message(`m${i}`, second), readable: true }))

/** Few seconds and many messages, so that seconds tie at the ends of pages; ids say nothing of the order. */
const anyRoom = fc
  .array(fc.record({ step: fc.constantFrom(0, 0, 0, 1, 3), odd: fc.nat(5) }), { maxLength: 40 })
  .chain((steps) =>
    fc.shuffledSubarray([...steps.keys()], { minLength: steps.length }).map((names): Room => {
      let second = 0
      return steps.map(({ step, odd }, i) => {
        second += step
        return { message: message(`m${names[i]}`, second), readable: odd > 0 }
      })
    }),
  )
const anyOrder = fc.infiniteStream(fc.nat()).map((numbers): Habits['order'] => (page) => {
  const keyed = page.map((each) => ({ each, key: numbers.next().value ?? 0 }))
  return keyed.sort((a, b) => a.key - b.key).map(({ each }) => each)
})
const order: fc.Arbitrary<Habits['order']> = fc.oneof(
  fc.constant<Habits['order']>((page) => page),
  fc.constant<Habits['order']>((page) => page.toReversed()),
  fc.constant<Habits['order']>((page) => page.toSorted((a, b) => secondOf(a.message) - secondOf(b.message))),
  fc.constant<Habits['order']>((page) => page.toSorted((a, b) => secondOf(b.message) - secondOf(a.message))),
  anyOrder,
)
const pivotHabit = fc.constantFrom<Habits['pivot'][]>('excluded', 'beside', 'counted')
const direction = fc.constantFrom<PageQuery['direction'][]>('older', 'newer')

/** Makes runs of unreadable messages shorter than what a page brings beside its pivot. */
function shorten(room: Room, page: number): Room {
  let run = 0
  return room.map((each) => {
    run = each.readable || run + 1 >= page ? 0 : run + 1
    return { ...each, readable: run === 0 }
  })
}

describe('a service with an order of its own that agrees with created_at', () => {
  it('every readable message of the direction comes once and in order, in at most one call each and one more', async () => {
    const scene = fc.record({
      room: anyRoom,
      start: fc.option(fc.nat(39)),
      direction,
      limit: fc.integer({ min: 1, max: 12 }),
      cap: fc.integer({ min: 1, max: 12 }),
      ignores: fc.constantFrom<Habits['ignores'][]>([], [], ['limit']),
      pivot: pivotHabit,
      order,
    })
    await fc.assert(
      fc.asyncProperty(scene, async ({ room: any, start, limit: asked, direction, ...habits }) => {
        // A page of nothing but its pivot could never get anywhere.
        const least = habits.pivot === 'counted' ? 2 : 1
        const [limit, cap] = [Math.max(asked, least), Math.max(habits.cap, least)]
        const room = shorten(any, Math.min(limit, cap) - (least - 1))
        const pivot = start === null ? undefined : room[start]?.message.messageId
        const { list, queries } = serve(room, { ...habits, cap })

        const got = await take(list, { room: 7, direction, limit, ...(pivot === undefined ? {} : { pivot }) })

        const line = direction === 'older' ? room.toReversed() : room
        const after = line.slice(line.findIndex(({ message: { messageId } }) => messageId === pivot) + 1)
        const expected = after.filter(({ readable }) => readable).map((each) => each.message)
        expect(ids(got).toSorted()).toEqual(ids(expected).toSorted())
        expect(got.map(secondOf)).toEqual(expected.map(secondOf))
        expect(queries.length).toBeLessThanOrEqual(got.length + 1)
      }),
      { numRuns: runs(5000) },
    )
  })
})

it('a page is asked for with room, direction and limit (50), from the pivot or from where the service begins', async () => {
  const { list, queries } = serve(roomOf([1, 2]), { ...HABITS, cap: 1 })
  await take(list, { room: '7', direction: 'older' })
  await take(list, { room: 7, pivot: 'm0', direction: 'newer', limit: 3 })
  expect(queries).toEqual([
    { room: '7', limit: 50, older: true },
    { room: '7', limit: 50, older: true, pivot: 'm1' },
    { room: '7', limit: 50, older: true, pivot: 'm0' },
    { room: 7, limit: 3, older: false, pivot: 'm0' },
    { room: 7, limit: 3, older: false, pivot: 'm1' },
  ])
})

describe('services that keep to nothing', () => {
  it('that ignore pivot, direction and limit: each message once, and it ends', async () => {
    const scene = fc.record({
      room: anyRoom,
      direction,
      pivot: pivotHabit,
      order,
      ignores: fc.subarray<'limit' | 'older' | 'pivot'>(['limit', 'older', 'pivot'], { minLength: 1 }),
      cap: fc.integer({ min: 1, max: 12 }),
    })
    await fc.assert(
      fc.asyncProperty(scene, async ({ room, direction, ...habits }) => {
        const { list, queries } = serve(room, habits)
        const got = await take(list, { room: 7, direction })
        expect(new Set(ids(got)).size).toBe(got.length)
        expect(queries.length).toBeLessThanOrEqual(got.length + 1)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('that answer anything at all: each message once, no pivot twice, and it ends', async () => {
    const anything = fc.array(fc.tuple(fc.nat(30), fc.nat(4)).map(([n, second]) => message(`m${n}`, second)))
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(anything), direction, async (answers, way) => {
        const pivots: (string | undefined)[] = []
        const list: ListMessages = async ({ pivot }) => {
          pivots.push(pivot)
          return { items: answers.next().value ?? [], unreadable: 1 }
        }
        const got = await take(list, { room: 7, pivot: 'm0', direction: way })
        expect(new Set([...ids(got), 'm0']).size).toBe(got.length + 1)
        expect(new Set(pivots).size).toBe(pivots.length)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('that invent messages for ever: one call a page, until the caller stops', async () => {
    let calls = 0
    const endless: ListMessages = async () => {
      calls += 1
      return { items: [message(`m${calls}`, calls)], unreadable: 0 }
    }
    expect(await take(endless, { room: 7, direction: 'newer' }, 500)).toHaveLength(500)
    expect(calls).toBe(500)
  })
})
